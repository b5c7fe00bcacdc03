-- change: change a live job that is not running, or raise an error that says why this
-- is not possible.
-- id: the job.
-- priority .. max_attempts: the new values. Null leaves a value as it is. The new
-- `delay` begins now, and the new `queue` must exist.
-- kind: if not null, only a job of this kind is changed.
-- Result: none. SQLSTATE RP001: the job is running or finished. SQLSTATE RP003: an
-- argument is wrong, or the job would expire before it is due. SQLSTATE RP004: the
-- job's payload is larger than the new queue's limit. SQLSTATE RP005: there is no such
-- job or queue, or the job is of another kind. SQLSTATE RP006: another live job of the
-- new queue has the same unique key.
-- Locks: the job's row, and a row of `waiter`, if a worker waits. The call waits for a
-- claim or another change of the same job.

create function readpast.change(
	id bigint, priority integer default null, delay interval default null,
	run_at timestamptz default null, queue text default null,
	max_attempts integer default null, kind text default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
#variable_conflict use_variable
declare
	outcome integer;
begin
	perform readpast.check_job('', priority, delay, run_at, max_attempts, kind,
	                           null, false);
	if num_nonnulls(priority, delay, run_at, queue, max_attempts) = 0 then
		raise exception 'nothing to change: give priority, delay, run_at, queue or max_attempts'
			using errcode = 'RP003';
	end if;
	outcome := (select c.outcome
	              from readpast.change_live(id, kind, null, queue, priority,
	                                        delay, run_at, max_attempts) c);
	if outcome is null then
		perform readpast.refuse(id, kind);
	elsif outcome = 1 then
		raise exception 'job % was not changed: a live job of queue % has its unique key',
			id, queue using errcode = 'RP006';
	elsif outcome = 2 then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	elsif outcome = 3 then
		raise exception 'job % was not changed: its payload is larger than queue % takes '
			'(max_payload)',
			id, queue using errcode = 'RP004';
	elsif outcome = 4 then
		raise exception 'job % was not changed: it would expire before it is due', id
			using errcode = 'RP003';
	end if;
end
$body$;
