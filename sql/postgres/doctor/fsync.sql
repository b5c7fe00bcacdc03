-- fsync: settings with which the server acknowledges a commit before all of it is on
-- the disk.

select s.name
  from pg_settings s
 where s.name in ('fsync', 'full_page_writes') and s.setting = 'off';
