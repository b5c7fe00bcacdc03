-- worker-loop: while there is work, one update takes the first row and returns it
--
-- One statement finds a row, marks it and returns it. The statement is committed before
-- the job starts. So no transaction stays open, and no worker waits for another one. A
-- unique index refuses a second row for the same work. A partial index finds
-- unprocessed rows quickly, however many are done. Two dates in the row show which jobs
-- are slow. The trap: the row of a worker that dies stays marked until a person repairs
-- it.

-- setup:
create table four_queue (
	id         bigint generated always as identity primary key,
	reputation integer not null,
	in_process boolean not null default false,
	start_date timestamptz,
	end_date   timestamptz
);
create unique index four_queue_once on four_queue (reputation);
create index four_queue_line on four_queue (id) where not in_process;
insert into four_queue (reputation)
select n from generate_series(1, :jobs::integer) n;

-- while:
select 1 as one from four_queue where not in_process limit 1;

-- take:
with first as (
	select id
	  from four_queue
	 where not in_process
	 order by id
	 limit 1
	   for update skip locked)
update four_queue q
   set in_process = true, start_date = clock_timestamp()
  from first
 where q.id = first.id
returning q.id, q.reputation as job;

-- done:
update four_queue
   set end_date = clock_timestamp()
 where id = @id::bigint and in_process;
