-- commit: what this URL says is not waited for.

select iif(synchronous = 0, 'off', 'normal') as setting,
       'connections of this URL' as whom
  from pragma_synchronous where synchronous < 2;
