-- sweep_start: Is it this transaction that makes the next sweep? One does, of
-- all workers of all queues, and notes it. While it is at work the newest note
-- is locked, and others leave it to that one; not for longer than three
-- seconds. With in_turn false the answer is always true.

create function readpast.sweep_start(in_turn boolean default true)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
	newest timestamptz := (select s.at from readpast.swept s
	                        order by s.at desc
	                        limit 1);
	drawn  bigint := (select s.last_value from readpast.line s
	                   where s.is_called
	                     and pg_current_xact_id_if_assigned() is null);
	drops  integer[] := readpast.drops_to_note();
	mine   boolean;
begin
	if in_turn and not readpast.needs_sweep() then
		return false;
	end if;
	with gone as (
		delete from readpast.swept s
		 where s.ctid = any (array(
		           select s.ctid from readpast.swept s
		            where s.at between newest - interval '1 minute' and newest
		              for update skip locked))
		returning s.at)
	select bool_or(g.at = newest) into mine from gone g;
	if in_turn and mine is not true
	   and newest between moment - interval '3 seconds' and moment then
		return false;
	end if;
	insert into readpast.swept (at, seq, xid)
	values (moment, drawn, pg_current_xact_id());
	perform readpast.note_drops(drops);
	return true;
end
$body$;
