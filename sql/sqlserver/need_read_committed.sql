-- need_read_committed: raise an error if the transaction is doomed or is not at READ
-- COMMITTED. Claims and sweeps need READPAST, which SERIALIZABLE does not allow.
-- At SNAPSHOT a claim would not see the newest version of a row.
-- Errors: 52007 wrong isolation level, 52008 doomed transaction.
-- Locks: none.

alter procedure [readpast].need_read_committed
as
set nocount on;
set xact_abort on;
if xact_state() = -1
	throw 52008, N'the transaction is doomed: roll it back', 1;
if (select s.transaction_isolation_level from sys.dm_exec_sessions as s
     where s.session_id = @@spid) <> 2
	throw 52007, N'claims and sweeps work only at READ COMMITTED: SET TRANSACTION ISOLATION LEVEL READ COMMITTED before the transaction', 1;
