-- await: register this session as one that waits for the end of these jobs.

select 1::bigint as number, readpast.await_jobs(:id[]::bigint[]) as channel;
