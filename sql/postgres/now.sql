-- now: the database's clock, milliseconds since 1970 UTC.

select readpast.epoch_ms(pg_catalog.clock_timestamp()) as now;
