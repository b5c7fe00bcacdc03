-- sweep_due: make scheduled jobs ready that are due, in all queues, at most :max jobs.
-- See the routine sweep_due().

select id from readpast.sweep_due(:max::bigint::integer);
