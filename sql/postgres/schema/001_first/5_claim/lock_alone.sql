-- lock_alone: lock the next ready jobs of a lane, like lock_next(), but in a
-- transaction that may stay open. lock_next() may lock a row that it does not return.
-- The worker that has the job could not settle it until this transaction ends. So the
-- routine first finds the rows and rolls back to a savepoint, which releases all locks.
-- Then it locks only the rows that it found, see lock_places().
-- lane_id, head, most: the parameters of lock_next().
-- Result: the result of lock_next().
-- Locks: the rows that the routine returns, for update, and no other row. Rows that
-- other transactions have locked are skipped.

create function readpast.lock_alone(lane_id bigint, head bigint, most integer)
returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	found_at tid[];
begin
	begin
		found_at := readpast.lock_next(lane_id, head, most);
		raise exception using errcode = 'RP000';
	exception when sqlstate 'RP000' then
		null;
	end;
	return readpast.lock_places(found_at);
end
$body$;
