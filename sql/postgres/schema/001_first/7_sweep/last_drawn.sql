-- last_drawn: return the last number that was drawn from the sequence `line`.
-- make_tick() stores this number in a tick, a row of the table `tick`.
-- Result: the number, or 0 if none was drawn. Null if this transaction has an id
-- already. Such a transaction cannot make a tick, because a tick is correct only if
-- this number was read before the transaction got its id.
-- Locks: none.

create function readpast.last_drawn() returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	return (select case when s.is_called then s.last_value else 0 end
	          from readpast.line s
	         where pg_current_xact_id_if_assigned() is null);
end
$body$;
