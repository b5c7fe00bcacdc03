-- cancel: cancel a live job. If :kind or :state is not null, only a job of that kind or
-- state is cancelled. See the routine cancel_live().

select c.id from readpast.cancel_live(:id, :kind, :state) as c(id);
