-- sweep_overdue: cancel at most :max jobs that were not claimed before their expire_at,
-- in all queues together. See the routine sweep_overdue().

select id from readpast.sweep_overdue(:max::bigint::integer);
