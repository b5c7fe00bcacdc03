-- sweep_overdue: cancel jobs that were not claimed by their expire_at, at most :max
-- jobs, in all queues. See the routine sweep_overdue().

select id from readpast.sweep_overdue(:max::bigint::integer);
