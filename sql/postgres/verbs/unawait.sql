-- unawait: end the registration of this session as waiting for the end of the jobs
-- :id[].

delete from readpast.job_waiter
 where job_id operator(pg_catalog.=) any (:id[]::bigint[])
   and pid operator(pg_catalog.=) pg_catalog.pg_backend_pid();
