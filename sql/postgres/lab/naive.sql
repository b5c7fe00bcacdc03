-- naive: read the first row, do the job, delete the row
--
-- This is the first queue that most people write. A transaction does not help, because
-- a read takes no lock. So all workers read the same first row, and all of them do its
-- job. The first worker deletes the row. The other workers delete no row, and do not
-- notice this.

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
 limit 1;

-- done:
delete from queue where queueid = @id;

-- end:
commit;
