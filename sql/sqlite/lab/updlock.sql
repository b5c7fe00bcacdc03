-- updlock: take a lock before reading the row, and keep it until the job is done
--
-- SQLite has one write lock for the whole file, and `begin immediate` takes it. So two
-- workers never have the same row. The trap: no other process can write anything until
-- the job is done and the row is deleted.

-- setup:
create table queue (
	queueid    integer primary key autoincrement,
	someaction text not null
);
with recursive numbers (n) as (
	select 1 union all select n + 1 from numbers where n < cast(:jobs as integer))
insert into queue (someaction) select n from numbers;

-- take:
begin immediate;
select queueid as id, someaction as job
  from queue
 order by queueid
 limit 1;

-- done:
delete from queue where queueid = @id;

-- end:
commit;
