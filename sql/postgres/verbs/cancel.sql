-- cancel: cancel a live job, which moves it to the archive at once. If :kind or :state
-- is not null, only a job of that kind or state is cancelled. Its unique key is free.
-- If a worker holds the job, its next extend or verdict is refused.

select c.id from readpast.cancel_live(:id, :kind, :state) as c(id);
