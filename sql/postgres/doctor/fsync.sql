-- fsync: list settings that let the server acknowledge a commit before all of it is on
-- the disk.

select s.name
  from pg_settings s
 where s.name in ('fsync', 'full_page_writes') and s.setting = 'off';
