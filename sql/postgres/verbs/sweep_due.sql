-- sweep_due: make scheduled jobs that are due ready, at most :max jobs in all queues
-- together. See the routine sweep_due().

select id from readpast.sweep_due(:max::bigint::integer);
