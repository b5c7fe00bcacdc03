-- grants: no right is granted to PUBLIC; docs/postgres.md says what roles need.

revoke all on all tables in schema readpast from public;
revoke execute on all functions in schema readpast from public;
