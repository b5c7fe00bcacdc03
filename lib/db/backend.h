/*
 * backend.h - the seam: all a backend may know of the library, and all the
 * library may know of a backend.
 *
 * A backend opens a connection and runs verbs. A verb takes `rows` rows of
 * parameters in the order of sql/params; what it answers goes to a callback.
 * Settling, claiming and enqueueing are functions of the backend: of which
 * verbs they are made differs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_BACKEND_H
#define RP_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "readpast.h"
#include "verbs.h"

enum rp_type { RP_NULL, RP_INT, RP_TEXT, RP_BLOB };

/* One parameter or column. Text and blobs are borrowed: a parameter's until
 * run() returns, a column's until the callback does. */
struct rp_value {
	enum rp_type type;
	int64_t i;
	const void *data; /* RP_TEXT, RP_BLOB */
	size_t size;
};

/* A row callback returns one of these, or a negative error code, with which the
 * verb fails. */
#define RP_ROW_TAKE 0 /* the verb changes the row, if it changes rows */
#define RP_ROW_SKIP 1 /* the verb leaves the row as it is */
#define RP_ROW_STOP 2 /* ... and all rows behind it */

/* `row`: which row of parameters this is an answer to. */
typedef int rp_row_fn(void *ctx, size_t row, const struct rp_value *columns);

struct rp_param {
	const char *name;
	struct rp_value value;
};

struct rp_row {
	size_t count; /* of its columns */
	const char *const *names;
	const struct rp_value *columns;
};

/* A statement, or several with a ; between, that are no verb of sql/: what the
 * doctor, the lab, stress and the benchmarks ask. A :name or @name in it stands
 * for the parameter of that name, and for null where none is given. */
struct rp_query {
	const char *sql;
	const struct rp_param *params; /* ended by a NULL name; NULL: none */
	int timeout_ms;                /* 0: none */
	int flags;                     /* RP_QUERY_* */
	/* Is given the rows of each statement, in order. NULL: nobody is. Times
	 * and numbers that are no integers come as text, truth values as 0 or
	 * 1. Answers 0, RP_ROW_STOP, or a failure, which query() returns. */
	int (*row)(void *ctx, const struct rp_row *row);
	void *ctx;
};

#define RP_QUERY_COLUMNS 64 /* at the most, in a row */
#define RP_QUERY_READ 1     /* refuse to write: RP_EREADONLY */
#define RP_TIMED_OUT 1      /* query() was stopped by its own time-out */

/* The work of a connection since measure() was called last. From log_bytes on
 * the numbers are 0 where only the server knows them. */
struct rp_usage {
	int64_t statements;
	int64_t waited_us; /* for other connections' locks */
	int64_t log_bytes; /* written */
	int64_t steps;     /* of SQLite's virtual machine */
	int64_t pages;     /* read from the cache, or into it */
	int64_t reads;     /* of these, the ones read into it */
};

struct rp_database;

struct rp_url {
	const struct rp_database *database;
	char *text;       /* what the pointers below point into */
	const char *path; /* of a file; or all that the client library is to
			     know */
	int is_file;
	const char *schema;      /* of the server's database, or NULL */
	const char *synchronous; /* or NULL */
	int64_t busy_ms;
};

/* How begin() begins a transaction. */
#define RP_BEGIN_WRITE 1 /* it will write */
/* One verb will be run in it, and nothing else; but, where one transaction
 * writes at a time, what belongs to a round trip: sweep_rest and the tally. */
#define RP_BEGIN_ONCE 2

/* Settle and claim. Verdicts were checked, are in the order of their ids, and
 * no two are on one claim; the backend may set those that it has answered to
 * NULL. Each has the result RP_EGONE: the backend sets another one, and the
 * state. */
struct rp_round_trip {
	rp_verdict **verdicts;
	size_t verdicts_count;

	const char *const *queues; /* the first preferred; ended by a NULL */
	size_t max;                /* 0: claim nothing */
	size_t at_once;     /* of these: only so many are started at once. A job
			       that must not be fetched ahead is one of them. */
	size_t holding;     /* jobs that the worker has: with any, no suspect */
	int64_t lease_ms;   /* 0: the queue's */
	int64_t worker_id;  /* 0: a client that is no worker */
	const char *worker; /* its name, or NULL */
	int joined;         /* the caller's own transaction is open */
	rp_batch *batch;    /* gets what was claimed */

	/* To be called for the tally: so many jobs of a queue are finished. */
	void (*finished)(void *ctx, int64_t queue_id, int64_t done,
			 int64_t failed);
	void *ctx;

	int left_payloads; /* the answer: jobs that are done have payloads left,
			      which sweep_rest deletes in this transaction */
};

/* Jobs that go in together: of one priority, time and number of attempts; or
 * one that has a unique key. */
struct rp_enqueue {
	struct rp_value *params; /* rows of `enqueue`; of `enqueue_unique` */
	size_t count;
	int unique;
	rp_added *added; /* the answer, if there is one: of each job */
};

/* A connection that waits for work, and its schedule; times are monotonic. */
struct rp_waiter {
	int64_t worker_id;         /* 0: a client that is no worker */
	const char *const *queues; /* ended by a NULL */
	int64_t probed_at;         /* ms: the last probe by schedule */
	int64_t probe_at;          /* ms: the next one */
	int polls;           /* it keeps to that though it is notified of work:
				it waits for more than that */
	int64_t quiet_until; /* us: probes take long; until then none is worth
				making because others have committed */
};

/* Actions for the caller of wait(). */
#define RP_WAIT_WORK 1  /* claim: a job of its queues became ready */
#define RP_WAIT_PROBE 2 /* ask the queues whether a job is ready */
#define RP_WAIT_SWEEP 4 /* sweep, if no other worker has lately */

struct rp_backend {
	/* Read the URL, with the room for two of it in url->text. */
	int (*read_url)(struct rp_url *url, const char *text, rp_error *reterr);
	/* Does this name a database without any scheme? NULL: never. */
	int (*names)(const char *text);
	/* 0 if that may be a schema's name. NULL: this database has no schemas.
	 */
	int (*check_schema)(const char *name, rp_error *reterr);
	/* A transaction that writes keeps others out. Then run() changes a row
	 * when its callback takes it. Without: the callback may hear of a row
	 * that has changed already; and the verb sweep_start chooses one of all
	 * workers to sweep, so that they do not lock each other's rows. */
	int one_writer;
	/* Ids, and places in line, are drawn from two sequences, by others at
	 * any time: no lock keeps them. */
	int shares_sequences;
	int (*open)(const struct rp_url *url, int schema, void **ret,
		    rp_error *reterr);
	/* Use the caller's own connection, whose transactions are joined. */
	int (*attach)(void *native, const rp_options *options, void **ret,
		      rp_error *reterr);
	void (*close)(void *db); /* what was attached stays open */
	void *(*native)(void *db);
	const char *(*schema)(void *db); /* NULL: it has no schemas */
	/* Is the caller's own transaction open, one that begin() would join? */
	int (*joins)(void *db);
	/* Transactions. begin() inside one begins a savepoint of it. 1: it has
	 * begun, and since the last one the connection was made anew, or an
	 * answer was lost by other means. */
	int (*begin)(void *db, int how, rp_error *reterr);
	int (*commit)(void *db, rp_error *reterr); /* failed: rolled back */
	void (*rollback)(void *db);
	/* From now on a call that has to wait for somebody else's lock fails
	 * with RP_EBUSY after some 100 ms. NULL: rows are not locked. */
	int (*limit_waits)(void *db, rp_error *reterr);
	/* Run a verb; one that writes needs a transaction around it. */
	int (*run)(void *db, enum rp_verb verb, const struct rp_value *params,
		   size_t rows, rp_row_fn *row, void *ctx, rp_error *reterr);
	/* Run a query: 0, RP_TIMED_OUT or a failure. One that only reads or has
	 * a time-out is a transaction of its own: none may be open. */
	int (*query)(void *db, const struct rp_query *query, rp_error *reterr);
	/* The first call begins to count, and has the connection wait for locks
	 * in the same way whatever runs on it, so that techniques compare. */
	void (*measure)(void *db, struct rp_usage *ret);
	/* Verdicts, then a claim; inside a transaction. */
	int (*settle_and_claim)(void *db, struct rp_round_trip *trip,
				rp_error *reterr);
	/* Inside a transaction. No answer and no error: there is no such queue,
	 * or a job is refused, and nothing was done. RP_EINVAL: perhaps for a
	 * job's headers. */
	int (*enqueue)(void *db, struct rp_enqueue *jobs, rp_error *reterr);
	/* Sleep until there is something to do, RP_WAIT_*; or until the time
	 * (-1: no end) is over or `fd` (-1: none) can be read: 0. */
	int (*wait)(void *db, const struct rp_waiter *waiter,
		    int64_t timeout_ms, int fd, rp_error *reterr);
	/* Does a notification of `other`, another connection, arrive here?
	 * NULL: there are no notifications. */
	int (*hears)(void *db, void *other);
	/* Does a pooler stand between, which may give each transaction another
	 * session? NULL: never. */
	int (*is_pooled)(void *db);
	/* Cut a file that is larger than need be. NULL: nothing to cut. */
	void (*trim)(void *db);
};

#endif
