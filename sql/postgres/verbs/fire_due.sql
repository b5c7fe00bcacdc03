-- fire_due: fire at most :max schedules that are due. See the routine fire_due().

select schedules, jobs from readpast.fire_due(:max::bigint::integer);
