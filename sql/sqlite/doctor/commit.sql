-- commit: list the setting `synchronous` of this URL if a commit does not wait until it
-- is on the disk.

select iif(synchronous = 0, 'off', 'normal') as setting,
       'connections of this URL' as whom
  from pragma_synchronous where synchronous < 2;
