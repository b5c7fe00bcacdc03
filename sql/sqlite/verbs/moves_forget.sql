-- moves_forget: delete the records of finished moves of :queues (a JSON array of names)
-- into this database. Such a record has the name 'copy from SOURCE: QUEUE', where SOURCE
-- has 32 characters, and a value that begins with 'moved'.

delete from readpast_meta
 where name glob 'copy from *' and value glob 'moved *'
   and substr(name, 45) in (select value from json_each(:queues));
