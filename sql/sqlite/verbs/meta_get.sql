-- meta_get: return the value that is stored under a name.

-- answer:
select value from readpast_meta where name = :name;
