-- Schema 1: claim.
--
-- For each lane of a queue, in order: lock the next rows in line that nobody
-- else has locked, and lease them. A claim is a compare-and-set: the update
-- repeats the condition, and the locks and the marks only make it fast.
--
-- It works at READ COMMITTED only: at the higher levels it would lease what it
-- cannot see. The settings of the routine keep its plan: whatever the
-- statistics say, it walks the line from the head.

-- Lease up to `most` jobs of the queues, the first one preferred. `at_once`:
-- so many are started at once, the rest is fetched ahead; a job with a single
-- attempt never is, for a worker that dies before it starts the job would have
-- used that attempt up. `holding`: jobs the worker has already. A suspect may be
-- what killed its worker: it goes out alone, to a worker that holds nothing. One
-- that was passed over for that is answered as a row with no id.
create function readpast.take(
	queues text[], lease_ms bigint, worker_id bigint, worker_name text,
	most integer, at_once integer, holding integer)
returns table (
	queue_id integer, id bigint, queue text, state integer, priority integer,
	attempt integer, max_attempts integer, claim_no bigint, worker text,
	run_at timestamptz, created_at timestamptz, claimed_at timestamptz,
	lease_until timestamptz, finished_at timestamptz, unique_key text,
	kind text, headers json, payload bytea, last_error text, failures jsonb,
	suspect boolean)
language plpgsql volatile
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $body$
#variable_conflict use_column
declare
	called text;
	its    record;
	lane   record;
	line   record;
	wanted integer;
	taken  integer := 0;
	n      integer;
	alone  boolean := false;
	moment timestamptz;
	until  timestamptz;
	micros bigint;
begin
	perform readpast.need_read_committed('a claim');
	foreach called in array queues loop
		select q.id, coalesce(take.lease_ms, q.lease_ms) as lease_ms into its
		  from readpast.queue q
		 where q.name = called and q.paused_at is null;
		continue when not found;

		for lane in
			select l.lane_id, l.lane_id % 4 = 1 as suspects,
			       readpast.head_of(l.lane_id) as head,
			       coalesce(m.head, 0) as newest,
			       coalesce(m.made_at, '-infinity') as made_at
			  from (select distinct l.lane_id
			          from readpast.lane l
			         where l.lane_id between its.id::bigint * 1024
			                             and its.id::bigint * 1024 + 1023) l
			  left join lateral (select m.head, m.made_at
			                       from readpast.mark m
			                      where m.lane_id = l.lane_id
			                      order by m.lane_id desc, m.head desc
			                      limit 1) m on true
			 order by l.lane_id
		loop
			wanted := most - taken;
			if lane.suspects then
				if holding > 0 or taken > 0 then
					return query
					select its.id, null::bigint, called, null::integer,
					       null::integer, null::integer, null::integer,
					       null::bigint, null::text, null::timestamptz,
					       null::timestamptz, null::timestamptz,
					       null::timestamptz, null::timestamptz, null::text,
					       null::text, null::json, null::bytea, null::text,
					       null::jsonb, true
					  from readpast.job j
					 where j.lane_id = lane.lane_id and j.seq >= lane.head
					   and j.lease_until is null
					 limit wanted;
					get diagnostics n = row_count;
					exit when n > 0 and taken > 0;
					continue;
				end if;
				wanted := 1;
			end if;

			select array_agg(r.place) as places, min(r.seq) as first,
			       min(r.number) filter (where r.max_attempts = 1
			                               and r.number + taken > at_once)
			       as ahead
			  into line
			  from (select r.*, row_number() over () as number
			          from (select j.ctid as place, j.seq, j.max_attempts
			                  from readpast.job j
			                 where j.lane_id = lane.lane_id
			                   and j.seq >= lane.head
			                   and j.lease_until is null
			                 order by j.lane_id, j.seq
			                 limit wanted
			                   for update skip locked) r) r;
			continue when line.places is null;
			if line.ahead is not null then
				line.places := line.places[:line.ahead - 1];
			end if;

			moment := clock_timestamp();
			until := moment + readpast.ms(its.lease_ms);
			micros := extract(epoch from moment) * 1000000;
			return query
			update readpast.job j
			   set lease_until = until,
			       claim_no = greatest(j.claim_no + 1, micros),
			       attempt = j.attempt + 1,
			       worker_id = take.worker_id
			  from unnest(line.places) as p(place)
			 where j.ctid = p.place and j.lease_until is null
			returning its.id, j.id, called, 3, readpast.priority_of(j.lane_id),
			          j.attempt, j.max_attempts, j.claim_no,
			          take.worker_name, j.run_at, j.created_at, moment,
			          j.lease_until, null::timestamptz, j.unique_key, j.kind,
			          j.headers, j.payload, j.last_error, j.failures,
			          lane.suspects;
			get diagnostics n = row_count;
			taken := taken + n;
			alone := lane.suspects and n > 0;

			-- Claims will start here. A transaction that may be open for
			-- long says nothing: others would see it when it is no longer so.
			if n > 0 and line.first > lane.newest and readpast.young()
			   and (line.first - lane.newest >= 1000
			        or lane.made_at < moment - interval '100 milliseconds')
			then
				insert into readpast.mark (lane_id, head, made_at)
				values (lane.lane_id, line.first, moment);
			end if;
			exit when taken >= most or alone or line.ahead is not null;
		end loop;
		exit when taken >= most or alone;
	end loop;
	if taken > 0 and taken >= most then
		perform readpast.wake(its.id);
	end if;
end
$body$;

-- ---- for people and programs in any language ----

-- Lease up to n jobs. Each is yours for as long as the lease: name its id and
-- claim_no in complete(), fail(), release() or extend().
create function readpast.claim(
	queue text, n integer default 1, lease interval default null,
	worker text default null, worker_id bigint default 0)
returns table (
	id bigint, claim_no bigint, payload bytea, kind text, headers json,
	priority integer, attempt integer, max_attempts integer,
	lease_until timestamptz, run_at timestamptz, created_at timestamptz,
	unique_key text, last_error text, failures jsonb)
language sql volatile as $body$
select t.id, t.claim_no, t.payload, t.kind, t.headers, t.priority, t.attempt,
       t.max_attempts, t.lease_until, t.run_at, t.created_at, t.unique_key,
       t.last_error, t.failures
  from readpast.take(array[queue], readpast.to_ms(lease), worker_id, worker,
                     n, n, 0) t
 where t.id is not null
$body$;
