-- moves_forget: delete the records of finished moves of :queues (a JSON array of names)
-- into this database. Such a record has the name 'copy from SOURCE: QUEUE', where SOURCE
-- has 32 characters, and a value that begins with 'moved'.

delete from readpast.meta
 where pg_catalog.starts_with(name, 'copy from ')
   and pg_catalog.starts_with(value, 'moved ')
   and :queues::pg_catalog.text::pg_catalog.jsonb
       operator(pg_catalog.?) pg_catalog.substr(name, 45);
