-- applock: lock the row of each message, and also take an application lock for it
--
-- A cursor (of SQL, not of readpast) reads the messages that no worker has taken, and
-- skips locked rows. For each message the worker also tries, without waiting, to take
-- an exclusive application lock named after the message's id. The worker keeps that
-- lock until its transaction ends. If another worker has the lock, this worker skips
-- the message. So no message is taken twice, even in a database that may ignore the
-- locking clause of a query. The weakness: a message counts as taken when the batch is
-- returned, not when its job is done. If a worker dies, the messages of its batch are
-- lost.

-- setup:
create table message (
	messageid   uuid primary key default gen_random_uuid(),
	messagebody text not null,
	enqueuetime timestamptz not null default clock_timestamp(),
	dequeuetime timestamptz
);
create index message_line on message (enqueuetime) where dequeuetime is null;
insert into message (messagebody)
select n from generate_series(1, :jobs::integer) n;
create function receive(batchsize integer)
returns table (id uuid, body text)
language plpgsql as $body$
declare
	line cursor for
		select messageid, messagebody
		  from message
		 where dequeuetime is null
		 order by enqueuetime
		   for update skip locked;
	n integer := 0;
begin
	open line;
	while n < batchsize loop
		fetch line into id, body;
		exit when not found;
		continue when not pg_try_advisory_xact_lock(
			hashtextextended(id::text, 0));
		update message
		   set dequeuetime = clock_timestamp()
		 where messageid = id and dequeuetime is null;
		continue when not found;
		n := n + 1;
		return next;
	end loop;
	close line;
end
$body$;

-- take:
select id, body as job from receive(:batch::integer);
