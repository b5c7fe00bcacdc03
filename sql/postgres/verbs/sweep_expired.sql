-- sweep_expired: end leases that ran out, in all queues. The limit :max applies only to
-- jobs that have left the ready line. For the jobs in the line the routine
-- sweep_expired() has time limits.

select id, dead from readpast.sweep_expired(:max::bigint::integer);
