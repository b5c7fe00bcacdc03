-- dead: list the three most frequent errors of each queue, of jobs that died within the
-- last day, except jobs whose lease ran out (the check `killers` lists these). The query
-- reads the newest thousand dead jobs of each queue.

select queue, jobs, error, example, lasts_ms
  from (select q.name as queue, count(*) as jobs,
               coalesce(substr(a.last_error, 1, 120), 'no error was given') as error,
               max(a.id) as example, :now_ms - min(a.finished_at) as lasts_ms,
               row_number() over (partition by q.name
                                  order by count(*) desc, max(a.id) desc) as place
          from readpast_queue q
          join readpast_archive a
            on a.id in (select id from readpast_archive
                         where queue_id = q.id and state = 5
                         order by finished_at desc limit 1000)
         where a.finished_at > :now_ms - 86400000
           and a.last_error is not printf('lease ran out, attempt %d of %d',
                                          a.attempt, a.max_attempts)
         group by q.name, substr(a.last_error, 1, 120))
 where place <= 3
 order by place, jobs desc
 limit 100;
