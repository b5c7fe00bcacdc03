-- locks: settings of the table `job` that Babelfish does not have.
-- ALLOW_PAGE_LOCKS = OFF: READPAST must skip single rows, and not whole pages. The
-- price is that ALTER INDEX REORGANIZE is impossible. Rebuild the index instead.
-- LOCK_ESCALATION = DISABLE: without this setting, a claim or a sweep of more than
-- 5,000 jobs would lock the whole table, and all other calls would wait.
-- OPTIMIZE_FOR_SEQUENTIAL_KEY: it makes inserts faster when many sessions insert at
-- the end of the same lane. SQL Server 2019 and later have the option.

if serverproperty('BabelfishVersion') is null
begin
	exec sp_executesql N'ALTER INDEX ALL ON [readpast].job SET (ALLOW_PAGE_LOCKS = OFF)';
	exec sp_executesql N'ALTER TABLE [readpast].job SET (LOCK_ESCALATION = DISABLE)';
	if cast(serverproperty('ProductMajorVersion') as int) >= 15
	   or serverproperty('EngineEdition') in (5, 8)
		exec sp_executesql N'ALTER INDEX job_line ON [readpast].job
			SET (OPTIMIZE_FOR_SEQUENTIAL_KEY = ON)';
end;
