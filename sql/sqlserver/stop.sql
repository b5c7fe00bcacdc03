-- stop: if the batch before this one has refused, compile the rest of the script but
-- run nothing of it.

if object_id(N'tempdb..#readpast_refused') is not null
	set noexec on;
