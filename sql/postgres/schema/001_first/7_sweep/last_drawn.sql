-- last_drawn: the last number of the ready line that was drawn.
--
-- Result: the number; 0 if none was drawn; null if this transaction has its id already,
-- because a tick must read the number before the transaction gets its id.
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
