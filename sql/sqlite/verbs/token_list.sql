-- token_list: return the tokens of the HTTP server, by name.

-- answer:
select name, key, hash, scopes, created_at from readpast_token order by name;
