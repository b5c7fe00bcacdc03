-- is_waiting: say whether a live job is due. The job is one that is not running. If it is
-- due, its state is ready or blocked. Calls that change jobs of a given state do not tell
-- these two apart.
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
