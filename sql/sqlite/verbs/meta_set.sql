-- meta_set: store a value under a name, in place of an earlier value. If :value is null,
-- the name is deleted.

delete from readpast_meta where name = :name;

insert into readpast_meta (name, value)
select :name, :value where :value is not null;
