-- sweep_kept: delete kept jobs whose time is over, at most :max of each queue and state.

select id from readpast.sweep_kept(:max::bigint::integer);
