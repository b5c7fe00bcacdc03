-- grants: tables and routines are for roles to which they are granted, and nobody else.

revoke all on all tables in schema readpast from public;
revoke execute on all functions in schema readpast from public;
