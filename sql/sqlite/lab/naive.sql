-- naive: read the first row, do the job, delete the row
--
-- A read takes no lock, so all workers read the same first row and do its job. The
-- first worker that has finished deletes the row. This makes the snapshots of the other
-- workers outdated. So SQLite refuses the deletes of these workers. The workers have to
-- roll back, although they have already done the job.

-- setup:
create table queue (
	queueid    integer primary key autoincrement,
	someaction text not null
);
with recursive numbers (n) as (
	select 1 union all select n + 1 from numbers where n < cast(:jobs as integer))
insert into queue (someaction) select n from numbers;

-- take:
begin;
select queueid as id, someaction as job
  from queue
 order by queueid
 limit 1;

-- done:
delete from queue where queueid = @id;

-- end:
commit;
