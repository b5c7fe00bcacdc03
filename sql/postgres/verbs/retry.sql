-- retry: a dead or cancelled job is ready again: same id, no attempts used, the
-- claim number grown. taken: a live job has its key now; nothing was done.

select id, taken from readpast.retry_kept(:id, :kind);
