-- meta_add: store a value under a name. If the name already has a value, that value
-- stays.

insert into readpast.meta (name, value) values (:name, :value)
    on conflict do nothing;
