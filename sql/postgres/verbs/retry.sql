-- retry: make a dead or cancelled job ready again, with the same id, no attempts used and
-- a larger claim number. taken: a live job has its unique key now; nothing was done.

select id, taken from readpast.retry_kept(:id, :kind);
