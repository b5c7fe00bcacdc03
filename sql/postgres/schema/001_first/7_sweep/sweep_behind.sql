-- sweep_behind: The walk behind the heads, once a second in the whole database,
-- and a seal. Two that walk at once do no harm, but the same work: so who walks
-- has the newest seal locked, and who finds it locked leaves it to that one. A
-- transaction that stays open with it is waited for no longer than three
-- seconds.

create function readpast.sweep_behind()
returns table (id bigint, dead boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	newest record;
	drawn  bigint;
begin
	select s.seq, s.made_at, s.ctid as place into newest
	  from readpast.seal s
	 order by s.seq desc
	 limit 1;
	if newest.made_at between moment - interval '600 milliseconds' and moment then
		return;
	end if;
	-- A transaction that already has an id cannot make a seal, unless sweep_start()
	-- read the line's number first.
	if pg_current_xact_id_if_assigned() is null then
		select s.last_value into drawn from readpast.line s where s.is_called;
	else
		select w.seq, w.at into drawn, moment
		  from (select * from readpast.swept w
		         order by w.at desc
		         limit 1) w
		 where w.xid = pg_current_xact_id_if_assigned();
	end if;
	if drawn > newest.seq then
		perform 1
		   from readpast.seal s
		  where s.ctid = newest.place and s.seq = newest.seq
		    for update skip locked;
		if not found
		   and newest.made_at between moment - interval '3 seconds' and moment
		then
			return;
		end if;
	end if;
	return query select w.id, w.dead from readpast.walk() w;
	if drawn > coalesce(newest.seq, 0) then
		perform readpast.seal(drawn, moment);
	end if;
end
$body$;
