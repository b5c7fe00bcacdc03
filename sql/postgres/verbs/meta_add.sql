-- meta_add: store a value under a name, unless the name has one.

insert into readpast.meta (name, value) values (:name, :value)
    on conflict do nothing;
