-- sweep_expired: end leases that ran out, in all queues. Among the jobs that are not in
-- the ready line, at most :max leases are ended. See the routine sweep_expired().

select id, dead from readpast.sweep_expired(:max::bigint::integer);
