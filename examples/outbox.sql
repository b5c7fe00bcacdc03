-- outbox.sql - a transactional outbox: each new order is an event that is delivered.
--
--   readpast --db postgres:///app init
--   psql app -f outbox.sql
--   psql app -c "insert into orders (customer, total) values ('Ada', 12)"
--   readpast --db postgres:///app work outbox -- ./deliver
--
-- The trigger puts the event into the queue in the transaction that inserts the order.
-- Both are committed, or neither is, whichever process dies. Programs that insert
-- orders cannot forget the event, and need not know the queue. ./deliver reads an event
-- from its standard input. It is run again for the same event until it exits with 0. If
-- it is killed, an event may be delivered twice. $READPAST_JOB_ID is the same both
-- times, so the receiver can ignore the second delivery (see webhook.sh).
--
-- SPDX-License-Identifier: MIT
-- SPDX-FileCopyrightText: The readpast authors

create table orders (
	id       bigint primary key generated always as identity,
	customer text not null,
	total    numeric not null
);

create function order_placed() returns trigger language plpgsql as $$
begin
	perform readpast.enqueue('outbox', to_jsonb(new), kind => 'order placed');
	return null;
end
$$;

create trigger order_placed after insert on orders
	for each row execute function order_placed();
