-- readpast: the read locks the row, and skips those that others have locked
--
-- `for update skip locked` is UPDLOCK with READPAST. Nobody waits, no row is
-- taken twice, and a worker that dies rolls back: its row is free at once.
-- The price: a transaction stays open while the job runs, which keeps a
-- connection busy and holds up vacuum; and nothing counts attempts, so a job
-- that kills its worker kills the next one.
--
-- The original loop counts the unlocked rows before each step. Here a count that
-- skips locked rows has to lock the others, so the read itself says when there is
-- none.

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
   for update skip locked;

-- done:
delete from queue where queueid = @id;

-- end:
commit;
