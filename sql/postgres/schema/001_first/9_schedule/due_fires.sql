-- due_fires: list the times of a schedule for which a job must be enqueued now. plan()
-- of lib/schedule_fire.c does the same for other databases.
-- sets, zone, anchor: the columns of the table `schedule`.
-- policy: the column `missed` of that table: what happens if times were missed, that is,
-- are more than missed_age() ago. 0 (once): one job for all due times. 1 (all): a job
-- for each. 2 (skip): no job for missed times.
-- due: the first time for which the schedule has not fired yet.
-- moment: the present time.
-- Result:
--   fires: the times that get a job, in order.
--   missed: the number of missed times that get no job of their own. It stops at
--     most_missed(), and is 0 with policy 2. The last job of `fires` gets this number
--     in a header, unless the number is 0.
--   next_at: the first time of the schedule after `moment`.
-- Locks: none.

create function readpast.due_fires(
	sets bigint[], zone text, anchor timestamptz, policy integer,
	due timestamptz, moment timestamptz,
	out fires timestamptz[], out missed integer, out next_at timestamptz)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	late   timestamptz := moment - readpast.missed_age();
	newest timestamptz; -- the last missed time that has no job
begin
	fires := '{}';
	missed := 0;
	next_at := due;
	while next_at <= moment loop
		if next_at > late then
			-- This time is not late, so it gets a job. With policy 0, its
			-- job also stands for all times that were missed.
			fires := case when policy = 0 and missed > 0 then '{}'
			              else fires end || next_at;
			newest := null;
		elsif policy = 1 and cardinality(fires) < readpast.most_missed() then
			fires := fires || next_at;
		else
			missed := missed + 1;
			if missed = readpast.most_missed() then
				-- The missed times after the last one that is counted
				-- are skipped, except the newest.
				next_at := readpast.last_fire(sets, zone, anchor, next_at, late);
			end if;
			newest := next_at;
		end if;
		next_at := readpast.next_fire(sets, zone, anchor, next_at);
	end loop;
	if policy = 0 and newest is not null then
		fires := array[newest];
	elsif policy = 2 then
		missed := 0;
	end if;
end
$body$;
