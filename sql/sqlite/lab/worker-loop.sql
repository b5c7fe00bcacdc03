-- worker-loop: while there is work, one update takes the first row and returns it
--
-- Find, mark and return are one statement, committed before the job starts:
-- writers take turns for that moment only, and need no hints. A unique index
-- refuses a second row for the same work; a partial one finds what is
-- unprocessed however much is done; the two dates in the row tell which jobs are
-- slow. The trap: a worker that dies leaves its row in process for ever.

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
