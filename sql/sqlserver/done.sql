-- done: print what the script has installed.

declare @made nvarchar(100), @procedures int;
select @made = m.value from [readpast].meta as m where m.name = N'installed_at';
select @procedures = count(*) from sys.procedures as p
 where p.schema_id = schema_id(N'readpast');
print concat(N'PREVIEW: readpast for SQL Server, version 1 of its tables, which were created at ',
             @made, N' UTC. ', @procedures, N' procedures are installed in the schema readpast. ',
             N'Roles: readpast_producer, readpast_worker, readpast_admin.');
print N'Try: exec readpast.enqueue @queue = N''mail'', @text = N''hello''';
print N'     exec readpast.claim @queue = N''mail'', @n = 10, @worker = N''w1''';
