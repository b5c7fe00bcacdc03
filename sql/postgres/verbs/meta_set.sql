-- meta_set: store a value under a name. Null deletes the value.

with gone as (
    delete from readpast.meta
     where name operator(pg_catalog.=) :name
       and :value::pg_catalog.text is null)
insert into readpast.meta (name, value)
select :name, :value where :value::pg_catalog.text is not null
    on conflict (name) do update set value = excluded.value;
