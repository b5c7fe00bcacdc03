-- applock: an application lock named after the message guards it a second time
--
-- A cursor walks the messages that nobody has taken, skipping locked rows. Each
-- one must also be had under an exclusive application lock with the message's id
-- for its name, without waiting, until the transaction ends; who does not get it
-- goes on to the next. So it is exact even on an engine that takes locking hints
-- for advice. The trap: a message is taken when the batch is returned, not when
-- its job is done: a worker that dies has lost its batch.

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
