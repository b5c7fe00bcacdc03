-- meta_get: what is noted under a name.

select value from readpast.meta where name operator(pg_catalog.=) :name;
