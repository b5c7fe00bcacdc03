-- note_short: A lease was asked for that is short, where the queue's may not
-- be: said ahead, so that it is said rarely, and without waiting for who says
-- the same.

create function readpast.note_short(queue_id integer) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
declare
	moment timestamptz := clock_timestamp();
begin
	insert into readpast.short (queue_id, until)
	select note_short.queue_id, moment + interval '1 minute'
	 where not exists (select 1 from readpast.short s
	                    where s.queue_id = note_short.queue_id
	                      and s.until > moment + interval '30 seconds');
end
$body$;
