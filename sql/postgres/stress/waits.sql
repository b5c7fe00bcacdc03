-- waits: count the sessions of the stress test by what they are doing or waiting for
-- now.
select coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
  from pg_stat_activity
 where application_name = current_setting('application_name')
   and pid <> pg_backend_pid()
   and state = 'active'
   and backend_type = 'client backend'
 group by 1, 2;
