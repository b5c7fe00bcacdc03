-- grants: take all rights from PUBLIC. docs/postgres.md says which rights roles need.

revoke all on all tables in schema readpast from public;
revoke execute on all functions in schema readpast from public;
