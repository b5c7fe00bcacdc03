-- grants: Everything above is for whoever is granted it.

revoke all on all tables in schema readpast from public;
revoke execute on all functions in schema readpast from public;
