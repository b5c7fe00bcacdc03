/*
 * sqlite.h - the state of a connection, and the functions that the files of the
 * SQLite backend share. In these comments, "we" is the library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SQLITE_H
#define RP_SQLITE_H

#include <sys/stat.h>

#include "internal.h"
#include "rows.h"
#include "db/sql.h"

/* Tables generated from sql/sqlite/: the verbs, the statements that create the
 * schema, and a checksum of the schema's text. The checksum is stored in the
 * database. */
extern const struct rp_sql rp__sql_sqlite[RP_VERBS];
extern const char *const *const rp__schema_sqlite[];
extern const char rp__build_sqlite[];
#include "sqlite_api.h"

#define MOST_PARAMS 32

/* Where a statement's parameter gets its value: from the verb's parameters,
 * from the clock, or from a column of an earlier statement. */
struct source {
	int stmt; /* index of the earlier statement, or a FROM_... value */
	int index;
};
enum {
	FROM_PARAMS = -1,
	FROM_CLOCK = -2,
	FROM_CLOCK_US = -3,
	FROM_ROWS = -4,
	FROM_TAKEN = -5,
	FROM_PAYLOAD = -6, /* the payload for the job's row, see rows.h */
	FROM_APART = -7,   /* the payload for readpast_payload */
	FROM_MOST_IN_ROW = -8,
	FROM_IDS = -9,
	NO_GUARD = -10
};

/* A prepared statement. */
struct form {
	sqlite3_stmt *stmt; /* NULL: the statement is not prepared yet */
	int binds;
	struct source bind[MOST_PARAMS];
};

struct step {
	const struct rp_stmt *sql;
	struct form one, many; /* the prepared forms of struct rp_stmt, for one
				* row and for many rows; `many` is prepared when
				* it is first needed */
	sqlite3_stmt *open;    /* the statement of `one` or `many`, whichever
				* was used last; NULL: neither was used yet */
	int columns;
	int number, id; /* indices of the columns `number` and `id`; -1: the
			 * statement returns no such column */
	struct source guard;
};

struct verb {
	struct step *steps; /* NULL: the verb is not prepared yet */
	size_t count;
	size_t late;  /* index of the first late statement, see sql.h */
	size_t width; /* number of parameters in a row */
	int uses_clock, uses_ids;
};

/* The ids of the rows that the callback accepted. Late statements (see sql.h)
 * change these rows. The next verb overwrites the ids. */
struct taken {
	struct rp_value *ids;
	size_t count, room;
};

/* Ids that this connection has reserved for its jobs; see ids.c. */
struct ids {
	int64_t last;   /* the last id that was used */
	int left, more; /* how many ids are left, and how many to reserve
			 * next */
};

/* The statements that begin and end transactions. They are prepared once,
 * because parsing them each time would take longer than running them. */
enum control {
	BEGIN,
	BEGIN_IMMEDIATE,
	COMMIT,
	ROLLBACK,
	SAVEPOINT,
	RELEASE,
	ROLLBACK_TO,
	LOCK, /* takes the write lock on a caller's connection; prepared when
	       * the tables exist */
	CONTROLS
};

/* The files -wal and -shm as this connection opened them, and the state of
 * their folder when they were last checked. */
#define BESIDE 2
struct files {
	int known; /* 0: the database is not in WAL mode */
	struct beside {
		char *path;
		dev_t dev;
		ino_t ino;
	} beside[BESIDE];
	char *folder;
	struct stat folder_seen;
};

/* The contents of FILE-writers, shared by all connections that wait for the
 * write lock; see writers.c. */
struct turns {
	_Atomic uint32_t count;    /* incremented for each wake-up of a sleeping
				    * connection */
	_Atomic uint32_t sleepers; /* approximate number of connections that
				    * sleep */
	_Atomic uint32_t called;   /* 1: a connection was woken to become the
				    * first in the queue, and is not the first
				    * yet */
};

/* This connection's place in the queue of writers. Times are monotonic ms. */
struct writers {
	int fd;
	struct turns *turns;      /* FILE-writers, mapped into memory; NULL: the
				   * file is not open */
	int asks;                 /* 1: this connection is requesting the write
				   * lock now */
	int64_t most_ms;          /* the longest time to wait for the lock */
	int first;                /* 1: this connection is the first in the
				   * queue */
	int offered;              /* 1: this connection has left the lock free
				   * for the first connection in the queue, and
				   * has not had to wait for the lock since
				   * then. So the first connection has probably
				   * not taken the lock */
	int64_t since, streak_at; /* `since`: when this connection began to wait
				   * for a lock. `streak_at`: when its streak
				   * began. During a streak, which lasts for
				   * STREAK_MS, the connection takes the lock
				   * without queueing, because passing the lock
				   * to another process is slow */
	int64_t strangers_at; /* when we last noticed writers that do not use
			       * the queue; 0: never */
};

struct sqlite {
	sqlite3 *db;
	char *path;
	int64_t busy_ms;
	struct writers writers;
	int attached;          /* 1: the connection is the caller's */
	int schema, unchecked; /* RP_SCHEMA_*; `unchecked` is 1 until the schema
				* is checked */
	int is_new;            /* 1: opening this handle created the schema */
	int depth;             /* how many transactions of ours are open, one
				* inside the other; all but the outermost are
				* savepoints */
	/* The kind of the outermost transaction. OWN: a transaction of ours.
	 * JOINED: a savepoint in the caller's transaction. BARE: no transaction
	 * was begun, because a writing statement of the caller is running. */
	enum { OWN, JOINED, BARE } base;
	sqlite3_vfs *vfs; /* the VFS (file interface) of SQLite; its clock is
			   * the database's clock */
	sqlite3_stmt *control[CONTROLS];
	struct verb verbs[RP_VERBS];
	struct rows rows;   /* the parameters of the verb that is running */
	struct taken taken; /* the ids of the answer's rows that the callback
			     * accepted */
	struct ids ids;
	struct watch *watch; /* NULL until the first wait */
	int64_t waits_for;   /* version of the queues at the last wait, see
			      * struct rp_waiter */
	struct files files;
	int checkpointed;      /* frames in -wal at the last checkpoint */
	struct rp_usage usage; /* work since the last measure() */
	int measured;
	int64_t frame_bytes; /* bytes that a changed page takes in -wal */
	int64_t wal_limit;   /* size in bytes to which the next commit may
			      * truncate -wal; 0: the next commit does not
			      * truncate -wal */
};

/* errors.c */
int rp__sqlite_failed(struct sqlite *s, int rc, rp_error *error);

/* backend.c */
int rp__sqlite_execute(struct sqlite *s, const char *sql, rp_error *error);
int rp__sqlite_begin(void *db, int how, rp_error *error);
void rp__sqlite_rollback(void *db);
int rp__sqlite_commit(void *db, rp_error *error);

/* caller.c */
/* Returns 1 if a statement is running on the connection, for example a
 * statement of the caller that has called an SQL function of this library. */
int rp__sqlite_running(sqlite3 *db);
/* Returns 1 if a writing statement is running. While it runs, SQLite begins no
 * transaction or savepoint. */
int rp__sqlite_writing(sqlite3 *db);
int rp__sqlite_take_lock(struct sqlite *s, rp_error *error);

/* files.c */
/* Call this in a transaction before it writes, and before a read outside a
 * transaction. Checks that the database's files are those that this connection
 * has open. */
int rp__sqlite_check_files(struct sqlite *s, rp_error *error);
/* Returns 1 if all files of the database were deleted or replaced. */
int rp__sqlite_is_replaced(void *db);
/* Close the connection, unless it is the caller's. If -wal or -shm was deleted
 * or replaced, close it without a checkpoint. */
void rp__sqlite_close_files(struct sqlite *s);
/* Returns 1 if this process was forked from a process that had a connection
 * open. SQLite keeps a list of the locks of its process in memory. The child's
 * copy of the list still has the parent's locks, so the child may wait for a
 * lock that no process holds. Call this after a wait for the write lock has
 * timed out. */
int rp__sqlite_was_forked(const struct sqlite *s);
/* Call this before the first read of a database file that this user cannot
 * write. Fails if reading would create -wal or -shm. */
int rp__sqlite_make_nothing(struct sqlite *s, rp_error *error);
int rp__sqlite_cannot_make(const struct sqlite *s, rp_error *error);
/* Finds a file that makes writing impossible: returns "-wal" or "-shm" if this
 * user may write the database, but may not write its -wal or -shm file.
 * Otherwise returns NULL. */
const char *rp__sqlite_find_foreign(const struct sqlite *s);

/* writers.c */
/* Make this connection wait up to busy_ms for a lock, instead of failing at
 * once. */
void rp__writers_be_patient(struct sqlite *s);
/* Call rp__writers_ask() before requesting the write lock. most_ms is the
 * longest time to wait for the lock. Call rp__writers_answered() after the
 * request was granted or refused. */
void rp__writers_ask(struct sqlite *s, int64_t most_ms);
void rp__writers_answered(struct sqlite *s);
void rp__writers_close(struct sqlite *s);

/* pragma.c */
/* Returns 1 if the pragma's result is `word`, else 0. Returns `else_ret` if the
 * pragma has no result. */
int rp__sqlite_pragma_is(sqlite3 *db, const char *pragma, const char *word,
			 int else_ret);
/* Returns the pragma's result as a number, or -1 if it has no result. */
int64_t rp__sqlite_pragma_int(sqlite3 *db, const char *pragma);

/* ids.c */
/* Call this in a transaction that will insert this many jobs. Sets *ret to the
 * id before the first job's id, or to null if SQLite chooses the ids. */
int rp__ids_find(struct sqlite *s, size_t jobs, struct rp_value *ret,
		 rp_error *error);
void rp__ids_given(struct sqlite *s,
		   size_t jobs); /* call this after the jobs were inserted */
/* SQLite is about to choose the id of a job, which will be larger than the
 * reserved ids. So do not use these any more: the ids of a connection grow. */
void rp__ids_pass(struct sqlite *s);
/* Call this after a rollback, which may have undone the reservation of ids. */
void rp__ids_forget(struct sqlite *s);

/* prepare.c */
#define MOST_COLUMNS 40 /* the largest number of columns of a statement */
/* Prepare the statements of a verb, if they are not prepared yet. This prepares
 * only their forms for one row of parameters (`one` in struct step). */
int rp__sqlite_prepare(struct sqlite *s, enum rp_verb which, rp_error *error);
/* Prepare the SQL `text`, which is one form of the verb's k-th statement. */
int rp__sqlite_prepare_form(struct sqlite *s, const struct rp_sql *sql,
			    struct verb *verb, size_t k, const char *text,
			    struct form *form, rp_error *error);
void rp__sqlite_drop_verb(struct verb *verb);

/* run.c */
int rp__sqlite_run(void *db, enum rp_verb which, const struct rp_value *params,
		   size_t rows, rp_row_fn *fn, void *ctx, rp_error *error);
int rp__sqlite_bind(sqlite3_stmt *stmt, int i, const struct rp_value *value);

/* url.c */
int rp__sqlite_read_url(struct rp_url *url, const char *text, rp_error *reterr);

/* query.c, measure.c */
int rp__sqlite_query(void *db, const struct rp_query *query, rp_error *error);
void rp__sqlite_measure(void *db, struct rp_usage *ret);
/* Remove the handlers that rp__sqlite_measure() has set on the connection. Call
 * this for a caller's connection, which stays open. */
void rp__sqlite_end_measuring(struct sqlite *s);

/* settle.c, claim.c, enqueue.c: call these in an open transaction */
int rp__sqlite_settle(struct sqlite *s, struct rp_round_trip *trip,
		      rp_error *error);
int rp__sqlite_claim(struct sqlite *s, const struct rp_round_trip *trip,
		     rp_error *error);
int rp__sqlite_enqueue(void *db, struct rp_enqueue *jobs, rp_error *error);

/* clock.c */
int rp__sqlite_read_clock(const struct sqlite *s, int64_t *ret_us,
			  rp_error *error);

/* wal.c */
void rp__sqlite_watch_wal(struct sqlite *s);
void rp__sqlite_trim_wal(void *db);

/* schema.c */
int rp__sqlite_check_schema(struct sqlite *s, int schema, rp_error *error);
int rp__sqlite_schema_sql(const struct rp_url *url, rp_sql_fn *statement,
			  rp_error *reterr);
/* Switch to WAL mode, trying for up to wait_ms. Returns a SQLite result
 * code. */
int rp__sqlite_try_wal(sqlite3 *db, int64_t wait_ms);
/* Fails with RP_ESCHEMA if the queue is not in main but in an attached
 * database. */
int rp__sqlite_check_main(sqlite3 *db, rp_error *error);

#endif
