-- sweep_kept: delete finished jobs that have been kept long enough, at most :max of
-- each queue and state. See the routine sweep_kept().

select id from readpast.sweep_kept(:max::bigint::integer);
