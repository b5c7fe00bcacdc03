-- sweep_due: find scheduled jobs that are due, and make them ready, at most :max jobs
-- in all queues together. See the routine sweep_due().

select id from readpast.sweep_due(:max::bigint::integer);
