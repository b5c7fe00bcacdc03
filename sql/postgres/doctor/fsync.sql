-- fsync: what the server does not write before it says "committed".

select s.name
  from pg_settings s
 where s.name in ('fsync', 'full_page_writes') and s.setting = 'off';
