-- now: the server's clock. A role without rights on the schema may ask, too.

select pg_catalog.floor(
           pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())
           operator(pg_catalog.*) 1000::pg_catalog.float8
       )::pg_catalog.int8 as now;
