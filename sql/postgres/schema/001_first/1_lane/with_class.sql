-- with_class: The same queue and priority, another class.

create function readpast.with_class(lane_id bigint, class integer)
returns bigint
language sql immutable
as $body$
select lane_id operator(pg_catalog./) 4 operator(pg_catalog.*) 4
       operator(pg_catalog.+) class
$body$;
