-- ready_at: return the run_at of a job as users see it: when the job became ready, or will
-- become ready. In the row of a running job that was extended, run_at is the end of the
-- lease. Then the time of the claim stands for it.
-- run_at, lease_until, claim_no: columns of the job's row.
-- Result: the time.
-- Locks: none.

create function readpast.ready_at(run_at timestamptz, lease_until timestamptz,
                                  claim_no bigint) returns timestamptz
language sql stable
as $body$
select case when lease_until is null then run_at
            else least(run_at, readpast.at_us(claim_no)) end
$body$;
