-- marker: one update sets the worker's own mark on a batch of rows
--
-- The row of a job stays in the table while the job runs. It has a priority, the time
-- from which the job is available, the number of attempts and a time-out. The worker
-- makes up a unique mark and sets the mark on a batch of rows with one update. All rows
-- with this mark belong to the worker. There are no locked rows to skip, because on
-- SQLite only one process writes at a time, and each update is short. The trap: a
-- worker may report a job after the job's time-out, when another worker already has the
-- job. This late report is accepted. Another trap: no statement removes the rows of
-- finished jobs.

-- setup:
create table job_queue (
	id                      integer primary key autoincrement,
	priority                integer not null default 255,
	available_date          real not null default (julianday('now')),
	timeout_date            real,
	attempts                integer not null default 0,
	processing_mark         text,
	processing_server       text,
	last_attempt_start_date real,
	last_attempt_end_date   real,
	payload                 text not null
);
create index job_queue_line on job_queue (priority, available_date)
 where processing_mark is null;
create index job_queue_mark on job_queue (processing_mark);
with recursive numbers (n) as (
	select 1 union all select n + 1 from numbers where n < cast(:jobs as integer))
insert into job_queue (payload) select n from numbers;

-- take:
select hex(randomblob(16)) as mark;
update job_queue
   set processing_mark = @mark,
       processing_server = :worker,
       attempts = attempts + 1,
       last_attempt_start_date = julianday('now'),
       timeout_date = julianday('now', '+15 minutes')
 where id in (
           select i.id
             from job_queue i
            where (i.processing_mark is null and i.attempts = 0
                   and i.available_date <= julianday('now'))
               or (coalesce(i.last_attempt_end_date, 0)
                       < i.last_attempt_start_date
                   and i.timeout_date <= julianday('now')
                   and i.attempts < 3)
            order by i.priority, i.available_date
            limit cast(:batch as integer))
   and ((processing_mark is null and attempts = 0
         and available_date <= julianday('now'))
        or (coalesce(last_attempt_end_date, 0) < last_attempt_start_date
            and timeout_date <= julianday('now')
            and attempts < 3));
select id, payload as job from job_queue where processing_mark = @mark;

-- done:
update job_queue
   set last_attempt_end_date = julianday('now')
 where id = @id;
