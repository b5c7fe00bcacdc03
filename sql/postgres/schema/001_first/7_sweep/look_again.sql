-- look_again: Look at a place behind the head again. What is still locked stays
-- a stray; a claim that was made meanwhile leaves the line, for its lease may
-- run out.

create function readpast.look_again(lane_id bigint, first bigint, last bigint)
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_column
declare
	head bigint := readpast.newest_head(lane_id);
	ids  bigint[];
begin
	if head > first then
		head := least(head, last + 1);
		select array_agg(j.id) into ids
		  from readpast.job j
		 where j.lane_id = look_again.lane_id and j.seq >= first
		   and j.seq < head;
		if ids is not null then
			return query
			select * from readpast.clear(ids, look_again.lane_id, first, head);
		end if;
	end if;
end
$body$;
