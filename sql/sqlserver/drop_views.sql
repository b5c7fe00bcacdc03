-- drop_views: drop the view `jobs`, because install.sql drops the functions that the
-- view uses. When install.sql has created them again, it creates the view again.

if object_id(N'readpast.jobs') is not null
	drop view [readpast].jobs;
