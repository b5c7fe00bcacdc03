-- pin: hold the snapshot of now for as long as the
-- connection lives, as a long report does.
begin; select count(*) from sqlite_schema;
