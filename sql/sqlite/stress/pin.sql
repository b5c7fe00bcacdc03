-- pin: take a snapshot and hold it until the connection is closed, as a long report does.
begin; select count(*) from sqlite_schema;
