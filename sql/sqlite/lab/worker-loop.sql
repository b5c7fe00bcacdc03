-- worker-loop: while there is work, one update takes the first row and returns it
--
-- One statement finds a row, marks it and returns it. The statement is committed before
-- the job starts. So the write lock is held only for a moment, and no locking hints are
-- needed. A unique index refuses a second row for the same work. A partial index finds
-- unprocessed rows quickly, however many processed rows there are. Two dates in the row
-- show which jobs are slow. The trap: if a worker dies, the row of its job stays marked
-- for ever.

-- setup:
create table four_queue (
	id         integer primary key autoincrement,
	reputation integer not null,
	in_process integer not null default 0,
	start_date real,
	end_date   real
);
create unique index four_queue_once on four_queue (reputation);
create index four_queue_line on four_queue (id) where in_process = 0;
with recursive numbers (n) as (
	select 1 union all select n + 1 from numbers where n < cast(:jobs as integer))
insert into four_queue (reputation) select n from numbers;

-- while:
select 1 as one from four_queue where in_process = 0 limit 1;

-- take:
update four_queue
   set in_process = 1, start_date = julianday('now')
 where id = (select id from four_queue where in_process = 0 order by id limit 1)
   and in_process = 0
returning id, reputation as job;

-- done:
update four_queue
   set end_date = julianday('now')
 where id = @id and in_process = 1;
