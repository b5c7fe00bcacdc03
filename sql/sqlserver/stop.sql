-- stop: if the batch before this one, `check`, has raised an error, let the server
-- compile the rest of the script without running it.

if object_id(N'tempdb..#readpast_refused') is not null
	set noexec on;
