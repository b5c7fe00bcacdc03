-- meta_set: store a value under a name; null deletes it.

delete from readpast_meta where name = :name;

insert into readpast_meta (name, value)
select :name, :value where :value is not null;
