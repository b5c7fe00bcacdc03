-- retry: make a dead or cancelled job ready again. It keeps its id, has no attempts
-- used and gets a larger claim number. taken: a live job has its unique key now, so
-- nothing changed.

select id, taken from readpast.retry_kept(:id, :kind);
