-- lock_alone: lock the next ready jobs of a lane, like lock_next(), but in a
-- transaction that may stay open. A `select` with `skip locked` may lock a row that it
-- does not return: for example, if another worker has claimed the job after the
-- statement began. That worker could not settle its job until this transaction ends. So
-- the routine first finds the rows and rolls back to a savepoint, which releases all
-- locks. Then it locks only the rows that it found. If other transactions have updated
-- some of these rows before this second step, the routine rolls back again, and then
-- locks only the remaining rows.
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
	got      tid[];
begin
	begin
		found_at := readpast.lock_next(lane_id, head, most);
		raise exception using errcode = 'RP000';
	exception when sqlstate 'RP000' then
		null;
	end;
	loop
		begin
			got := array(select j.ctid
			               from readpast.job j
			              where j.ctid = any (found_at)
			                and j.lease_until is null
			                for update skip locked);
			exit when cardinality(got) = cardinality(found_at);
			raise exception using errcode = 'RP000';
		exception when sqlstate 'RP000' then
			found_at := array(select f.place
			                    from unnest(found_at) with ordinality
			                         as f(place, number)
			                   where f.place = any (got)
			                   order by f.number);
		end;
	end loop;
	return found_at;
end
$body$;
