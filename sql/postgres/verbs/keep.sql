-- keep: set how long the done jobs :id[] are kept after their end.

update readpast.archive
   set extra.keep_ms = :keep_ms::bigint
 where id operator(pg_catalog.=) any (:id[]::bigint[])
   and state operator(pg_catalog.=) 4;
