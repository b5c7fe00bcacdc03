-- drop_views: drop the view `jobs`, because install.sql drops the functions that the
-- view uses, and creates them again. Later install.sql creates the view again, too.

if object_id(N'readpast.jobs') is not null
	drop view [readpast].jobs;
