-- pin: take a snapshot and hold it for as long as the connection lives, as a long report
-- does.
begin isolation level repeatable read read only; select 1;
