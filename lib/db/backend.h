/*
 * backend.h - the interface between the library and a database backend. Neither
 * side knows anything else about the other.
 *
 * A backend opens a connection and runs verbs. A verb takes `rows` rows of
 * parameters in the order of sql/params, and passes the rows that it returns to
 * a callback. Settling, claiming and enqueueing are functions of the backend,
 * because databases need different verbs for them.
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

/* A parameter or a column. Texts and blobs are borrowed: those of a parameter
 * until run() returns, those of a column until the callback returns. */
struct rp_value {
	enum rp_type type;
	int64_t i;
	const void *data; /* RP_TEXT, RP_BLOB */
	size_t size;
};

/* Results of a row callback. A negative error code makes the verb fail with
 * it. */
#define RP_ROW_TAKE 0 /* the verb changes the row, if it changes any */
#define RP_ROW_SKIP 1 /* the verb leaves the row as it is */
#define RP_ROW_STOP 2 /* ... and all further rows */

/* `row`: index of the row of parameters that this row is the answer to. */
typedef int rp_row_fn(void *ctx, size_t row, const struct rp_value *columns);

struct rp_param {
	const char *name;
	struct rp_value value;
};

struct rp_row {
	size_t count; /* number of columns */
	const char *const *names;
	const struct rp_value *columns;
};

/* SQL of the doctor, the lab, stress or the benchmarks, which is not a verb of
 * sql/: one statement, or several separated by semicolons. :name or @name
 * stands for the parameter of that name; a parameter that is not given is
 * null. */
struct rp_query {
	const char *sql;
	const struct rp_param *params; /* with a NULL name at the end; NULL:
					* none */
	int timeout_ms;                /* 0: none */
	int flags;                     /* RP_QUERY_* */
	/* Called with the rows of each statement, in order; may be NULL. Times
	 * and numbers that are not integers are passed as text, booleans as 0
	 * or 1. Returns 0, RP_ROW_STOP, or an error, which query() returns. */
	int (*row)(void *ctx, const struct rp_row *row);
	void *ctx;
};

#define RP_QUERY_COLUMNS 64 /* most columns of a row */
#define RP_QUERY_READ 1     /* read only: a write fails with RP_EREADONLY */
#define RP_TIMED_OUT 1      /* query() was stopped by timeout_ms */

/* The work of a connection since the last call of measure(). The fields from
 * log_bytes on are 0 if only the server knows them. */
struct rp_usage {
	int64_t statements;
	int64_t waited_us; /* waiting for locks of other connections */
	int64_t log_bytes; /* bytes written to the log */
	int64_t steps;     /* executed by SQLite's virtual machine */
	int64_t pages;     /* requested from the page cache */
	int64_t reads;     /* ... and read from disk for it */
};

struct rp_database;

struct rp_url {
	const struct rp_database *database;
	char *text;       /* the memory of the pointers below */
	const char *path; /* of a file; or the URL for the client library */
	int is_file;
	const char *schema;      /* schema of the server's database, or NULL */
	const char *synchronous; /* or NULL */
	int64_t busy_ms;
};

/* Flags of begin(). */
#define RP_BEGIN_WRITE 1 /* the transaction will write */
/* A single verb will be run in it. With one_writer, a round trip may also run
 * sweep_rest and write the tally. */
#define RP_BEGIN_ONCE 2

/* Arguments and results of settle_and_claim(). The verdicts were checked, are
 * sorted by job id, and no two name the same claim; the backend may set the
 * pointers of answered ones to NULL. Each starts with the result RP_EGONE. For
 * an accepted verdict the backend sets the result to 0, and the state; for
 * others it may set a more exact error. */
struct rp_round_trip {
	rp_verdict **verdicts;
	size_t verdicts_count;

	const char *const *queues; /* in order of preference, with a NULL at
				    * the end */
	size_t max;                /* 0: claim nothing */
	size_t at_once;     /* how many of `max` are started at once. Jobs that
			     * must not be prefetched count towards these */
	size_t holding;     /* jobs that the worker holds; if not 0, claim no
			     * suspects */
	int64_t lease_ms;   /* 0: the queue's setting */
	int64_t worker_id;  /* 0: not a worker */
	const char *worker; /* its name, or NULL */
	int joined;         /* a transaction of the caller is open */
	rp_batch *batch;    /* the claimed jobs are added to it */

	/* The backend calls this for the tally, with numbers of finished jobs
	 * of a queue. */
	void (*finished)(void *ctx, int64_t queue_id, int64_t done,
			 int64_t failed);
	void *ctx;

	int left_payloads; /* set by the backend: completed jobs have payloads
			    * left, which sweep_rest deletes in this
			    * transaction */
};

/* Jobs to enqueue in one call: all with the same priority, time and number of
 * attempts; or a single one with a unique key. */
struct rp_enqueue {
	struct rp_value *params; /* rows for `enqueue` or `enqueue_unique` */
	size_t count;
	int unique;
	rp_added *added; /* set for each job that was enqueued */
};

/* A connection that waits for work, and its schedule. Times are monotonic. */
struct rp_waiter {
	int64_t worker_id;         /* 0: not a worker */
	const char *const *queues; /* with a NULL at the end */
	int64_t probed_at;         /* ms: the last scheduled probe */
	int64_t probe_at;          /* ms: the next scheduled probe */
	int polls;                 /* keep to the schedule even if notifications
				    * arrive: work is not all that it waits for */
	int64_t quiet_until; /* us: no probe before then because of commits of
			      * others, as probes take long */
};

/* Flags returned by wait(): what the caller must do. */
#define RP_WAIT_WORK 1  /* claim: a job of its queues became ready */
#define RP_WAIT_PROBE 2 /* ask the queues whether a job is ready */
#define RP_WAIT_SWEEP 4 /* sweep, unless another worker has just done so */

typedef void rp_sql_fn(void *ctx, const char *sql);

struct rp_backend {
	/* Parse the URL into `url`. url->text has room for two copies of it. */
	int (*read_url)(struct rp_url *url, const char *text, rp_error *reterr);
	/* Does this text name a database without a scheme? NULL: never. */
	int (*names)(const char *text);
	/* Returns 0 if this can be the name of a schema. NULL: no schemas. */
	int (*check_schema)(const char *name, rp_error *reterr);
	/* A writing transaction keeps other writers out, and run() changes a
	 * row only after its callback has taken it. If 0: the row may be
	 * changed before the callback sees it, and the verb sweep_start chooses
	 * one worker to sweep for all, so that workers do not lock each other's
	 * rows. */
	int one_writer;
	/* Ids and positions in line come from two sequences, which other
	 * clients may advance at any time, whatever locks are held. */
	int shares_sequences;
	int (*open)(const struct rp_url *url, int schema, void **ret,
		    rp_error *reterr);
	/* Use a connection of the caller, and join its transactions. */
	int (*attach)(void *native, const rp_options *options, void **ret,
		      rp_error *reterr);
	void (*close)(void *db); /* an attached connection stays open */
	void *(*native)(void *db);
	const char *(*schema)(void *db); /* NULL: no schemas */
	int (*is_new)(
		void *db); /* did opening this handle create the schema? */
	/* Pass the SQL that creates the schema to `statement`, one at a
	 * time. */
	int (*schema_sql)(const struct rp_url *url, rp_sql_fn *statement,
			  void *ctx, rp_error *reterr);
	/* Is a transaction of the caller open that begin() would join? */
	int (*joins)(void *db);
	/* Transactions. In an open one, begin() makes a savepoint. It returns 1
	 * if the transaction has begun, and since the last one the connection
	 * was replaced or the answer to a call may have been lost. */
	int (*begin)(void *db, int how, rp_error *reterr);
	int (*commit)(void *db, rp_error *reterr); /* on failure it is rolled
						    * back */
	void (*rollback)(void *db);
	/* From now on a call that would wait for a lock of another transaction
	 * fails with RP_EBUSY after about 100 ms. NULL: the database does not
	 * lock rows. */
	int (*limit_waits)(void *db, rp_error *reterr);
	/* Run a verb. A verb that writes needs an open transaction. */
	int (*run)(void *db, enum rp_verb verb, const struct rp_value *params,
		   size_t rows, rp_row_fn *row, void *ctx, rp_error *reterr);
	/* Run a query. Returns 0, RP_TIMED_OUT or an error. With RP_QUERY_READ
	 * or a time-out it is a transaction of its own, so none may be open. */
	int (*query)(void *db, const struct rp_query *query, rp_error *reterr);
	/* The first call starts counting. It also makes the connection wait for
	 * locks in the same way whatever SQL it runs, so that measurements can
	 * be compared. */
	void (*measure)(void *db, struct rp_usage *ret);
	/* Settle, then claim, in the open transaction. */
	int (*settle_and_claim)(void *db, struct rp_round_trip *trip,
				rp_error *reterr);
	/* Enqueue, in the open transaction. If it returns 0 and has set no
	 * result, the queue does not exist or a job is refused, and nothing was
	 * done. RP_EINVAL: a job's headers may be the reason. */
	int (*enqueue)(void *db, struct rp_enqueue *jobs, rp_error *reterr);
	/* Wait. Returns RP_WAIT_* flags when there is something to do; 0 when
	 * timeout_ms (-1: no limit) is over or `fd` (-1: none) is readable. */
	int (*wait)(void *db, const struct rp_waiter *waiter,
		    int64_t timeout_ms, int fd, rp_error *reterr);
	/* Does a notification sent by `other`, another connection, arrive here?
	 * NULL: the database has no notifications. */
	int (*hears)(void *db, void *other);
	/* Is the connection made through a pooler that may run each transaction
	 * in another session? NULL: never. */
	int (*is_pooled)(void *db);
	/* Truncate a file that is larger than needed. NULL: there is none. */
	void (*trim)(void *db);
};

#endif
