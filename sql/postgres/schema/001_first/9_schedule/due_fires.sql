-- due_fires: list the instants of a schedule that get a job now. plan() of
-- lib/schedule_fire.c does the same.
-- s: the schedule, whose next_at has come.
-- moment: the time now.
-- Result:
--   fires: the instants that get a job, in order.
--   missed: a number for the header `missed` of the last of these jobs: how many
--     instants passed without a job. 0: the job has no such header.
--   next_at: the next instant of the schedule.
-- Locks: none.

create function readpast.due_fires(s readpast.schedule, moment timestamptz,
	out fires timestamptz[], out missed integer, out next_at timestamptz)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	late    timestamptz := moment - readpast.missed_age();
	newest  timestamptz;       -- the last missed instant without a job
	counted boolean := true;   -- `missed` is still increased
begin
	fires := '{}';
	missed := 0;
	next_at := s.next_at;
	while next_at <= moment loop
		if next_at > late then
			-- If one job stands for all missed instants (s.missed is 0), it
			-- is the job of the first instant that is not late.
			fires := case when s.missed = 0 and missed > 0 then '{}'
			              else fires end || next_at;
			newest := null;
		elsif s.missed = 1 and cardinality(fires) < readpast.most_missed() then
			fires := fires || next_at;
		elsif counted then
			missed := missed + 1;
			newest := next_at;
		else
			newest := next_at;
		end if;
		next_at := readpast.next_fire(s.sets, s.zone, s.anchor, next_at);
		if missed = readpast.most_missed() and counted then
			-- Many more instants may have been missed. From here on look
			-- only at the last thousand.
			counted := false;
			next_at := readpast.next_fire(
				s.sets, s.zone, s.anchor,
				greatest(newest, late - readpast.ms(case when s.sets[8] > 0
					then s.sets[8] else 60000 * readpast.most_missed() end)));
		end if;
	end loop;
	if s.missed = 0 and newest is not null then
		fires := array[newest];
	elsif s.missed = 2 then
		missed := 0;
	end if;
end
$body$;
