-- wait: wait for the end of a job. A routine cannot receive notifications, so wait()
-- checks the job again and again, after pauses that grow from wait_first_pause() to
-- wait_pause(). While wait() waits, it holds a snapshot, so vacuum cannot remove dead
-- rows from any table of the database. For this reason the time-out has a limit. The C
-- call rp_job_wait() and the command `wait` hold no snapshot while they wait, because
-- they receive notifications.
-- id: the job.
-- timeout: how long to wait, at most wait_most().
-- Result: `done`, `dead` or `cancelled`. Null if the time is over. A finished job that
-- was not kept counts as done. SQLSTATE RP003: an argument is wrong. SQLSTATE RP005: no
-- job ever had this id. SQLSTATE 25001: the call's transaction has changed something, so
-- it could wait for a job of its own. Or the transaction is above READ COMMITTED, so its
-- snapshot would not show the end of the job.
-- Locks: none.

create function readpast.wait(id bigint, timeout interval default '1 minute')
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	til   timestamptz := clock_timestamp() + timeout;
	pause double precision := extract(epoch from readpast.wait_first_pause());
	seen  record;
	its   integer;
begin
	if id is null or timeout is null
	   or timeout not between interval '0' and readpast.wait_most() then
		raise exception 'wait() needs an id, and a timeout within 0..%',
			readpast.wait_most() using errcode = 'RP003';
	end if;
	if pg_current_xact_id_if_assigned() is not null
	   or current_setting('transaction_isolation') <> 'read committed' then
		raise exception 'wait() must be called at READ COMMITTED, before the transaction '
			'has changed anything: end the transaction first' using errcode = '25001';
	end if;
	loop
		select t.state, t.queue_id into seen
		  from readpast.outcomes(array[wait.id], array[its]) t;
		if its is null and seen.state is null
		   and id > (select s.last_value from readpast.job_id_seq s) then
			raise exception 'no job has the id %', id using errcode = 'RP005';
		end if;
		exit when seen.state is distinct from 0 or clock_timestamp() >= til;
		its := seen.queue_id;
		perform pg_sleep(least(pause, extract(epoch from til - clock_timestamp())));
		pause := least(pause * 1.5, extract(epoch from readpast.wait_pause()));
	end loop;
	return case when seen.state is null then 'done'
	            when seen.state = -6 then 'cancelled'
	            when seen.state > 0 then readpast.state_word(seen.state) end;
end
$body$;
