/*
 * checks.c - the table of all checks of `readpast doctor`. A check has a
 * severity, a text for the finding, and a text for the fix.
 *
 * A check is skipped on databases that have no query for it. Findings of the
 * same severity are printed in the order of this table.
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
	  "SQLite: stop all programs that use the database, make a copy of "
	  "FILE, FILE-wal and FILE-shm, and save the readable part: sqlite3 "
	  "FILE .recover | sqlite3 NEW. PostgreSQL: use a standby, or restore "
	  "a backup",
	  NULL },
	{ "filesystem", DANGER, "the file is on {name}, {reason}",
	  "move the file to a local disk; to use it from several hosts, move "
	  "to PostgreSQL",
	  check_file_system },
	{ "names", DANGER,
	  "{file} {how}: a process that opens it by another name uses another "
	  "-wal file, so jobs can vanish and ids can be given twice",
	  "{fix}", check_names },
	{ "fsync", DANGER,
	  "{name} is off on this server: a crash of the machine or a power cut "
	  "may damage the whole database",
	  "alter system set {name} = on; select pg_reload_conf()", NULL },
	{ "commit", DANGER,
	  "synchronous is {setting} for {whom}: a crash of the machine loses "
	  "the jobs that were acknowledged last",
	  "SQLite: remove synchronous from the URL. PostgreSQL: alter role ... "
	  "reset synchronous_commit (or alter database, alter system)",
	  NULL },
	{ "standby", DANGER,
	  "standby {standby} is asynchronous ({state}, {behind_bytes} behind): "
	  "a failover to it loses the last jobs and claims",
	  "alter system set synchronous_standby_names = '*'; select "
	  "pg_reload_conf(); or accept the loss",
	  NULL },
	{ "clock", DANGER,
	  "{what} has a time that is {ahead_ms} in the future: the database's "
	  "clock was set back, so leases end and jobs become due that much "
	  "later",
	  "let chrony or ntpd slew the host's clock and not step it; the "
	  "present delay ends by itself",
	  NULL },
	{ "sequence", DANGER,
	  "sequence {sequence} is at {at} of {most}, {per_cent} %: after its "
	  "last number no job can be enqueued",
	  "move to a new schema or database before the sequence ends (readpast "
	  "copy)",
	  NULL },
	{ "public", DANGER,
	  "every role that can connect may {privileges} {table}",
	  "revoke all on {table} from public, and grant it to roles", NULL },

	/* ---- jobs do not run ---- */
	{ "schema", TROUBLE, "no queue can be used here: {message}",
	  "do what this message says: the database is sound, and nothing is "
	  "lost",
	  NULL },
	{ "format", TROUBLE,
	  "{file} is not a SQLite database: its first bytes are not \"SQLite "
	  "format 3\"",
	  "use the right file in the URL; if this was the database, restore a "
	  "backup, and then: readpast init --after-restore",
	  check_format },
	{ "owner", TROUBLE,
	  "{file} belongs to {owner}, and some users who can write {database} "
	  "cannot write it: their calls fail",
	  "as root: chown --reference={'database} {'file}; users who share a "
	  "queue should keep it in a directory of their group (chmod g+s)",
	  check_owner },
	{ "disk", TROUBLE, "nothing can be written to {file}: {why}", "{fix}",
	  check_disk },
	{ "lock", TROUBLE,
	  "{holder} holds the write lock of {file}, and has not committed for "
	  "{lasts_ms}: all other writers wait, and then fail",
	  "{fix}", check_lock },
	{ "readonly", TROUBLE, "nothing can be written: {why}",
	  "use the URL of a server that accepts writes (with several hosts in "
	  "the URL, target_session_attrs=read-write chooses one)",
	  NULL },
	{ "privileges", TROUBLE,
	  "role {role} may neither enqueue jobs nor work on them: it lacks "
	  "{lacking}",
	  "grant what a producer or a worker needs (readpast(7), Grants), or "
	  "use another role",
	  NULL },
	{ "writable", TROUBLE,
	  "schema {schema} holds readpast's routines, and {others} may create "
	  "objects in it. A routine that they create there can run with the "
	  "rights of the roles that call readpast",
	  "{fix}; then look in the schema for objects that readpast did not "
	  "create",
	  NULL },
	{ "index", TROUBLE, "index {index} {what}", "{fix}", NULL },
	{ "plan", TROUBLE,
	  "a claim uses {how} and reads {pages} pages: it should use index "
	  "job_line and read only a few pages",
	  "{fix}", check_plan },
	{ "paused", JOBS_WAIT,
	  "queue {queue} has ready jobs and has been paused for "
	  "{paused_ms}{because}",
	  "readpast resume {'queue}", NULL },
	{ "silent", JOBS_WAIT,
	  "worker {worker}{place} has not been heard from for {silent_ms}; it "
	  "served {queues}",
	  "start a new worker; the jobs of the silent worker become ready "
	  "again when their leases end; the worker's entry is deleted an hour "
	  "after its last heartbeat",
	  NULL },
	{ "nobody", JOBS_WAIT,
	  "queue {queue} has had ready jobs for {lasts_ms}, and no worker "
	  "takes them",
	  "readpast work {*queue} -- COMMAND", NULL },
	{ "sweep", JOBS_WAIT,
	  "queue {queue}: job {example} should have been ready {late_ms} ago, "
	  "but no client sweeps",
	  "run a worker of readpast, or call readpast sweep once a second",
	  NULL },
	{ "groups", JOBS_WAIT,
	  "queue {queue}, group {group}: job {example} has waited for "
	  "{waits_ms}, although no job of the group is ready or running",
	  "set the queue's group limit to none and then back (readpast queue "
	  "set {'queue} --group-limit N), and report this as an error in "
	  "readpast",
	  NULL },
	{ "fires", JOBS_WAIT,
	  "overdue schedules: {schedules}; the first, {example}, should have "
	  "enqueued a job {late_ms} ago, but no client fires it",
	  "run a worker of readpast, or call readpast sweep once a "
	  "second{rights}",
	  NULL },
	{ "zones", JOBS_WAIT,
	  "schedules whose time zone cannot be read: {schedules}; the first is "
	  "{example}, with the error: {error}",
	  "install the package tzdata, or give the schedule another zone; a "
	  "sweep tries again every minute",
	  NULL },
	{ "leases", JOBS_WAIT,
	  "queue {queue}: the lease of job {example}, held by {worker}, was "
	  "not renewed in time and ends in {left_ms} (such jobs: {jobs})",
	  "find out whether the process that holds the job hangs; a client "
	  "that is not a worker has to extend its leases itself",
	  NULL },
	{ "late", JOBS_WAIT,
	  "queue {queue}: its first ready job has waited for {waits_ms}; jobs "
	  "that are ready: about {in_line}, finished in the last minute: "
	  "{per_minute}",
	  "run more workers (readpast work {*queue} -j N), or enqueue fewer "
	  "jobs",
	  NULL },
	{ "killers", TROUBLE,
	  "job {id} of queue {queue} may have killed its worker: its lease ran "
	  "out in attempt {attempts}; it is {state}",
	  "look at the job (readpast show {id}); then fix the handler, or "
	  "readpast cancel {id}",
	  NULL },
	{ "dead", TROUBLE,
	  "queue {queue}: jobs that died in the last 24 hours: {jobs}, with "
	  "the "
	  "error: {error}",
	  "look at one of these jobs (readpast show {example}); when the cause "
	  "is fixed: "
	  "readpast retry --dead {'queue}",
	  NULL },

	/* ---- time or space is wasted ---- */
	{ "wakeup", WARNING,
	  "notifications do not reach workers here, so workers poll once a "
	  "second: {why}",
	  "give workers the URL of the server itself, not of a pooler",
	  check_wakeup },
	{ "isolation", WARNING,
	  "the default isolation level of this role is {level}: claims and "
	  "sweeps that are called in SQL are refused at this level",
	  "alter role ... set default_transaction_isolation = 'read "
	  "committed'",
	  NULL },
	{ "prepare", WARNING,
	  "prepared transactions in this database: {prepared}. If a worker "
	  "waits for jobs of a queue, PREPARE TRANSACTION fails in each "
	  "transaction that has enqueued a job into that queue",
	  "begin such transactions with: set local {schema}.notify = off "
	  "(readpast(7), Prepared transactions)",
	  NULL },
	{ "path", WARNING,
	  "schema {schema} is in the search_path of role {role}, and {others} "
	  "may create objects in it. A function that they create there can run "
	  "with the rights of {role}",
	  "{fix}; or remove the schema from the path with alter role {role} "
	  "set "
	  "search_path",
	  NULL },
	{ "checkpoint", WARNING,
	  "the -wal file has {waiting_bytes} that no checkpoint can copy: "
	  "{holder} keeps an older read transaction open",
	  "let that process end its transaction (a statement that was not "
	  "reset, a cursor left open), or end the process",
	  check_checkpoint },
	{ "snapshot", WARNING,
	  "{holder} keeps a snapshot that is {age_ms} old: vacuum cannot "
	  "remove rows that were deleted since then; {doing}",
	  "{fix}", NULL },
	{ "statistics", WARNING, "", "", NULL },
	{ "vacuum", WARNING,
	  "{where}: {what}, so dead rows stay, and the tables grow without end",
	  "{fix}", NULL },
	{ "bloat", WARNING,
	  "table {table} has about {dead} dead rows and {live} live ones (the "
	  "server's estimate) in {table_bytes}; its indexes have "
	  "{index_bytes}; last vacuum: {vacuumed}",
	  "see the findings \"snapshot\" and \"vacuum\", which show why vacuum "
	  "fails; then run: vacuum (analyze) {table}",
	  NULL },
	{ "hollow", WARNING,
	  "index {index} takes {size_bytes} for about {rows} rows (the "
	  "server's estimate)",
	  "reindex index concurrently {index}", NULL },
	{ "reloptions", WARNING,
	  "table {table} has fillfactor {fillfactor}: claims find no free "
	  "space in a row's page, and have to write every index",
	  "alter table {table} set (fillfactor = 45)", NULL },
	{ "marks", WARNING,
	  "queue {queue}: the sweep lags behind the claims, by {behind} "
	  "positions of the ready line",
	  "run workers of readpast, or call readpast sweep once a second, "
	  "until the sweep has caught up",
	  NULL },
	{ "journal", WARNING,
	  "the journal mode is {mode}: readers and writers wait for each other",
	  "sqlite3 FILE 'pragma journal_mode = wal' while no other process has "
	  "the file open",
	  NULL },
	{ "pages", WARNING,
	  "{free_bytes} of {file_bytes} in the file are unused",
	  "if jobs will fill the file again, do nothing; otherwise run sqlite3 "
	  "FILE vacuum while no process uses the file",
	  NULL },
	{ NULL, DANGER, NULL, NULL, NULL },
};
