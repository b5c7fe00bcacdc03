-- cancel: a live job, of kind :kind if that is not null, goes to the archive at
-- once. Its key is free; a holder learns it at its next extend or verdict.

select c.id from readpast.cancel_live(:id, :kind) as c(id);
