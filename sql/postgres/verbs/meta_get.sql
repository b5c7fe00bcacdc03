-- meta_get: return the value that is stored under a name.

select value from readpast.meta where name operator(pg_catalog.=) :name;
