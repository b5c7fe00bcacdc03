-- sweep_expired: end leases that ran out, in all queues. At most :max leases of jobs
-- that are not in the ready line are ended. See the routine sweep_expired().

select id, dead from readpast.sweep_expired(:max::bigint::integer);
