-- token_remove: delete a token of the HTTP server.

-- answer:
delete from readpast_token where name = :name returning name;
