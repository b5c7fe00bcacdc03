/*
 * checks.c - the table of checks: severity, the finding in words, the fix.
 *
 * A check is skipped on databases that have no query for it. Findings of one
 * level are printed in the order of this table.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "doctor.h"

#include <stddef.h>

const char *const level_words[LEVELS] = { "danger", "trouble", "warning" };

const struct check checks[] = {
	/* ---- jobs can be lost ---- */
	{ "integrity", DANGER, "the database is damaged: {problem}",
	  "SQLite: stop all that writes, copy FILE, FILE-wal and FILE-shm "
	  "away, and save what can be read: sqlite3 FILE .recover | sqlite3 "
	  "NEW. PostgreSQL: use a standby, or restore a backup",
	  NULL },
	{ "filesystem", DANGER, "the file is on {name}, {reason}",
	  "move it to a local disk; for several hosts use PostgreSQL",
	  check_file_system },
	{ "names", DANGER,
	  "{file} {how}: a process that opens it by another name has a -wal "
	  "of its own, so that jobs vanish and ids are given twice",
	  "{fix}", check_names },
	{ "fsync", DANGER,
	  "{name} is off on this server: its crash or a power cut may damage "
	  "the whole database",
	  "alter system set {name} = on; select pg_reload_conf()", NULL },
	{ "commit", DANGER,
	  "synchronous is {setting} for {whom}: the last acknowledged jobs are "
	  "lost if the machine crashes",
	  "SQLite: leave synchronous out of the URL. PostgreSQL: alter role "
	  "... reset synchronous_commit (or alter database, alter system)",
	  NULL },
	{ "standby", DANGER,
	  "standby {standby} is asynchronous ({state}, {behind_bytes} "
	  "behind): after a failover to it the last jobs and claims are gone",
	  "alter system set synchronous_standby_names = '*'; select "
	  "pg_reload_conf(): or accept it",
	  NULL },
	{ "clock", DANGER,
	  "{what} was seen {ahead_ms} from now: the database's clock was set "
	  "back, so leases end and jobs come due later by that much",
	  "let the host's clock be slewed, not stepped (chrony, ntpd); it "
	  "passes by itself",
	  NULL },
	{ "sequence", DANGER,
	  "sequence {sequence} is at {at} of {most}, {per_cent} %: at its end "
	  "no job can be enqueued",
	  "move to a new schema, or database, before it ends", NULL },
	{ "public", DANGER,
	  "everybody who may connect may {privileges} {table}",
	  "revoke all on {table} from public, and grant it to roles", NULL },

	/* ---- jobs do not run ---- */
	{ "schema", TROUBLE, "no queue can be used here: {message}",
	  "do as it says: the database is sound, and nothing is lost", NULL },
	{ "format", TROUBLE,
	  "{file} is no SQLite database: it does not begin like one",
	  "name the right file in the URL; if this was the database, put a "
	  "backup in its place, and then: readpast init --after-restore",
	  check_format },
	{ "owner", TROUBLE,
	  "{file} belongs to {owner}, and users who may write {database} "
	  "may not write it: their calls fail",
	  "as root: chown --reference={database} {file}; and let users who "
	  "share a queue use a directory of their group (chmod g+s)",
	  check_owner },
	{ "disk", TROUBLE, "nothing can be written to {file}: {why}", "{fix}",
	  check_disk },
	{ "lock", TROUBLE,
	  "{holder} holds the write lock of {file}, and nothing was committed "
	  "for {lasts_ms}: all other writers wait, and then fail",
	  "{fix}", check_lock },
	{ "readonly", TROUBLE, "nothing can be written: {why}",
	  "use the URL of a server that can be written to "
	  "(target_session_attrs=read-write chooses one of several)",
	  NULL },
	{ "privileges", TROUBLE,
	  "role {role} may neither enqueue jobs nor work on them: it lacks "
	  "{lacking}",
	  "grant what a producer or a worker needs (readpast(7), Grants), or "
	  "use another role",
	  NULL },
	{ "writable", TROUBLE,
	  "schema {schema} is ours, and {others} may create in it: routines "
	  "created there can run with the rights of those who call ours",
	  "{fix}; then look for objects in it that readpast did not create",
	  NULL },
	{ "index", TROUBLE, "index {index} {what}", "{fix}", NULL },
	{ "plan", TROUBLE,
	  "a claim runs by {how} and reads {pages} pages: it should read a "
	  "few, by index job_line",
	  "{fix}", check_plan },
	{ "paused", JOBS_WAIT,
	  "queue {queue} has jobs ready and is paused for "
	  "{paused_ms}{because}",
	  "readpast resume {queue}", NULL },
	{ "silent", JOBS_WAIT,
	  "worker {worker} on host {host} (process {pid}) has not been heard "
	  "of for {silent_ms}; it served {queues}",
	  "start a new one; its jobs are ready again when their leases end, "
	  "and it is forgotten after an hour",
	  NULL },
	{ "nobody", JOBS_WAIT,
	  "queue {queue} has had jobs ready for {lasts_ms}, and nobody works "
	  "on them",
	  "readpast work {queue} -- COMMAND", NULL },
	{ "sweep", JOBS_WAIT,
	  "queue {queue}: job {example} should have been ready {late_ms} ago, "
	  "but nobody sweeps",
	  "run a worker of readpast, or call readpast sweep once a second",
	  NULL },
	{ "leases", JOBS_WAIT,
	  "queue {queue}: the lease of job {example}, held by {worker}, was "
	  "not "
	  "renewed in time and ends in {left_ms} (such jobs: {jobs})",
	  "see whether that process hangs; a client other than a worker has to "
	  "extend its leases itself",
	  NULL },
	{ "late", JOBS_WAIT,
	  "queue {queue}: the first job in line has waited for {waits_ms}; "
	  "some {in_line} (an estimate) are in line, and {per_minute} were "
	  "finished in the last minute",
	  "more workers (readpast work {queue} -j N), or fewer jobs", NULL },
	{ "killers", TROUBLE,
	  "job {id} of queue {queue} may have killed its worker: its lease "
	  "ran out, attempt {attempts}; it is {state}",
	  "readpast show {id}; then fix the handler, or readpast cancel {id}",
	  NULL },
	{ "dead", TROUBLE,
	  "queue {queue}: {jobs} died in the last 24 hours, of: {error}",
	  "readpast show {example}; when the cause is fixed: readpast retry "
	  "--dead {queue}",
	  NULL },

	/* ---- it costs time, or space ---- */
	{ "wakeup", WARNING,
	  "notifications do not reach workers here, so they poll once a "
	  "second: {why}",
	  "give workers the URL of the server itself", check_wakeup },
	{ "isolation", WARNING,
	  "transactions of this role begin at {level}, where claims and sweeps "
	  "that are called in SQL are refused",
	  "alter role ... set default_transaction_isolation = 'read "
	  "committed'",
	  NULL },
	{ "prepare", WARNING,
	  "{prepared} transactions are prepared in this database: preparing "
	  "one that enqueues fails while a worker waits for jobs of that queue",
	  "begin those that enqueue with: set local readpast.notify = off "
	  "(readpast(7), Prepared transactions)",
	  NULL },
	{ "path", WARNING,
	  "schema {schema} is in the search_path of role {role}, and {others} "
	  "may create in it: what they put there can run with {role}'s rights",
	  "{fix}; or alter role {role} set search_path, without it", NULL },
	{ "checkpoint", WARNING,
	  "the -wal has {waiting_bytes} that cannot be checkpointed: {holder} "
	  "keeps an older read transaction open",
	  "let it end its transaction (a statement that was not reset, a "
	  "cursor "
	  "left open), or end it",
	  check_checkpoint },
	{ "snapshot", WARNING,
	  "{holder} keeps a snapshot that is {age_ms} old: vacuum cannot "
	  "remove what was deleted since; {doing}",
	  "{fix}", NULL },
	{ "statistics", WARNING, "", "", NULL },
	{ "vacuum", WARNING,
	  "{where}: {what}: dead rows stay, and the tables grow without end",
	  "{fix}", NULL },
	{ "bloat", WARNING,
	  "table {table} has about {dead} dead rows to {live} live ones (the "
	  "server's estimate) in {table_bytes}, and {index_bytes} of indexes; "
	  "vacuumed: {vacuumed}",
	  "see what keeps vacuum from it (snapshot, vacuum); then vacuum "
	  "(analyze) {table}",
	  NULL },
	{ "hollow", WARNING,
	  "index {index} takes {size_bytes} for about {rows} rows (the "
	  "server's estimate)",
	  "reindex index concurrently {index}", NULL },
	{ "reloptions", WARNING,
	  "table {table} has fillfactor {fillfactor}: claims find no room in "
	  "their page and write every index",
	  "alter table {table} set (fillfactor = 45)", NULL },
	{ "marks", WARNING,
	  "queue {queue}: the sweep is {behind} places behind the claims",
	  "let workers of readpast run, or call readpast sweep once a second, "
	  "until it has caught up",
	  NULL },
	{ "journal", WARNING,
	  "the journal mode is {mode}: readers and writers wait for each other",
	  "sqlite3 FILE 'pragma journal_mode = wal' while nobody has it open",
	  NULL },
	{ "pages", WARNING, "{free_bytes} of {file_bytes} in the file are free",
	  "nothing, if it will grow again; else sqlite3 FILE vacuum while "
	  "nobody uses it",
	  NULL },
	{ NULL, DANGER, NULL, NULL, NULL },
};
