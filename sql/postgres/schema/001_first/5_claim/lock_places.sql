-- lock_places: lock ready jobs in a transaction that may stay open. A `select` with `skip
-- locked` may lock a row that it does not return, for example if another worker has
-- claimed the job after the statement began. Therefore, if the routine does not get all
-- of the rows, it rolls back to a savepoint, which releases all locks, and then locks
-- only the remaining rows.
-- found_at: the places (ctid) of the jobs' rows, which this session has just found.
-- Result: the places of the locked rows, in the order of `found_at`.
-- Locks: the rows that the routine returns, for update, and no other row. Rows that
-- other transactions have locked or updated are skipped.

create function readpast.lock_places(found_at tid[]) returns tid[]
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	got tid[];
begin
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
