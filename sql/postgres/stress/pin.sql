-- pin: take a snapshot and hold it until the connection ends, as a long report does.
begin isolation level repeatable read read only; select 1;
