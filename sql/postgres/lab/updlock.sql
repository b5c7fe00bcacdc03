-- updlock: lock the row when it is read, and keep the lock until the job is done
--
-- `for update` is the equivalent of UPDLOCK. Two workers never have the same row, but
-- all workers try to lock the first row. The second worker waits until the first one
-- has done its whole job and deleted the row. Then the second worker finds the next
-- row. However many workers there are, only one works at a time.

-- setup:
create table queue (
	queueid    bigint generated always as identity primary key,
	someaction text not null
);
insert into queue (someaction)
select n from generate_series(1, :jobs::integer) n;

-- take:
begin;
select queueid as id, someaction as job
  from queue
 order by queueid
 limit 1
   for update;

-- done:
delete from queue where queueid = @id;

-- end:
commit;
