-- drop_views: drop the view, because functions that it uses are dropped later in
-- install.sql.

if object_id(N'readpast.jobs') is not null
	drop view [readpast].jobs;
