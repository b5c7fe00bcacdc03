-- journal: a journal mode other than WAL, in which readers and writers wait for each
-- other.

select journal_mode as mode from pragma_journal_mode
 where journal_mode <> 'wal';
