-- due_fires: what a schedule has to fire. The same as plan() of lib/schedule_fire.c.
-- s: the schedule, whose next_at has come; moment: the time.
-- Result: fires: the instants that get a job, in order; missed: what the header
-- `missed` of the last one says, 0: it has none; next_at: the next instant.
-- Locks: none.

create function readpast.due_fires(s readpast.schedule, moment timestamptz,
	out fires timestamptz[], out missed integer, out next_at timestamptz)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	late    timestamptz := moment - readpast.missed_age();
	newest  timestamptz;       -- missed, and not in `fires`
	counted boolean := true;   -- `missed` still counts
begin
	fires := '{}';
	missed := 0;
	next_at := s.next_at;
	while next_at <= moment loop
		if next_at > late then
			-- One job for all is the job of the first that is not late.
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
			-- Many more may be missed. Look at the last thousand only.
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
