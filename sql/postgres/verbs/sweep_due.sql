-- sweep_due: move scheduled jobs that are due to the ready line, in all queues: at
-- most :max jobs. See the routine.

select id from readpast.sweep_due(:max::bigint::integer);
