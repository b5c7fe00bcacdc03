-- sweep_kept: kept jobs whose time is over are forgotten; :max of each queue
-- and state at the most.

select id from readpast.sweep_kept(:max::bigint::integer);
