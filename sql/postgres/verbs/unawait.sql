-- unawait: this session does not wait for these jobs any more.

delete from readpast.job_waiter
 where job_id operator(pg_catalog.=) any (:id[]::bigint[])
   and pid operator(pg_catalog.=) pg_catalog.pg_backend_pid();
