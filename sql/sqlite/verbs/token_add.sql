-- token_add: add a token of the HTTP server. If a token of this name exists, nothing is
-- added, and no row is returned.

-- answer:
insert into readpast_token (name, key, hash, scopes, created_at)
values (:name, :key, :hash, :scopes, :now)
    on conflict do nothing
returning name;
