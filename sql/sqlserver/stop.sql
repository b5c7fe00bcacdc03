-- stop: stop the script if the batch before this one, `check`, has raised an error. Then
-- the table #readpast_refused exists. After `set noexec on` the server only compiles the
-- batches, and does not run them.

if object_id(N'tempdb..#readpast_refused') is not null
	set noexec on;
