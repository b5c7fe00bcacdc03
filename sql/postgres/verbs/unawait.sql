-- unawait: undo the verb `await` for the jobs :id[], because this session no longer
-- waits for their end.

delete from readpast.job_waiter
 where job_id operator(pg_catalog.=) any (:id[]::bigint[])
   and pid operator(pg_catalog.=) pg_catalog.pg_backend_pid();
