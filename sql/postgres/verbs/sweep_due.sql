-- sweep_due: make those scheduled jobs ready that are due, at most :max jobs, in all
-- queues. See the routine sweep_due().

select id from readpast.sweep_due(:max::bigint::integer);
