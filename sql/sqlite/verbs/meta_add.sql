-- meta_add: store a value under a name if no value is stored under this name.

insert into readpast_meta (name, value) values (:name, :value)
    on conflict do nothing;
