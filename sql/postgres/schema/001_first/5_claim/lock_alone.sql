-- lock_alone: The same for a transaction of somebody's, which may stay open for
-- long. `skip locked` locks also what it does not take: a row that was updated
-- since the statement began. Whoever holds that job would wait for us. So all
-- locks are given back, and what was found is locked alone; once more if some
-- of it was updated in between.

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
