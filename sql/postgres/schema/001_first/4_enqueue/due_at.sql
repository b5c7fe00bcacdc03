-- due_at: return the time at which a new job becomes due. The planner inlines this
-- function into the calling statement.
-- moment: the time of the enqueue.
-- delay_ms: the delay of the job, or null.
-- run_at: the time that the client asked for, in milliseconds since 1970, or null.
-- Result: the time. It is not before `moment`.
-- Locks: none.

create function readpast.due_at(moment timestamptz, delay_ms bigint, run_at bigint)
returns timestamptz
language sql stable as $body$
select greatest(moment operator(pg_catalog.+) readpast.ms(delay_ms),
                readpast.at_ms(run_at), moment)
$body$;
