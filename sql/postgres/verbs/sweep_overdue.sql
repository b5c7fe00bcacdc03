-- sweep_overdue: cancel jobs that nobody claimed by their expire_at, in all queues, at
-- most :max jobs. See the routine sweep_overdue().

select id from readpast.sweep_overdue(:max::bigint::integer);
