-- renew: give a job a new lease, which starts now. The routine also takes the job out
-- of the ready line, so that sweeps find it by the end of its lease. (A claim leaves
-- the job in the ready line. The next sweep that scans it there also takes it out.)
-- id: the job.
-- lease_ms: the length of the lease, or null.
-- its_lease_ms: the length of the lease if lease_ms is null.
-- progress: a text that the handler reports, or null. If there is a text and lease_ms
-- is null, the old lease stays if it ends later than the new lease would.
-- Locks: only the job's row, which the caller has locked already.

create function readpast.renew(id bigint, lease_ms bigint,
                               its_lease_ms bigint, progress text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	til timestamptz := clock_timestamp()
	                   + readpast.ms(coalesce(lease_ms, its_lease_ms));
	any_lease boolean := lease_ms is null and progress is not null;
begin
	update readpast.job j
	   set seq = null,
	       renewed = j.renewed + 1,
	       lease_until = case when any_lease
	                          then greatest(til, j.lease_until)
	                          else til end,
	       run_at = case when any_lease
	                     then greatest(til, j.lease_until)
	                     else til end,
	       extra = case when progress is null then j.extra
	                    else readpast.with_progress(j.extra, progress) end
	 where j.id = renew.id;
end
$body$;
