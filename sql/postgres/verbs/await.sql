-- await: record that this session waits for the end of the jobs :id[].

select 1::bigint as number, readpast.await_jobs(:id[]::bigint[]) as channel;
