-- sweep_expired: a lease that ran out ends the attempt: the job is in line
-- again, or dead when that was its last. Also walks behind the heads. In all
-- queues; :max jobs at the most, and what the walk finds.

select id, dead from readpast.sweep_expired(:max::bigint::integer);
