-- lock_queue: lock the next jobs of a queue, lane by lane, and move the lanes'
-- cursors. A suspect goes out alone, to a worker that holds nothing.
-- most, at_once, holding: as of settle_and_claim(), less the jobs that the claim has
-- already; taken: how many it has of other queues; lease: its length; alone: this
-- transaction may stay open.
-- Result: places: the rows (ctid). passed_over: how many suspects are ready, but need a
-- worker that holds nothing. moved: a cursor was moved. last: the claim takes no more
-- jobs. claim_no, lease_until: the values for a claim at this moment.
-- Locks: those of lock_next(), or of lock_alone().
-- Called only by settle_and_claim(), with its search_path and settings.

create function readpast.lock_queue(
	queue_id integer, most integer, at_once integer, holding integer,
	taken integer, lease interval, alone boolean,
	out places tid[], out passed_over integer, out moved boolean,
	out last boolean, out claim_no bigint, out lease_until timestamptz)
language plpgsql volatile
as $body$
declare
	lane    bigint;
	start   bigint;
	suspect boolean;
	more    tid[];
	n       integer;
begin
	places := '{}';
	passed_over := 0;
	moved := false;
	last := false;
	foreach lane in array readpast.lanes_of(queue_id) loop
		n := most - cardinality(places);
		start := readpast.claims_start(lane);
		suspect := readpast.class_of(lane) = 1;
		if suspect and (holding + taken > 0 or places <> '{}') then
			passed_over := passed_over + readpast.count_ready(lane, start, n);
			-- Claims hand the suspect out before all later jobs of its queue,
			-- so this one takes no more.
			exit when passed_over > 0 and holding = 0;
			continue;
		elsif suspect then
			n := 1;
		end if;
		more := case when alone then readpast.lock_alone(lane, start, n)
		             else readpast.lock_next(lane, start, n) end;
		continue when more = '{}';
		n := cardinality(more);
		if cardinality(places) + n > at_once then
			more := readpast.not_ahead(more, at_once - cardinality(places));
			last := cardinality(more) < n;
			exit when more = '{}';
		end if;
		moved := readpast.move_cursor(lane, more, start, lease, alone) or moved;
		places := places || more;
		last := last or suspect or cardinality(places) >= most;
		exit when last;
	end loop;
	claim_no := readpast.epoch_us(clock_timestamp());
	lease_until := readpast.at_us(claim_no) + lease;
end
$body$;
