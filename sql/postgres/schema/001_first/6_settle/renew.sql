-- renew: renew a job's lease, which runs from now. The job leaves the ready line, where
-- running jobs stay only for the first seconds of their lease.
-- id: the job; lease_ms: the lease's length.
-- Locks: none but the job's row, which the caller has locked.

create function readpast.renew(id bigint, lease_ms bigint) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	til timestamptz := clock_timestamp() + readpast.ms(lease_ms);
begin
	update readpast.job j
	   set seq = null,
	       renewed = j.renewed + 1,
	       lease_until = til,
	       run_at = til
	 where j.id = renew.id;
end
$body$;
