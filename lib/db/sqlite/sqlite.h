/*
 * sqlite.h - what the files of the SQLite backend share.
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

/* Made of sql/sqlite/: the verbs; the steps of the schema, and the number of
 * their text, which a database notes. */
extern const struct rp_sql rp__sql_sqlite[RP_VERBS];
extern const char *const *const rp__schema_sqlite[];
extern const char rp__build_sqlite[];
#include "sqlite_api.h"

#define MOST_PARAMS 20

/* Where a statement's parameter comes from: the verb's parameters, the clock,
 * or a column of a statement above. */
struct source {
	int stmt; /* index of that statement, or one of: */
	int index;
};
enum {
	FROM_PARAMS = -1,
	FROM_CLOCK = -2,
	FROM_CLOCK_US = -3,
	FROM_ROWS = -4,
	FROM_TAKEN = -5,
	FROM_PAYLOAD = -6, /* as FROM_PARAMS: what the job's row takes of it */
	FROM_APART = -7,   /* ... and what is stored apart */
	FROM_MOST_IN_ROW = -8,
	FROM_IDS = -9,
	NO_GUARD = -10
};

/* A statement, prepared. */
struct form {
	sqlite3_stmt *stmt; /* NULL: not yet */
	int binds;
	struct source bind[MOST_PARAMS];
};

struct step {
	const struct rp_stmt *sql;
	struct form one, many; /* as in struct rp_stmt; many only if needed */
	sqlite3_stmt *open;    /* the one of them that runs */
	int columns;
	int number, id; /* columns of an answer: whose it is, what is taken;
			   -1: none */
	struct source guard;
};

struct verb {
	struct step *steps; /* NULL: not prepared yet */
	size_t count;
	size_t late;  /* from there on: what is run when the answer is over */
	size_t width; /* of a row of parameters */
	int uses_clock, uses_ids;
};

/* The ids that were taken of a verb's answer. The memory is kept. */
struct taken {
	struct rp_value *ids;
	size_t count, room;
};

/* Ids that are kept for jobs of this connection: see ids.c. */
struct ids {
	int64_t last;   /* that was given to one */
	int left, more; /* how many are left, and how many to keep next */
};

/* What is said to begin and end a transaction: prepared, for parsing it each
 * time took longer than running it. */
enum control {
	BEGIN,
	BEGIN_IMMEDIATE,
	COMMIT,
	ROLLBACK,
	SAVEPOINT,
	RELEASE,
	ROLLBACK_TO,
	LOCK, /* on the caller's connection; prepared when there are tables */
	CONTROLS
};

/* The files beside the database's, -wal and -shm, as this connection opened
 * them, and their folder when they were last looked at. */
#define BESIDE 2
struct files {
	int known; /* 0: not in WAL mode */
	struct beside {
		char *path;
		dev_t dev;
		ino_t ino;
	} beside[BESIDE];
	char *folder;
	struct stat folder_seen;
};

/* The contents of FILE-writers, which all who wait for the write lock share. */
struct turns {
	_Atomic uint32_t count;    /* how often another became the first */
	_Atomic uint32_t sleepers; /* about */
	_Atomic uint32_t called;   /* one was woken, and is not the first yet */
};

/* Our place among those who write to the file. Times are monotonic ms. */
struct writers {
	int fd;
	struct turns *turns;      /* of the file, mapped; NULL: not open */
	int asks;                 /* for the write lock, just now */
	int64_t most_ms;          /* to wait for it */
	int first;                /* in the queue */
	int offered;              /* the lock, to the first; it did not come */
	int64_t since, streak_at; /* when the wait began, and our turn */
	int64_t strangers_at;     /* others than ours were seen; 0: never */
};

struct sqlite {
	sqlite3 *db;
	char *path;
	int64_t busy_ms;
	struct writers writers;
	int attached;          /* the connection is the caller's */
	int schema, unchecked; /* RP_SCHEMA_*; not looked at yet */
	int depth; /* of our transactions: savepoints from the second on */
	enum { OWN, JOINED, BARE } base; /* what the first of them is */
	sqlite3_vfs *vfs;                /* whose clock is the database's */
	sqlite3_stmt *control[CONTROLS];
	struct verb verbs[RP_VERBS];
	struct rows rows;   /* what the verb that runs was given */
	struct taken taken; /* ... and what was taken of its answer */
	struct ids ids;
	struct watch *watch; /* NULL until the first wait */
	struct files files;
	int checkpointed;      /* frames of -wal, when that was last tried */
	struct rp_usage usage; /* counted since measure() was asked last */
	int measured;
	int64_t wal_limit; /* to which the next commit may cut -wal; 0: none */
};

/* errors.c */
int rp__sqlite_failed(struct sqlite *s, int rc, rp_error *error);

/* backend.c */
int rp__sqlite_execute(struct sqlite *s, const char *sql, rp_error *error);
int rp__sqlite_begin(void *db, int how, rp_error *error);
void rp__sqlite_rollback(void *db);
int rp__sqlite_commit(void *db, rp_error *error);

/* caller.c */
/* Is a statement under way on this connection? One that writes? Then SQL
 * functions of ours run inside it, and no transaction or savepoint can be
 * begun. */
int rp__sqlite_running(sqlite3 *db);
int rp__sqlite_writing(sqlite3 *db);
int rp__sqlite_take_lock(struct sqlite *s, rp_error *error);

/* files.c */
/* In a transaction, before it writes: are the database's files those that this
 * connection has open? */
int rp__sqlite_check_files(struct sqlite *s, rp_error *error);
/* Close the connection, unless it is the caller's; without a checkpoint if they
 * are not. */
void rp__sqlite_close_files(struct sqlite *s);
/* After a wait in vain: does this process wait for itself, for it was forked
 * while a connection was open? */
int rp__sqlite_was_forked(const struct sqlite *s);
/* Before the first read of a file that this user cannot write: refuse where
 * that would make files. */
int rp__sqlite_make_nothing(struct sqlite *s, rp_error *error);
int rp__sqlite_cannot_make(const struct sqlite *s, rp_error *error);
/* "-wal" or "-shm", which this user may not write, though it may write the
 * database; or NULL. */
const char *rp__sqlite_find_foreign(const struct sqlite *s);

/* writers.c */
/* Have this connection wait for locks until busy_ms are over. */
void rp__writers_be_patient(struct sqlite *s);
/* Before the write lock is asked for, to wait for so long, and when it was had
 * or not. */
void rp__writers_ask(struct sqlite *s, int64_t most_ms);
void rp__writers_answered(struct sqlite *s);
void rp__writers_close(struct sqlite *s);

/* pragma.c */
/* Is that the word it answers? `else_ret`: it does not answer at all. */
int rp__sqlite_answers(sqlite3 *db, const char *pragma, const char *word,
		       int else_ret);
/* The number it answers, or -1. */
int64_t rp__sqlite_ask(sqlite3 *db, const char *pragma);

/* ids.c */
/* In a transaction that is to put in so many jobs: the id before that of the
 * first of them, or null where SQLite is to choose. */
int rp__ids_find(struct sqlite *s, size_t jobs, struct rp_value *ret,
		 rp_error *error);
void rp__ids_given(struct sqlite *s, size_t jobs); /* they were put in */
/* A transaction that may have reserved them was rolled back. */
void rp__ids_forget(struct sqlite *s);

/* run.c */
int rp__sqlite_run(void *db, enum rp_verb which, const struct rp_value *params,
		   size_t rows, rp_row_fn *fn, void *ctx, rp_error *error);
void rp__sqlite_drop_verb(struct verb *verb);

/* url.c */
int rp__sqlite_read_url(struct rp_url *url, const char *text, rp_error *reterr);

/* query.c, measure.c */
int rp__sqlite_query(void *db, const struct rp_query *query, rp_error *error);
void rp__sqlite_measure(void *db, struct rp_usage *ret);
void rp__sqlite_end_measuring(struct sqlite *s); /* it may be the caller's */

/* settle.c, claim.c, enqueue.c: inside a transaction */
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
/* Switch to WAL mode, and try for so long: SQLite's word. */
int rp__sqlite_try_wal(sqlite3 *db, int64_t wait_ms);
/* On a connection that may have others attached: is the queue, if there is one,
 * in main? */
int rp__sqlite_check_main(sqlite3 *db, rp_error *error);

#endif
