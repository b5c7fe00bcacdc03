-- token_list: return the tokens of the HTTP server, by name.

select name, key, hash, scopes, created_at from readpast.token order by name;
