-- sweep_kept: delete kept jobs whose time is over, at most :max of each queue and
-- state. See the routine sweep_kept().

select id from readpast.sweep_kept(:max::bigint::integer);
