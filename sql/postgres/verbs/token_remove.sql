-- token_remove: delete a token of the HTTP server.

delete from readpast.token
 where name operator(pg_catalog.=) :name
returning name;
