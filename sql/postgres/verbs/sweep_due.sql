-- sweep_due: make at most :max scheduled jobs ready that are due, in all queues
-- together. See the routine sweep_due().

select id from readpast.sweep_due(:max::bigint::integer);
