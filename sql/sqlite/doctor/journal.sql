-- journal: list the journal mode of the database if it is not WAL. Without WAL,
-- readers and writers wait for each other.

select journal_mode as mode from pragma_journal_mode
 where journal_mode <> 'wal';
