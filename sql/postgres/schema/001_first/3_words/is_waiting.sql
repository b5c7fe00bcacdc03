-- is_waiting: return whether a live job is due. The caller knows that the job is not
-- running. A due job is ready or blocked. Calls that change only jobs of a given state
-- treat these two states as one, so they need only this answer.
-- seq, run_at: the columns of the job.
-- Result: true or false. False: the job is scheduled.
-- Locks: none.

create function readpast.is_waiting(seq bigint, run_at timestamptz)
returns boolean
language sql volatile as $body$
select seq is not null
       or run_at operator(pg_catalog.<=) pg_catalog.clock_timestamp()
       or run_at operator(pg_catalog.=) timestamp with time zone 'infinity'
$body$;
