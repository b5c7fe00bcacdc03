-- Schema 1: queues, live jobs, kept jobs, workers.
--
-- Times are milliseconds since 1970 UTC. They are read from the host's clock in the same
-- way as SQLite's julianday('now'). A claim number is the claim's time in microseconds,
-- but always greater than the job's previous number. docs/design.md says why each index
-- exists.

-- This must be the first statement, because rp__sqlite_take_lock() runs it alone to
-- take the write lock in a file without tables. The statement says `if not exists`,
-- because another process may create the table while this process waits for the lock.
create table if not exists readpast_meta (
	name  text primary key,
	value not null
) without rowid;

-- Queues and their settings. dead_to is the name of another queue, or null. When a job
-- dies, a copy of it is added to that queue, which is created if it does not exist.
-- run_limit: how many jobs of the queue may run at once. 0 means any number.
-- group_limit: how many jobs of one group may run at once. 0 means any number.
-- group_lowered: 1 means that the group limit was lowered, or was set again. So more
-- jobs of a group may have a slot (the right to run) than the limit allows.
-- group_pass: 1 means that a failed job gives up its slot while it waits for its retry.
-- rate_count, rate_ms: at most rate_count jobs may start within any interval of rate_ms
-- milliseconds. A rate_count of 0 means any number.
-- held_until: no job of the queue is claimed before this time.
-- group_scan: not null if all groups have to be looked at, because the group limit was
-- changed, or a copy has deleted jobs. The value is the last group that was looked at ('':
-- none yet). Sweeps continue from there.
-- holds_until: the time at which the last hold of a group of this queue ends. Null
-- means that no group was held.
create table readpast_queue (
	id             integer primary key autoincrement,
	name           text not null unique,
	paused_at      integer,
	pause_reason   text,
	max_attempts   integer not null default 3,
	lease_ms       integer not null default 60000,
	backoff_ms     integer not null default 10000,
	backoff_max_ms integer not null default 3600000,
	priority       integer not null default 100,
	keep_done_ms   integer not null default 0,
	keep_dead_ms   integer not null default 2592000000,
	max_payload    integer not null default 16777216,
	timeout_ms     integer not null default 0,
	dead_to        text,
	run_limit      integer not null default 0,
	group_limit    integer not null default 0,
	group_pass     integer not null default 0,
	rate_count     integer not null default 0,
	rate_ms        integer not null default 0,
	held_until     integer,
	group_scan     text,
	group_lowered  integer not null default 0,
	holds_until    integer
);

-- A live job is in one of four places:
--   ready line: seq is not null         (the job is ready)
--   held:       lease_until is not null (the job is running)
--   scheduled:  both are null           (the job is due later, or waits for a retry)
--   blocked:    both are null, and run_at is 9223372036854775807 (the job waits for its
--               group, and has a row in readpast_group_wait)
-- class: 0 front (the job was released, or its lease ran out), 1 suspect (its lease
-- ran out twice in a row, or ran out when only one attempt was left), 2 normal.
-- run_at: the time since which the job is ready, or at which it is due. The real run_at
-- of a blocked job is in readpast_group_wait.
-- worker_id: the worker that was given the claim number claim_no. 0 stands for a client
-- that is not a worker. Null means that no client has claimed the job with this number,
-- for example because a failure or a release has increased the number. In this case no
-- verdict is accepted.
-- renewed: how many times the lease of the current claim was renewed.
-- lost: how many leases of the job ran out in succession.
-- expire_at: the job is not claimed after this time. Null means that it never expires.
-- extra: a JSON object with rarely used settings. If extra is null, expire_at is null,
-- too. A column for each setting would make all jobs slower, because SQLite reads and
-- writes a row column by column. The members are:
--   keep_ms: how long the job is kept after it is done
--   timeout_ms: the longest time that a handler may run
--   backoff: the text of a JSON array with the delays in milliseconds after the first,
--     second, ... failed attempt. The last delay is used for all later attempts
--   unique_for_ms: how long the job's unique key stays taken after the job is done, so
--     that no other job can use the key
--   progress: the text that the handler reported last. The next attempt gets it
-- group_key: the name of the group to which the job belongs, or null.
-- came: the order of the jobs of one group and priority. It is the microsecond in which
-- the job came, or a larger number if needed, so that later jobs have larger numbers.
-- It is null unless the job has a slot of its group or is blocked.
-- payload: the payload, if it has at most 16 KiB. A larger payload is in
-- readpast_payload, and this column has its size in bytes. Claims and verdicts rewrite
-- the whole row, so the row must stay small. In SQLite a number sorts before any text
-- or blob, so `payload < ''` is true if the column has a size.
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
	expire_at    integer,
	created_at   integer not null default 0,
	unique_key   text,
	kind         text,
	headers      text,
	payload      blob not null default x'',
	last_error   text,
	failures     text,
	extra        text,
	group_key    text,
	came         integer
);

create index readpast_job_line on readpast_job (queue_id, priority, class, seq)
	where seq is not null;
create index readpast_job_due on readpast_job (queue_id, run_at)
	where seq is null and lease_until is null and run_at < 9223372036854775807;
create index readpast_job_held on readpast_job (queue_id, lease_until)
	where lease_until is not null;
create index readpast_job_suspect on readpast_job (queue_id)
	where class = 1 and seq is not null;
create index readpast_job_expire on readpast_job (queue_id, expire_at)
	where expire_at is not null;
create unique index readpast_job_unique on readpast_job (queue_id, unique_key)
	where unique_key is not null;

-- The slots of groups. A slot is the right of one job to run. In a queue with a group
-- limit, at most group_limit jobs of a group have a slot, and a claim takes a job that
-- has a group only if the job has a slot. The job keeps its slot while it is ready and
-- while it runs. It also keeps the slot while it waits for a retry, unless group_pass
-- is 1. A transaction that deletes a slot also admits the next job of the group.
create table readpast_group_slot (
	queue_id  integer not null,
	group_key text not null,
	job_id    integer not null,
	primary key (queue_id, group_key, job_id)
) without rowid;

-- Blocked jobs, which wait for their group. The jobs of a group are admitted in the order
-- of priority and came.
create table readpast_group_wait (
	queue_id  integer not null,
	group_key text not null,
	priority  integer not null,
	came      integer not null,
	job_id    integer not null,
	run_at    integer not null,
	primary key (queue_id, group_key, priority, came, job_id)
) without rowid;

-- Groups that are held. No job of such a group is claimed before the time `until`.
-- After that time a sweep deletes the row, and admits the jobs that wait.
create table readpast_group_hold (
	queue_id  integer not null,
	group_key text not null,
	until     integer not null,
	primary key (queue_id, group_key)
) without rowid;

create index readpast_group_hold_until on readpast_group_hold (queue_id, until);

-- How many jobs were started in queues that have a rate, and when (in microseconds). If
-- the rate is more than 1,000 jobs, each row counts the starts of a hundredth of rate_ms,
-- and at_us is the end of that time.
create table readpast_start (
	queue_id integer not null,
	at_us    integer not null,
	jobs     integer not null,
	primary key (queue_id, at_us)
) without rowid;

-- Queues that were dropped. The verb sweep_dropped still has to delete their jobs.
create table readpast_dropped (
	queue_id integer primary key
);

-- Finished jobs that are kept. state is 4 (done), 5 (dead) or 6 (cancelled). result has
-- the result that the handler of a done job returned, or null. extra has the same members
-- as in readpast_job.
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
	expire_at    integer,
	created_at   integer not null,
	unique_key   text,
	kind         text,
	headers      text,
	payload      blob not null,
	last_error   text,
	failures     text,
	extra        text,
	group_key    text,
	result       blob,
	keep_ms      integer as (extra ->> 'keep_ms')
);

create index readpast_archive_state
	on readpast_archive (queue_id, state, finished_at, id);
-- Done jobs with a keep_ms of their own, ordered by the end of the time for which they
-- are kept.
create index readpast_archive_keep
	on readpast_archive (queue_id, finished_at + keep_ms)
	where state = 4 and keep_ms is not null;

-- Unique keys that stay taken after their job is done, until the time `until`. Only a
-- job that was enqueued with unique_for_ms has a row here. The row exists whether or
-- not the job itself is kept.
create table readpast_taken_key (
	queue_id   integer not null,
	unique_key text not null,
	job_id     integer not null,
	until      integer not null,
	primary key (queue_id, unique_key)
) without rowid;

create index readpast_taken_key_until on readpast_taken_key (until);

-- The number of kept jobs in each queue and state. Triggers of the archive count them,
-- so the numbers are exact even if plain SQL changes the archive. Under state 4 (done)
-- only jobs to which the queue's keep_done_ms applies are counted, so that a sweep can
-- see whether there are any such jobs. Done jobs with their own keep_ms are counted as
-- state 14 instead.
create table readpast_kept_count (
	queue_id integer not null,
	state    integer not null,
	jobs     integer not null,
	primary key (queue_id, state)
) without rowid;

create trigger readpast_archive_added after insert on readpast_archive begin
	insert into readpast_kept_count (queue_id, state, jobs)
	values (new.queue_id, iif(new.state = 4 and new.keep_ms is not null, 14,
	                          new.state), 1)
	on conflict do update set jobs = jobs + 1; end;

create trigger readpast_archive_removed after delete on readpast_archive begin
	update readpast_kept_count set jobs = jobs - 1
	 where queue_id = old.queue_id
	   and state = iif(old.state = 4 and old.keep_ms is not null, 14,
	                   old.state); end;

create trigger readpast_archive_moved
after update of queue_id, state, extra on readpast_archive begin
	update readpast_kept_count set jobs = jobs - 1
	 where queue_id = old.queue_id
	   and state = iif(old.state = 4 and old.keep_ms is not null, 14,
	                   old.state)
	; insert into readpast_kept_count (queue_id, state, jobs)
	values (new.queue_id, iif(new.state = 4 and new.keep_ms is not null, 14,
	                          new.state), 1)
	on conflict do update set jobs = jobs + 1; end;

-- Payloads over 16 KiB of live and kept jobs, by the job's id. A payload is written
-- once. It stays here when the job is archived or retried, and is deleted with the job.
create table readpast_payload (
	id      integer primary key,
	payload blob not null
);

-- Ids of completed jobs whose payload may still be in readpast_payload. The verb
-- sweep_rest deletes these payloads.
create table readpast_gone (
	id integer primary key
);

-- Workers. kinds is a JSON array of the kinds that the worker has handlers for, written as
-- 'queue/kind'. 'queue/' stands for all kinds that have no handler of their own. A client
-- of `readpast serve` that gives itself a name has the host and the pid of the server.
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

-- How many jobs of a queue were done, how many attempts failed, and how many jobs died,
-- in each of the last seconds. Second 0 stands for all earlier time: the verb sweep_rest
-- adds the rows of old seconds to it. `readpast stats` shows rates and totals.
create table readpast_tally (
	queue_id integer not null,
	second   integer not null,
	done     integer not null default 0,
	failed   integer not null default 0,
	dead     integer not null default 0,
	primary key (queue_id, second)
) without rowid;

-- Schedules. A schedule fires, which means that it enqueues a job, at the times that its
-- spec describes (a cron expression, or `every D` with a duration D).
-- next_at: the next of these times. The transaction that enqueues the job for next_at
-- also sets next_at to the schedule's following time.
-- anchor: the time from which the durations of `every D` are counted.
-- missed: what happens for times that passed while no client fired the schedule. 0
-- means one job for all of these times, 1 a job for each of them, 2 no job.
-- overlap: 1 means that no new job is enqueued while a job of this schedule is live.
-- last_at, last_job_id: the last time for which the schedule fired, and the job that it
-- enqueued.
-- last_error: why the schedule enqueued no job for last_at, or why its next time could not
-- be computed.
-- retry_at: if the file of the time zone could not be read, a sweep tries again at this
-- time. Until it can compute a new time, next_at does not change, even if the
-- schedule has fired for next_at.
-- standby: not null if the schedule is paused because `readpast copy` copies it to or
-- from another database. In the source of a move the value begins with 'leaving'. In a
-- target it begins with 'copied' or 'moved' and the name of the source. If the schedule
-- was paused before the copy, ' paused' is appended. If a user has paused the schedule
-- after the copy began, ' and paused' is appended.
create table readpast_schedule (
	id          integer primary key autoincrement,
	name        text not null unique,
	queue       text not null,
	spec        text not null,
	zone        text not null,
	content     blob not null,
	kind        text,
	headers     text,
	priority    integer,
	missed      integer not null,
	overlap     integer not null,
	anchor      integer not null,
	next_at     integer,
	retry_at    integer,
	last_at     integer,
	last_job_id integer,
	last_error  text,
	paused_at   integer,
	created_at  integer not null,
	standby     text
);

create index readpast_schedule_due on readpast_schedule (coalesce(retry_at, next_at))
	where paused_at is null;

-- Whether jobs of a queue may start now, apart from a pause. The column stopped is 0 if
-- jobs may start, 1 if the queue is held, 2 if as many jobs run as run_limit allows, 3 if
-- as many jobs have started as the rate allows.
create view readpast_stop as
select q.id,
       case when q.held_until > cast(round((julianday('now') - 2440587.5)
                                           * 86400000) as integer) then 1
            when q.run_limit > 0
                 and q.run_limit <= (select count(*) from readpast_job r
                                      where r.queue_id = q.id
                                        and r.lease_until is not null) then 2
            when q.rate_count > 0
                 and q.rate_count <= (
                     select sum(s.jobs) from readpast_start s
                      where s.queue_id = q.id
                        and abs(s.at_us - 1000 * cast(round(
                                (julianday('now') - 2440587.5) * 86400000)
                                as integer)) < 1000 * q.rate_ms) then 3
            else 0 end as stopped
  from readpast_queue q;

-- Live jobs with the columns that the statements in verbs/ return, in the order of
-- sql/params. The last columns are only for filters and sorting.
create view readpast_live as
select j.id, q.name as queue,
       case when j.lease_until is not null then 3
            when j.run_at = 9223372036854775807 then 7
            when j.seq is not null
              or j.run_at <= cast(round((julianday('now') - 2440587.5)
                                        * 86400000) as integer)
            then iif((select stopped from readpast_stop where id = q.id), 7, 2)
            else 1 end as state,
       j.priority, j.attempt, j.max_attempts, j.claim_no, w.name as worker,
-- include run_at
       as run_at, j.created_at,
       iif(j.lease_until is not null, j.claim_no / 1000, null) as claimed_at,
       j.lease_until, null as finished_at, j.unique_key, j.kind, j.headers,
       iif(j.payload < '', p.payload, j.payload) as payload,
       j.last_error, j.failures, j.extra ->> 'keep_ms' as keep_ms,
       coalesce(j.extra ->> 'timeout_ms', nullif(q.timeout_ms, 0))
       as timeout_ms,
       j.expire_at, j.extra ->> 'backoff' as backoff,
       j.extra ->> 'unique_for_ms' as unique_for_ms,
       j.group_key,
       j.extra ->> 'progress' as progress, null as result,
       case typeof(j.payload)
            when 'blob' then length(j.payload)
            when 'integer' then j.payload
            else length(cast(j.payload as blob)) end as payload_total,
       j.queue_id, j.class, j.seq, j.run_at as due_at
  from readpast_job j
  join readpast_queue q on q.id = j.queue_id
  left join readpast_worker w on w.id = j.worker_id
  left join readpast_payload p on p.id = j.id;

create view readpast_kept as
select a.id, q.name as queue, a.state,
       a.priority, a.attempt, a.max_attempts, a.claim_no, a.worker,
       a.run_at, a.created_at, null as claimed_at,
       null as lease_until, a.finished_at, a.unique_key, a.kind, a.headers,
       iif(a.payload < '', p.payload, a.payload) as payload,
       a.last_error, a.failures, a.keep_ms,
       a.extra ->> 'timeout_ms' as timeout_ms,
       a.expire_at, a.extra ->> 'backoff' as backoff,
       a.extra ->> 'unique_for_ms' as unique_for_ms,
       a.group_key,
       a.extra ->> 'progress' as progress, a.result,
       case typeof(a.payload)
            when 'blob' then length(a.payload)
            when 'integer' then a.payload
            else length(cast(a.payload as blob)) end as payload_total,
       a.queue_id
  from readpast_archive a
  join readpast_queue q on q.id = a.queue_id
  left join readpast_payload p on p.id = a.id;

-- This view is for people with a SQL shell. It has all jobs, with their states as words
-- and their times as text. The results of done jobs are in the view readpast_kept.
--
-- A payload is shown as text if it is UTF-8 without a zero byte. Otherwise it is shown as
-- \x and hexadecimal digits, as on PostgreSQL. SQLite accepts any bytes as text, so the
-- view checks the bytes itself. There is a fast path for payloads in ASCII. Other payloads
-- are checked in three steps:
--   1. `folded` replaces each byte by one byte that stands for its class. 80, 90 and A0
--      stand for continuation bytes. C2, E1 and F1 stand for the first bytes of sequences
--      of two, three and four bytes. E0, ED, F0 and F4 are not replaced, because they
--      restrict the byte after them.
--   2. The first two bytes of each sequence of four are replaced by E1, so that a
--      sequence of three remains. Then the first two bytes of each sequence of three
--      are replaced by C2, so that a sequence of two remains.
--   3. Each sequence of two bytes is replaced by an x.
-- If a byte above 7F remains, the payload is not UTF-8.
--
-- In a database whose encoding is UTF-16, a cast would read the bytes of a payload as
-- UTF-16. So there the view computes the code of each character from the character's
-- bytes, which hex() makes readable. Each row of `form` is a kind of byte sequence that
-- UTF-8 allows. `excess` is subtracted from the sum of the shifted bytes, because the
-- high bits of each byte mark its position and are not part of the code. Two sorts of
-- payloads are always shown as hexadecimal digits in such a database: payloads with
-- U+FFFE or U+FFFF, which cannot be text there, and payloads above 64 KiB, which would
-- take seconds.
create view readpast_jobs as
select id, queue,
       case state when 1 then 'scheduled' when 2 then 'ready'
                  when 3 then 'running' when 4 then 'done'
                  when 5 then 'dead' when 7 then 'blocked'
                  else 'cancelled' end as state,
       priority, attempt, max_attempts, claim_no, worker,
       strftime('%Y-%m-%dT%H:%M:%fZ', run_at / 1000.0, 'unixepoch') as run_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', created_at / 1000.0, 'unixepoch')
       as created_at,
       strftime('%Y-%m-%dT%H:%M:%fZ', lease_until / 1000.0, 'unixepoch')
       as lease_until,
       strftime('%Y-%m-%dT%H:%M:%fZ', finished_at / 1000.0, 'unixepoch')
       as finished_at,
       unique_key, kind, headers,
       coalesce(case
         when instr(payload, x'00') then null
         when cast(x'41' as text) <> 'A' then (
  with recursive form(pattern, size, excess) as (
    values ('[0-7]*', 1, 0),
           ('C[2-9A-F][89AB]*', 2, 12416),
           ('D?[89AB]*', 2, 12416),
           ('E0[AB]?[89AB]*', 3, 925824),
           ('E[1-9A-CEF][89AB]?[89AB]*', 3, 925824),
           ('ED[89]?[89AB]*', 3, 925824),
           ('F0[9AB]?[89AB]?[89AB]?', 4, 63447168),
           ('F[1-3][89AB]?[89AB]?[89AB]?', 4, 63447168),
           ('F48?[89AB]?[89AB]?', 4, 63447168)),
  byte(n) as (values (1), (2), (3), (4)),
  place(at, digits) as (
    select 0, hex(substr(payload, 1, 4))
     union all
    select at + size, hex(substr(payload, at + size + 1, 4))
      from place cross join form on digits glob pattern
     where digits not glob 'EFBFB[EF]*' and length(payload) <= 65536)
  select iif(max(at) = length(payload), coalesce(group_concat(
           char(code), '') filter (where code is not null), ''), null)
    from (select at, (
            select sum((16 * instr('123456789ABCDEF',
                                   substr(digits, 2 * n - 1, 1))
                        + instr('123456789ABCDEF', substr(digits, 2 * n, 1)))
                       << (6 * (size - n)))
              from byte
             where n <= size) - excess as code
            from place left join form on digits glob pattern
           order by at))
         when cast(payload as text)
              not glob '*[^' || char(1) || '-' || char(127) || ']*'
         then cast(payload as text)
         when (
  with recursive folded(n, bytes) as (
    select 1, payload
     union all
    select n + 1,
           replace(replace(replace(replace(
           replace(replace(replace(replace(bytes,
           substr(x'808182838485868788898A8B8C8D8E8F', n, 1), x'80'),
           substr(x'909192939495969798999A9B9C9D9E9F', n, 1), x'90'),
           substr(x'A0A1A2A3A4A5A6A7A8A9AAABACADAEAF', n, 1), x'A0'),
           substr(x'B0B1B2B3B4B5B6B7B8B9BABBBCBDBEBF', n, 1), x'A0'),
           substr(x'C2C3C4C5C6C7C8C9CACBCCCDCECF', n, 1), x'C2'),
           substr(x'D0D1D2D3D4D5D6D7D8D9DADBDCDDDEDF', n, 1), x'C2'),
           substr(x'E1E2E3E4E5E6E7E8E9EAEBECEEEF', n, 1), x'E1'),
           substr(x'F1F2F3', n, 1), x'F1')
      from folded where n <= 16)
  select replace(replace(replace(bytes,
           x'C280', 'x'), x'C290', 'x'), x'C2A0', 'x')
    from (select replace(replace(replace(replace(replace(replace(bytes,
                   x'E0A0', x'C2'), x'ED80', x'C2'), x'ED90', x'C2'),
                   x'E180', x'C2'), x'E190', x'C2'), x'E1A0', x'C2') as bytes
            from (select replace(replace(replace(replace(replace(replace(bytes,
                           x'F090', x'E1'), x'F0A0', x'E1'), x'F480', x'E1'),
                           x'F180', x'E1'), x'F190', x'E1'), x'F1A0', x'E1')
                         as bytes
                    from folded where n = 17)))
              not glob '*[^' || char(1) || '-' || char(127) || ']*'
         then cast(payload as text)
       end, '\x' || lower(hex(payload))) as payload,
       last_error, keep_ms, timeout_ms,
       strftime('%Y-%m-%dT%H:%M:%fZ', expire_at / 1000.0, 'unixepoch')
       as expire_at, backoff, unique_for_ms, group_key, progress
  from (select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error,
               keep_ms, timeout_ms, expire_at, backoff, unique_for_ms, group_key,
               progress
          from readpast_live
        union all
        select id, queue, state, priority, attempt, max_attempts, claim_no,
               worker, run_at, created_at, lease_until, finished_at,
               unique_key, kind, headers, payload, last_error,
               keep_ms, timeout_ms, expire_at, backoff, unique_for_ms, group_key,
               progress
          from readpast_kept);

-- Tokens of the HTTP server. A token has the form rp_KEY_SECRET. key: the part KEY,
-- which identifies the token. hash: SHA-256 of the whole token. scopes: a JSON array
-- of texts such as "work:mail".
create table readpast_token (
	name       text primary key,
	key        text not null unique,
	hash       blob not null,
	scopes     text not null,
	created_at integer not null
) without rowid;

-- Answers to HTTP requests that have an idempotency key. If a client repeats a request,
-- the server sends the stored answer. name: SHA-256 of the idempotency key, its queue and
-- the key of its token. hash: SHA-256 of the request. until: when the row is deleted.
create table readpast_answer (
	name   text primary key,
	hash   blob not null,
	answer text not null,
	until  integer not null
) without rowid;

create index readpast_answer_until on readpast_answer (until);

insert into readpast_meta (name, value)
values ('schema', 1),
       ('build', :build),
       ('installed_at', cast(round((julianday('now') - 2440587.5)
                                   * 86400000) as integer));
