-- await: register this session as waiting for the end of the jobs :id[].

select 1::bigint as number, readpast.await_jobs(:id[]::bigint[]) as channel;
