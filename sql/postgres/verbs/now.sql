-- now: return the server's clock in milliseconds. This works even for a role without
-- rights on the schema.

select pg_catalog.floor(
           pg_catalog.date_part('epoch', pg_catalog.clock_timestamp())
           operator(pg_catalog.*) 1000::pg_catalog.float8
       )::pg_catalog.int8 as now;
