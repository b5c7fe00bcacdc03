-- fire_due: fire up to :max schedules whose next instant has come. See the routine
-- fire_due().

select schedules, jobs from readpast.fire_due(:max::bigint::integer);
