-- index: list the indexes of the schema that are missing in the database.

select column1 as 'index', 'is missing' as what,
       'create it again as sql/sqlite/schema defines it' as fix
  from (values ('readpast_job_line'), ('readpast_job_due'),
               ('readpast_job_held'), ('readpast_job_suspect'),
               ('readpast_job_unique'), ('readpast_archive_state'),
               ('readpast_archive_keep'))
 where column1 not in (select name from sqlite_schema where type = 'index');
