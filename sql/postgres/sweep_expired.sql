-- sweep_expired: a lease that ran out ends the attempt: the job is in line
-- again as a suspect, or dead when that was its last. Also walks behind the heads.

select id, dead from readpast.sweep_expired(:max::bigint::integer);
