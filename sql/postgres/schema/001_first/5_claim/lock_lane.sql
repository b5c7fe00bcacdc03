-- lock_lane: lock the next jobs of a lane that a claim takes.
-- Other locks would do harm. lock_next() may lock a row that it does not return, and the
-- claim may leave out jobs that must not be prefetched. Other claims would pass such a
-- row, and in a transaction that stays open the worker that has the job could not settle
-- it. So in these cases the routine rolls back to a savepoint, which releases all locks,
-- and then locks only the rows that the claim takes, see lock_places().
-- lane_id, head, most: the parameters of lock_next().
-- at_once: how many jobs the worker can start immediately, see not_ahead(). Null: all.
-- joined, is_limited: the parameters of lock_queue().
-- Result:
--   places: the rows (ctid) of the jobs, in the order of the line.
--   is_cut: true if the next job of the lane must not be prefetched.
-- Called only by settle_and_claim(), with its search_path and settings.
-- Locks: the jobs' rows, for update. Rows that other transactions have locked are
-- skipped. If is_limited, also the locks of lock_allowed().

create function readpast.lock_lane(
	lane_id bigint, head bigint, most integer, at_once integer, joined boolean,
	is_limited boolean, out places tid[], out is_cut boolean)
language plpgsql volatile
as $body$
declare
	n integer;
begin
	is_cut := false;
	if is_limited then
		places := readpast.lock_allowed(lane_id, head, most, joined);
	elsif joined or most > at_once then
		begin
			places := readpast.lock_next(lane_id, head, most);
			n := cardinality(places);
			if n > at_once then
				places := readpast.not_ahead(places, at_once);
				is_cut := cardinality(places) < n;
			end if;
			if joined or is_cut then
				raise exception using errcode = 'RP000';
			end if;
		exception when sqlstate 'RP000' then
			places := readpast.lock_places(places);
		end;
	else
		places := readpast.lock_next(lane_id, head, most);
	end if;
end
$body$;
