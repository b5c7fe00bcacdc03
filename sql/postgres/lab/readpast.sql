-- readpast: the read locks the row, and skips rows that others have locked
--
-- `for update skip locked` is the equivalent of UPDLOCK with READPAST. No worker waits,
-- and no row is taken twice. If a worker dies, its transaction is rolled back and its
-- row is free at once. The price: a transaction stays open while the job runs, which
-- occupies a connection and holds back vacuum. Attempts are not counted, so a job that
-- kills its worker kills the next worker, too.
--
-- In the original of this technique, the loop counts the unlocked rows before each
-- step. PostgreSQL cannot count unlocked rows without locking them, so here the loop
-- ends when the read finds no row.

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
