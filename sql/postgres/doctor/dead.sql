-- dead: list the three most frequent errors of each queue, of jobs that died within the
-- last day, except jobs whose lease ran out (the check `killers` lists these). The query
-- reads the newest thousand dead jobs of each queue.

select queue, jobs, error, example, lasts_ms
  from (select q.name as queue, count(*) as jobs,
               coalesce(left(a.last_error, 120), 'no error was given') as error,
               max(a.id) as example,
               (extract(epoch from clock_timestamp() - min(a.finished_at))
                * 1000)::bigint as lasts_ms,
               row_number() over (partition by q.name
                                  order by count(*) desc, max(a.id) desc) as place
          from queue q
          cross join lateral (select * from archive a
                               where a.queue_id = q.id and a.state = 5
                               order by a.queue_id desc, a.state desc,
                                        a.finished_at desc
                               limit 1000) a
         where a.finished_at > clock_timestamp() - interval '1 day'
           and a.last_error is distinct from
               format('lease ran out, attempt %s of %s', a.attempt, a.max_attempts)
         group by q.name, left(a.last_error, 120)) e
 where place <= 3
 order by place, jobs desc
 limit 100;
