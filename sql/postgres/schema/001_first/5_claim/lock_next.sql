-- lock_next: The places of the next jobs in line that nobody has locked; they
-- are locked.

create function readpast.lock_next(lane_id bigint, head bigint, most integer)
returns tid[]
language plpgsql volatile as $body$
begin
	return array(select j.ctid
	               from readpast.job j
	              where j.lane_id operator(pg_catalog.=) lock_next.lane_id
	                and j.seq operator(pg_catalog.>=) head
	                and j.lease_until is null
	              order by j.lane_id, j.seq
	              limit most
	                for update skip locked);
end
$body$;
