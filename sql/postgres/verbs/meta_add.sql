-- meta_add: note it, unless something is noted under that name.

insert into readpast.meta (name, value) values (:name, :value)
    on conflict do nothing;
