-- updlock: the read locks the row until the job is done
--
-- `for update` is what UPDLOCK is elsewhere. Two workers never have the same row
-- any more; but the second one wants the first row, too, and waits until the
-- first one's whole job is done and the row deleted. Then it looks for the next.
-- However many workers there are, one works.

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
