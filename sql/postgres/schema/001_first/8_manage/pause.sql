-- pause: pause a queue: it takes jobs and hands none out.

create function readpast.pause(queue text) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $body$
begin
	perform readpast.queue_pause(queue, true);
	if not found then
		raise exception 'no queue named %', queue using errcode = 'RP005';
	end if;
end
$body$;
