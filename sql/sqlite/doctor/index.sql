-- index: list the indexes of the schema that are missing in the database.

select value as 'index', 'is missing' as what,
       'create it again as sql/sqlite/schema defines it' as fix
  from json_each(:indexes)
 where value not in (select name from sqlite_schema where type = 'index');
