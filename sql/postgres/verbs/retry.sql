-- retry: make a dead or cancelled job ready again. See the routine retry_kept().
-- taken: true if a live job has the same unique key. In this case nothing was changed.

select id, taken from readpast.retry_kept(:id, :kind);
