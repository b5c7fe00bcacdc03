-- cancel: move a live job to the archive at once; if :kind or :state is not null, only a
-- job of that kind or state. Its unique key is free. A holder learns of it at its next
-- extend or verdict.

select c.id from readpast.cancel_live(:id, :kind, :state) as c(id);
