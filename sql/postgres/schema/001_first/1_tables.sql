-- Schema 1: the queue, its jobs, those that are kept, its workers; the lines
-- and the hints that keep a claim's cost flat.
--
-- All of it is in one schema, `readpast`. Where another was chosen, the word is
-- replaced by that name when this is installed, and when a verb is prepared: so
-- it stands for the schema here and for nothing else.
-- docs/design.md tells why each table and index is there.

create schema if not exists readpast;

create table readpast.meta (
	name  text primary key,
	value text not null
);

-- A lane is one queue's jobs of one priority and class: 0 front (given back, or
-- its lease ran out), 1 suspect (its lease ran out twice in a row, or before its
-- last attempt), 2 normal. So the lanes of a queue lie in the order of its claims.
-- (The caller's search_path must not decide which operators these are: see
-- 2_words.sql.)
create function readpast.lane_of(queue_id integer, priority integer,
                                 class integer) returns bigint
language sql immutable
as $body$
select queue_id::bigint operator(pg_catalog.*) 1024
       operator(pg_catalog.+) (priority operator(pg_catalog.*) 4)
       operator(pg_catalog.+) class
$body$;

-- What enqueue looks at stands in front; lane_id: where a job goes of which nothing
-- is said. The rows are far apart: they are updated in place, and the planner
-- prefers the index beyond some forty. To read a few is cheaper, but of a table
-- that was never analyzed it thinks that it has ten pages (from version 14 on;
-- 13 does so of any that was empty then).
create table readpast.queue (
	id             integer primary key generated always as identity,
	name           text not null unique,
	asleep_until   timestamptz not null default '-infinity',
	max_payload    bigint not null default 16777216,
	lane_id        bigint not null generated always as
	               (readpast.lane_of(id, priority, 2)) stored,
	paused_at      timestamptz,
	max_attempts   integer not null default 3,
	lease_ms       bigint not null default 60000,
	backoff_ms     bigint not null default 10000,
	backoff_max_ms bigint not null default 3600000,
	priority       integer not null default 100,
	keep_done_ms   bigint not null default 0,
	keep_dead_ms   bigint not null default 2592000000,
	opened         bit(256) not null default 0::bit(256),
	constraint "a queue's name is 1..:most_name bytes without control characters"
	check (octet_length(name) between 1 and :most_name
	       and name !~ '[\x01-\x1f\x7f]'),
	constraint "settings are within their limits"
	check (max_attempts between 1 and :most_attempts
	       and lease_ms between 1 and :most_ms
	       and backoff_ms between 0 and :most_ms
	       and backoff_max_ms between 0 and :most_ms
	       and priority between 0 and :most_priority
	       and keep_done_ms between 0 and :most_ms
	       and keep_dead_ms between 0 and :most_ms
	       and max_payload between 0 and :most_payload)
) with (fillfactor = 10);

-- Does any queue keep what is done? Asked at each completion.
create index queue_keeps on readpast.queue (id) where keep_done_ms > 0;

-- Queues that were dropped while transactions may have been open that put jobs into
-- them. xid: these have smaller numbers; null: no sweep has seen the note yet.
-- open: what was open when a sweep looked last.
create table readpast.dropped (
	queue_id integer primary key,
	name     text not null,
	xid      xid8,
	open     pg_snapshot
);

-- Which lanes were ever used. It has no unique key on purpose: two who open a
-- lane at once need not wait for each other, and two rows do no harm. The sweep
-- copies it to queue.opened, a bit for each priority, where enqueue, which reads
-- that row anyway, finds most; that of a queue's own priority is open from the
-- start.
create table readpast.lane (
	lane_id bigint not null
);
create index lane_id on readpast.lane (lane_id);

-- A live job is in line, or is to come:
--   in line:  seq is not null. Ready, or held: the claim leaves it there.
--   to come:  seq is null and run_at says when. Scheduled, waiting out a
--             backoff, or held for longer: then run_at is when its lease ends.
-- It is held while lease_until is not null. The end of the line is a default (what
-- is to come says null): as an expression of enqueue's it would cost its plan a
-- step more.
--
-- A claim changes lease_until, claim_no, worker_id and attempt. No index may
-- ever name one of these: then a claim writes one row in its page and nothing
-- else (HOT), and the next one to read the page cleans up. Hence the fillfactor.
--
-- It has no check constraints: each would be read and planned anew by every
-- update. What a job may be is checked where it is put in.
--
-- claim_no is the time of the claim in microseconds, or one more than the last.
-- worker_id: whom claim_no was given to (0: a client that is no worker); null
-- when that number was given to nobody, so that no verdict can name it.
-- renewed: how often the lease was. What ends a claim sets it to 0, so that the
-- claim itself need not.
-- lost: how many leases of the job ran out one after the other.
create sequence readpast.line;
create table readpast.job (
	id           bigint primary key generated by default as identity,
	lane_id      bigint not null,
	seq          bigint default nextval('readpast.line'),
	run_at       timestamptz not null,
	created_at   timestamptz not null,
	queue_id     integer not null,
	max_attempts integer not null,
	lease_until  timestamptz,
	claim_no     bigint not null default 0,
	worker_id    bigint,
	attempt      integer not null default 0,
	renewed      integer not null default 0,
	lost         integer not null default 0,
	unique_key   text,
	kind         text,
	headers      json,
	last_error   text,
	failures     jsonb,
	payload      bytea not null
) with (
	fillfactor = 45,
	autovacuum_vacuum_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 0
);

create index job_line on readpast.job (lane_id, seq) where seq is not null;
create index job_due on readpast.job (queue_id, run_at) where seq is null;
create unique index job_unique on readpast.job (queue_id, unique_key)
	where unique_key is not null;

-- Hints, appended and never changed; the largest of a lane counts. A wrong one
-- costs time, and never a job.
-- mark: a claim found nothing in front of `head` that it could have taken.
-- Claims start there when the mark is 50 ms old, and until then at `settled`.
-- `drawn`: how far the line's numbers had come, and then `next_xid`, the
-- transactions'. Lane -q is what is to come in queue q: its heads are
-- microseconds of run_at.
create table readpast.mark (
	lane_id  bigint not null,
	head     bigint not null,
	made_at  timestamptz not null,
	settled  bigint not null default 0,
	drawn    bigint,
	next_xid xid8
);
create index mark_newest on readpast.mark (lane_id, head);

-- walked: the sweep left nothing in front of `low` but what `stray` lists.
create table readpast.walked (
	lane_id bigint not null,
	low     bigint not null
);
create index walked_newest on readpast.walked (lane_id, low);

-- Of each thousand numbers of the line, how many of its jobs are done; said by who
-- settles ten or more at once. Where it is all of them, the sweep need not walk.
create table readpast.ended (
	thousand bigint not null,
	jobs     bigint not null
);
create index ended_thousand on readpast.ended (thousand);

-- Until when a queue may have leases that are shorter than its own, and short: the
-- sweep has to look for them far behind the head, too.
create table readpast.short (
	queue_id integer not null,
	until    timestamptz not null
);

-- Where jobs may yet turn up behind a head: places between two numbers of a
-- line, to be looked at again once the transaction `waits_for` is over.
create table readpast.stray (
	lane_id    bigint not null,
	first      bigint not null,
	last       bigint not null,
	waits_for  xid8
);

-- How far the line's numbers had come, and then the transactions': who drew a
-- number up to `seq` has a number of its own below `next_xid`. `read_at` is before
-- the one, `made_at` after the other. About once a second while jobs come in. A
-- transaction draws numbers for a tenth of a second at the most (later ones say so
-- in `stray`), hence only between the seal before it began and the first that was
-- read a tenth of a second after the next one was made.
create table readpast.seal (
	seq      bigint not null,
	next_xid xid8 not null,
	read_at  timestamptz not null,
	made_at  timestamptz not null
);
create index seal_newest on readpast.seal (seq);

-- When the last sweeps began that workers made: appended, and the newest counts,
-- for a row that is updated once a second is soon a heap of dead ones. Not logged:
-- a hint that a crash may take along. `seq`: how far the line's numbers had come
-- before the sweeping transaction was given its own number, `xid`.
create unlogged table readpast.swept (
	at  timestamptz not null,
	seq bigint,
	xid xid8 not null
);
create index swept_at on readpast.swept (at);

-- Finished jobs that are kept. state: 4 done, 5 dead, 6 cancelled.
create table readpast.archive (
	id           bigint primary key,
	queue_id     integer not null,
	state        integer not null,
	finished_at  timestamptz not null,
	priority     integer not null,
	run_at       timestamptz not null,
	claim_no     bigint not null,
	attempt      integer not null,
	max_attempts integer not null,
	worker       text,
	created_at   timestamptz not null,
	unique_key   text,
	kind         text,
	headers      json,
	payload      bytea not null,
	last_error   text,
	failures     jsonb
);

create index archive_state
	on readpast.archive (queue_id, state, finished_at, id);

-- kinds: what it has handlers for, as 'queue/kind', or 'queue/' for the rest.
create table readpast.worker (
	id         bigint primary key generated always as identity,
	name       text not null,
	host       text not null,
	pid        bigint not null,
	queues     jsonb not null,
	kinds      jsonb not null,
	started_at timestamptz not null,
	seen_at    timestamptz not null,
	stopped_at timestamptz,
	done       bigint not null default 0,
	failed     bigint not null default 0,
	dead       bigint not null default 0,
	released   bigint not null default 0
);

-- Workers that sleep, and until when: who puts a job into one of their queues
-- wakes one. A worker's row here is removed when it wakes. queue.asleep_until
-- says until when there may be any; a minute ahead, so as to be set rarely.
create table readpast.sleeper (
	queue_id  integer not null,
	until     timestamptz not null,
	worker_id bigint not null
);
create index sleeper_until on readpast.sleeper (queue_id, until);
create index sleeper_all on readpast.sleeper (until);

-- What was finished lately, by second: the rates of `stats`. Added up by who
-- reads: two who finish jobs in one second need not wait for each other.
create table readpast.tally (
	second   bigint not null,
	queue_id integer not null,
	done     bigint not null,
	failed   bigint not null
);
create index tally_second on readpast.tally (second);

insert into readpast.meta (name, value)
values ('schema', '1'), ('build', ':build'),
       ('installed_at', clock_timestamp()::text);

analyze readpast.queue;
