-- meta_add: note it, unless something is noted under that name.

insert into readpast.meta (name, value) values (:name::text, :value::text)
    on conflict do nothing;
