-- marker: one update sets the worker's own mark on a batch of rows
--
-- The row stays in the table while its job runs. It has a priority, the time from which
-- the job is available, the number of attempts and a time-out. The worker makes up a
-- unique mark and writes it to a batch of rows with one update. Then the rows with this
-- mark belong to the worker. The update repeats the condition of its inner select. So
-- no row gets two marks, even on an engine where that select does not skip locked rows.
-- A worker reports a finished job by setting a date. The trap: a worker may report a
-- job after the job's time-out, when another worker already has the job. This late
-- report is accepted. Another trap: no statement ever deletes the rows.

-- setup:
create table job_queue (
	id                      bigint generated always as identity primary key,
	priority                smallint not null default 255,
	available_date          timestamptz not null default clock_timestamp(),
	timeout_date            timestamptz,
	attempts                integer not null default 0,
	processing_mark         uuid,
	processing_server       text,
	last_attempt_start_date timestamptz,
	last_attempt_end_date   timestamptz,
	payload                 text not null
);
create index job_queue_line on job_queue (priority, available_date)
 where processing_mark is null;
create index job_queue_mark on job_queue (processing_mark);
insert into job_queue (payload)
select n from generate_series(1, :jobs::integer) n;

-- take:
select gen_random_uuid() as mark;
update job_queue j
   set processing_mark = @mark::uuid,
       processing_server = :worker,
       attempts = j.attempts + 1,
       last_attempt_start_date = clock_timestamp(),
       timeout_date = clock_timestamp() + interval '15 minutes'
 where j.id = any (array(
           select i.id
             from job_queue i
            where (i.processing_mark is null and i.attempts = 0
                   and i.available_date <= clock_timestamp())
               or (coalesce(i.last_attempt_end_date, '-infinity')
                       < i.last_attempt_start_date
                   and i.timeout_date <= clock_timestamp()
                   and i.attempts < 3)
            order by i.priority, i.available_date
            limit :batch::integer
              for update skip locked))
   and ((j.processing_mark is null and j.attempts = 0
         and j.available_date <= clock_timestamp())
        or (coalesce(j.last_attempt_end_date, '-infinity')
                < j.last_attempt_start_date
            and j.timeout_date <= clock_timestamp()
            and j.attempts < 3));
select id, payload as job from job_queue where processing_mark = @mark::uuid;

-- done:
update job_queue
   set last_attempt_end_date = clock_timestamp()
 where id = @id::bigint;
