-- sweep_expired: end leases that ran out, in all queues. For jobs before the cursors
-- the time is limited. Of the others at most :max leases are ended. See the routine
-- sweep_expired().

select id, dead from readpast.sweep_expired(:max::bigint::integer);
