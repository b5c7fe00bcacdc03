-- sweep_overdue: cancel jobs that were to be claimed by a time that has passed, in all
-- queues: at most :max jobs. See the routine.

select id from readpast.sweep_overdue(:max::bigint::integer);
