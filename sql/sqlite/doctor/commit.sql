-- commit: return the setting `synchronous` of this connection if it is `off` or
-- `normal`. With these values SQLite reports a commit before the commit is on the disk.

select iif(synchronous = 0, 'off', 'normal') as setting,
       'connections of this URL' as whom
  from pragma_synchronous where synchronous < 2;
