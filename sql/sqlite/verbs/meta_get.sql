-- meta_get: what is noted under a name.

-- answer:
select value from readpast_meta where name = :name;
