-- backoff_list: convert a list of delays to the form in which a job's row stores it.
-- delays: the list, or null.
-- Result: a JSON array of milliseconds, or null.
-- Locks: none.

create function readpast.backoff_list(delays interval[]) returns json
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $body$
begin
	return case when delays is not null
	            then '[' || array_to_string(
	                            array(select readpast.to_ms(d.delay)
	                                    from unnest(delays) with ordinality
	                                         as d(delay, number)
	                                   order by d.number), ',') || ']' end;
end
$body$;
