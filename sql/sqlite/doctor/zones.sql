-- zones: list schedules that enqueue no jobs because the file of their time zone cannot
-- be read.

select count(*) as schedules, :now_ms - min(next_at) as lasts_ms,
       name as example, last_error as error
  from readpast_schedule
 where paused_at is null and retry_at is not null
having count(*) > 0;
