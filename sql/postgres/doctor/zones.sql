-- zones: list schedules that do not fire because the server cannot load their time
-- zone.

select count(*) as schedules,
       (extract(epoch from clock_timestamp() - min(s.next_at)) * 1000)::bigint
       as lasts_ms,
       (array_agg(s.name order by s.next_at))[1] as example,
       (array_agg(s.last_error order by s.next_at))[1] as error
  from schedule s
 where s.paused_at is null and s.retry_at is not null
having count(*) > 0;
