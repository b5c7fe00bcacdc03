-- set_pause: pause a schedule, or end its pause. The verb schedule_pause and the
-- routines schedule_pause() and schedule_resume() call this routine.
-- name: the name of the schedule.
-- paused: true to pause the schedule, false to resume it.
-- A copy or move to another database pauses the schedule in one of the two databases,
-- and notes this in the column `standby`. A pause by the user is added to that note, so
-- that the schedule stays paused at the end of a move. A resume clears the note, unless
-- the note begins with 'moved'. If the move is run again, it finds its schedules by
-- this word.
-- next_at: the time of the next fire after the pause. It is ignored if `paused` is
-- true.
-- Result: the schedule's id. Null: nothing has changed, because there is no such
-- schedule, or because `paused` is false and the schedule is not paused.
-- Locks: the schedule's row.

create function readpast.set_pause(name text, paused boolean, next_at timestamptz)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	id bigint;
begin
	if paused then
		update readpast.schedule s
		   set paused_at = coalesce(s.paused_at, clock_timestamp()),
		       standby = case when s.standby like '% and paused' then s.standby
		                      else s.standby || ' and paused' end
		 where s.name = set_pause.name
		returning s.id into id;
	else
		update readpast.schedule s
		   set paused_at = null, next_at = set_pause.next_at, retry_at = null,
		       last_error = case when s.retry_at is null then s.last_error end,
		       standby = case when starts_with(s.standby, 'moved ')
		                      then s.standby end
		 where s.name = set_pause.name and s.paused_at is not null
		returning s.id into id;
	end if;
	return id;
end
$body$;
