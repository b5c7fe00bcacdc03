-- lock_queue: lock the next jobs of a queue, lane by lane, and append a cursor (a
-- place where later claims start) to each of these lanes. A suspect (a job that may
-- have killed its worker) is taken alone, and only for a worker that holds no other
-- job.
-- queue_id: the queue.
-- most, at_once, holding: the parameters of settle_and_claim(). The caller has
-- subtracted from `most` and `at_once` the number of jobs that this claim has taken
-- already.
-- taken: how many jobs this claim has taken from other queues.
-- lease: how long the lease is.
-- joined: true if the transaction may stay open after the claim, because the client
-- began it. See `joined` of settle_and_claim().
-- is_limited: true if the queue has a limit, a rate, a group limit or a held group.
-- Then the claim takes only jobs that the worker can start immediately, because a
-- prefetched job counts as running.
-- Result:
--   places: the rows (ctid) of the jobs.
--   passed_over: how many suspects were left out, because the worker holds other jobs.
--   moved: true if a cursor was appended.
--   last: true if the claim must take no more jobs.
--   claim_no, lease_until: the values that the caller must write to the jobs. If a
--     job's previous claim number is not smaller than this claim_no, the job gets the
--     previous number plus 1 instead.
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: the jobs' rows, for update. Rows that other transactions have locked are
-- skipped. If is_limited, also the locks of limits_of() and lock_allowed().

create function readpast.lock_queue(
	queue_id integer, most integer, at_once integer, holding integer,
	taken integer, lease interval, joined boolean, is_limited boolean,
	out places tid[], out passed_over integer, out moved boolean,
	out last boolean, out claim_no bigint, out lease_until timestamptz)
language plpgsql volatile
as $body$
declare
	lane    bigint;
	start   bigint;
	suspect boolean;
	more    record; -- of lock_lane()
	n       integer;
	began   timestamptz := clock_timestamp();
	room    integer := most;
	counts  boolean := false;
begin
	places := '{}';
	passed_over := 0;
	moved := false;
	last := false;
	if is_limited then
		select l.room, l.counts into room, counts
		  from readpast.limits_of(queue_id, least(most, at_once), joined) l;
	end if;
	foreach lane in array readpast.lanes_of(queue_id) loop
		n := room - cardinality(places);
		exit when n <= 0;
		start := readpast.claims_start(lane);
		suspect := readpast.class_of(lane) = 1;
		if suspect and (holding + taken > 0 or places <> '{}') then
			passed_over := passed_over + readpast.count_ready(lane, start, n);
			-- If the worker holds no jobs, it can run the suspect right
			-- after the jobs of this claim. So do not take the queue's
			-- later jobs before the suspect.
			exit when passed_over > 0 and holding = 0;
			continue;
		elsif suspect then
			n := 1;
		end if;
		more := readpast.lock_lane(lane, start, n, at_once - cardinality(places), joined,
		                           is_limited);
		last := more.is_cut;
		if more.places <> '{}' then
			moved := readpast.move_cursor(lane, more.places, start, lease, joined) or moved;
			places := places || more.places;
			last := last or suspect or cardinality(places) >= most;
		elsif is_limited then
			-- If the time was over, this lane may still have allowed jobs.
			last := clock_timestamp() > began + readpast.claim_budget();
		end if;
		exit when last;
	end loop;
	claim_no := readpast.epoch_us(clock_timestamp());
	lease_until := readpast.at_us(claim_no) + lease;
	if counts then
		perform readpast.take_slots(queue_id, places),
		        readpast.note_starts(queue_id, cardinality(places), claim_no);
	end if;
end
$body$;
