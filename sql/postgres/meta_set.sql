-- meta_set: note it; null: forget it.

with gone as (
    delete from readpast.meta
     where name = :name::text and :value::text is null)
insert into readpast.meta (name, value)
select :name::text, :value::text where :value::text is not null
    on conflict (name) do update set value = excluded.value;
