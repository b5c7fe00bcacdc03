-- pin: take a snapshot and hold it for as long as the connection lives, as a long report
-- does.
begin; select count(*) from sqlite_schema;
