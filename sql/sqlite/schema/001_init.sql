-- Schema 1: the queue, its jobs, those that are kept, its workers.
--
-- Points in time are milliseconds since 1970 UTC of the host's clock, as
-- julianday('now') tells it; claim numbers are microseconds of the same.
-- docs/design.md tells why each index is there.

create table readpast_meta (
	name  text primary key,
	value not null
) without rowid;

create table readpast_queue (
	id             integer primary key autoincrement,
	name           text not null unique,
	paused_at      integer,
	max_attempts   integer not null default 3,
	lease_ms       integer not null default 60000,
	backoff_ms     integer not null default 10000,
	backoff_max_ms integer not null default 3600000,
	priority       integer not null default 100,
	keep_done_ms   integer not null default 0,
	keep_dead_ms   integer not null default 2592000000,
	max_payload    integer not null default 16777216
);

-- A live job is in one of three places:
--   in line:  seq is not null        (ready)
--   held:     lease_until is not null (running)
--   to come:  neither                (scheduled, or waiting out a backoff)
-- class: 0 front (given back, or its lease ran out), 1 suspect (its lease ran
-- out twice in a row, or before its last attempt), 2 normal.
-- run_at: since when it is ready, or when it will be.
-- worker_id: whom claim_no was given to (0: a client that is no worker); null
-- when that number was given to nobody, so that no verdict can name it.
-- renewed: how often the lease was. What ends a claim sets it to 0.
-- lost: how many leases of the job ran out one after the other.
create table readpast_job (
	id           integer primary key autoincrement,
	queue_id     integer not null,
	priority     integer not null default 100,
	class        integer not null default 2,
	seq          integer,
	run_at       integer not null default 0,
	lease_until  integer,
	claim_no     integer not null default 0,
	attempt      integer not null default 0,
	renewed      integer not null default 0,
	lost         integer not null default 0,
	max_attempts integer not null default 3,
	worker_id    integer,
	created_at   integer not null default 0,
	unique_key   text,
	kind         text,
	headers      text,
	payload      blob not null default x'',
	last_error   text,
	failures     text
);

create index readpast_job_line on readpast_job (queue_id, priority, class, seq)
	where seq is not null;
create index readpast_job_due on readpast_job (queue_id, run_at)
	where seq is null and lease_until is null;
create index readpast_job_held on readpast_job (queue_id, lease_until)
	where lease_until is not null;
create index readpast_job_suspect on readpast_job (queue_id)
	where class = 1 and seq is not null;
create unique index readpast_job_unique on readpast_job (queue_id, unique_key)
	where unique_key is not null;

-- Finished jobs that are kept. state: 4 done, 5 dead, 6 cancelled.
create table readpast_archive (
	id           integer primary key,
	queue_id     integer not null,
	state        integer not null,
	finished_at  integer not null,
	priority     integer not null,
	run_at       integer not null,
	claim_no     integer not null,
	attempt      integer not null,
	max_attempts integer not null,
	worker       text,
	created_at   integer not null,
	unique_key   text,
	kind         text,
	headers      text,
	payload      blob not null,
	last_error   text,
	failures     text
);

create index readpast_archive_state
	on readpast_archive (queue_id, state, finished_at, id);

-- kinds: what it has handlers for, as 'queue/kind', or 'queue/' for the rest.
create table readpast_worker (
	id         integer primary key autoincrement,
	name       text not null,
	host       text not null,
	pid        integer not null,
	queues     text not null,
	kinds      text not null,
	started_at integer not null,
	seen_at    integer not null,
	stopped_at integer,
	done       integer not null default 0,
	failed     integer not null default 0,
	dead       integer not null default 0,
	released   integer not null default 0
);

-- What was finished lately, by second: the rates of `stats`.
create table readpast_tally (
	queue_id integer not null,
	second   integer not null,
	done     integer not null,
	failed   integer not null,
	primary key (queue_id, second)
) without rowid;

-- The columns of a job as every verb that returns jobs gives them, in the
-- order of sql/params, then what the verbs select and sort by.
create view readpast_live as
select j.id, q.name as queue,
       case when j.lease_until is not null then 3
            when j.seq is not null
              or j.run_at <= cast(round((julianday('now') - 2440587.5)
                                        * 86400000) as integer) then 2
            else 1 end as state,
       j.priority, j.attempt, j.max_attempts, j.claim_no, w.name as worker,
       j.run_at, j.created_at,
       iif(j.lease_until is not null, j.claim_no / 1000, null) as claimed_at,
       j.lease_until, null as finished_at, j.unique_key, j.kind, j.headers,
       j.payload, j.last_error, j.failures,
       j.queue_id, j.class, j.seq
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
  left join readpast_worker w on w.id = j.worker_id;

create view readpast_kept as
select a.id, q.name as queue, a.state,
       a.priority, a.attempt, a.max_attempts, a.claim_no, a.worker,
       a.run_at, a.created_at, null as claimed_at,
       null as lease_until, a.finished_at, a.unique_key, a.kind, a.headers,
       a.payload, a.last_error, a.failures,
       a.queue_id
  from readpast_archive a
  join readpast_queue q on q.id = a.queue_id;

-- For people with a SQL shell: all jobs, states as words, times as text.
create view readpast_jobs as
select id, queue,
       case state when 1 then 'scheduled' when 2 then 'ready'
                  when 3 then 'running' when 4 then 'done'
                  when 5 then 'dead' else 'cancelled' end as state,
       priority, attempt, max_attempts, claim_no, worker,
       strftime('%Y-%m-%dT%H:%M:%fZ', run_at / 1000.0, 'unixepoch') as run_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch')
       as created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch')
       as lease_until,
       strftime('%Y-%m-%dT%H:%M:%fZ', finished_at / 1000.0, 'unixepoch')
       as finished_at,
       unique_key, kind, headers, cast(payload as text) as payload, last_error
  from (select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error
          from readpast_live
        union all
        select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error
          from readpast_kept);

insert into readpast_meta (name, value)
values ('schema', 1),
       ('installed_at', cast(round((julianday('now') - 2440587.5)
                                   * 86400000) as integer));
