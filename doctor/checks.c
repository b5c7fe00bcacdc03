/*
 * checks.c - every check: how bad it is, what is said, what helps.
 *
 * A check is done where the database has its question, or what is looked at.
 * Within a level
 * the order is this one.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "doctor.h"

#include <stddef.h>

const char *const level_words[LEVELS] = { "danger", "trouble", "warning" };

const struct check checks[] = {
	/* ---- jobs can be lost ---- */
	{ "integrity", DANGER, "the file is damaged: {problem}",
	  "stop all that writes, copy FILE, FILE-wal and FILE-shm away, and "
	  "save what can be read: sqlite3 FILE .recover | sqlite3 NEW",
	  NULL },
	{ "filesystem", DANGER, "the file is on {name}, {reason}",
	  "move it to a local disk; for several hosts use PostgreSQL",
	  look_file_system },
	{ "names", DANGER,
	  "{file} {how}: a process that opens it by another name has a -wal "
	  "of its own, so that jobs vanish and ids are given twice",
	  "{fix}", look_names },
	{ "fsync", DANGER,
	  "{name} is off on this server: its crash or a power cut may damage "
	  "the whole database",
	  "alter system set {name} = on; select pg_reload_conf()", NULL },
	{ "commit", DANGER,
	  "synchronous is {setting} for {whom}: jobs that were acknowledged "
	  "last are gone after a crash of the machine",
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
	  "nothing can be put in",
	  "move to a new schema, or database, before it ends", NULL },
	{ "public", DANGER,
	  "everybody who may connect may {privileges} {table}",
	  "revoke all on {table} from public, and grant it to roles", NULL },

	/* ---- jobs do not run ---- */
	{ "schema", TROUBLE, "no queue can be used here: {message}",
	  "readpast init, or a readpast as new as the schema", NULL },
	{ "owner", TROUBLE,
	  "{file} belongs to {owner}, and users who may write {database} "
	  "may not write it: their calls fail",
	  "as root: chown --reference={database} {file}; and let users who "
	  "share a queue use a directory of their group (chmod g+s)",
	  look_owner },
	{ "readonly", TROUBLE, "nothing can be written: {why}",
	  "use the URL of a server that can be written to "
	  "(target_session_attrs=read-write chooses one of several)",
	  NULL },
	{ "privileges", TROUBLE,
	  "role {role} may neither put jobs in nor work on them: it lacks "
	  "{lacking}",
	  "grant it what docs/postgres.md lists, or use another role", NULL },
	{ "writable", TROUBLE,
	  "schema {schema} is ours, and {others} may create in it: routines "
	  "put there run with the rights of who calls ours",
	  "{fix}; then see what is there that is not ours", NULL },
	{ "index", TROUBLE, "index {index} {what}", "{fix}", NULL },
	{ "plan", TROUBLE,
	  "a claim's statement runs by {how} and reads {pages} pages: it "
	  "should "
	  "read a few, by job_line",
	  "{fix}", look_plan },
	{ "sweep", TROUBLE,
	  "queue {queue}: job {example} should have come into line {late_ms} "
	  "ago: nobody sweeps",
	  "run a worker of readpast, or call readpast sweep once a second",
	  NULL },
	{ "nobody", TROUBLE,
	  "queue {queue} has jobs ready, and nobody works on them",
	  "readpast work {queue} -- COMMAND", NULL },
	{ "killers", TROUBLE,
	  "job {id} of queue {queue} may have killed its worker: its lease "
	  "ran out, attempt {attempts}; it is {state}",
	  "readpast show {id}; then mend the handler, or readpast cancel "
	  "{id}",
	  NULL },
	{ "leases", TROUBLE,
	  "queue {queue}: the lease of job {example}, held by {worker}, was "
	  "not "
	  "renewed in time and ends in {left_ms} (such jobs: {jobs})",
	  "see whether that process stands still; a client that is no worker "
	  "has "
	  "to extend it itself",
	  NULL },
	{ "silent", TROUBLE,
	  "worker {worker} on host {host} (process {pid}) has not been heard "
	  "of for {silent_ms}; it served {queues}",
	  "start it again; what it held is ready when the lease is over, and "
	  "its row goes after an hour",
	  NULL },
	{ "dead", TROUBLE,
	  "queue {queue}: {jobs} died within a day of: {error}",
	  "readpast show {example}; when it is mended: readpast retry --dead "
	  "{queue}",
	  NULL },
	{ "late", TROUBLE,
	  "queue {queue}: the first in line waits for {waits_ms}; some "
	  "{in_line} (an estimate) are in line, and {per_minute} were "
	  "finished in the last minute",
	  "more workers (readpast work {queue} -j N), or fewer jobs", NULL },
	{ "paused", TROUBLE,
	  "queue {queue} has jobs ready and is paused for {paused_ms}",
	  "readpast resume {queue}", NULL },

	/* ---- it costs time, or space ---- */
	{ "wakeup", WARNING,
	  "workers here are not woken and look for work once a second: {why}",
	  "give workers the URL of the server itself", look_wakeup },
	{ "isolation", WARNING,
	  "sessions of this role begin at {level}, where claims and sweeps "
	  "that "
	  "are called in SQL are refused",
	  "alter role ... set default_transaction_isolation = 'read "
	  "committed'",
	  NULL },
	{ "prepare", WARNING,
	  "{prepared} transactions are prepared in this database: one that "
	  "enqueues cannot be, while a worker waits for jobs of that queue",
	  "set local readpast.notify = off first, in those that enqueue and "
	  "are to be prepared (docs/postgres.md)",
	  NULL },
	{ "path", WARNING,
	  "schema {schema} is in the search_path of role {role}, and {others} "
	  "may create in it: what they put there can run with {role}'s rights",
	  "{fix}; or alter role {role} set search_path, without it", NULL },
	{ "checkpoint", WARNING,
	  "the -wal has {waiting_bytes} that cannot go into the file: {holder} "
	  "reads since before",
	  "let it end its transaction (a statement that was not reset, a "
	  "cursor "
	  "left open), or end it",
	  look_checkpoint },
	{ "snapshot", WARNING,
	  "{holder} keeps a snapshot of {age_ms}: vacuum removes nothing that "
	  "went since; {doing}",
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
	  "queue {queue}: the sweep is {behind} places of the line behind the "
	  "claims",
	  "let workers of readpast run, or call readpast sweep once a second, "
	  "until it has caught up",
	  NULL },
	{ "journal", WARNING,
	  "the journal mode is {mode}: who reads and who writes wait for each "
	  "other",
	  "sqlite3 FILE 'pragma journal_mode = wal' while nobody has it open",
	  NULL },
	{ "pages", WARNING, "{free_bytes} of {file_bytes} in the file are free",
	  "nothing, if it is to grow again; else sqlite3 FILE vacuum while "
	  "nobody works",
	  NULL },
	{ NULL, DANGER, NULL, NULL, NULL },
};
