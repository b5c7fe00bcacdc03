-- sweep_expired: end leases that ran out, in all queues: of jobs before the cursors for a
-- bounded time, and of at most :max others. See the routine.

select id, dead from readpast.sweep_expired(:max::bigint::integer);
