/*
 * backend.h - the interface between the library and a backend, the code for one
 * kind of database. The library calls only these functions of a backend.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A backend opens a connection and runs verbs, the operations of the library on
 * the database. A verb takes `rows` rows of parameters. sql/params lists the
 * parameters of each verb in their order. The verb passes each row of its
 * result to a callback. Settling, claiming and enqueueing are functions of the
 * backend, because databases need different verbs for them.
 */
#ifndef RP_BACKEND_H
#define RP_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "readpast.h"
#include "verbs.h"

enum rp_type { RP_NULL, RP_INT, RP_TEXT, RP_BLOB };

/* A parameter of a verb, or a column of its result. A text or blob is not
 * copied. The memory of a parameter must stay valid until run() returns. The
 * memory of a column is valid until the callback returns. */
struct rp_value {
	enum rp_type type;
	int64_t i;
	const void *data; /* bytes of a text or blob */
	size_t size;
};

/* A row callback returns one of the following values, or a negative error code.
 * If it returns an error code, the verb fails with that code. The callback sets
 * the message of the error, except for RP_ENOMEM. Some verbs, such as a claim,
 * change the rows that they return. On a database with `one_writer` (see below)
 * such a verb changes only the rows that the callback takes. */
#define RP_ROW_TAKE 0 /* take the row */
#define RP_ROW_SKIP 1 /* skip the row */
#define RP_ROW_STOP 2 /* skip this row and all further rows */
#define RP_ROW_LAST 3 /* take this row, and skip all further rows */

/* A row callback. `columns` are the columns of one row of the result. `row` is
 * the index of the row of parameters that led to this result. */
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

/* SQL that is not a verb of sql/, such as a query of `readpast doctor` or of a
 * benchmark. The text is one statement, or several statements with semicolons
 * between them. In the SQL, :name or @name stands for the parameter of that
 * name. A parameter that is not given is null. */
struct rp_query {
	const char *sql;
	const struct rp_param *params; /* ends with a NULL name; NULL: no
					* parameters */
	int timeout_ms;                /* 0: no time-out */
	int flags;                     /* RP_QUERY_* */
	/* Called for each row of each statement, in order; NULL: rows are
	 * ignored. Integers are passed as integers, booleans as 0 or 1, times
	 * and other numbers as text. Returns 0 to continue, RP_ROW_STOP to
	 * stop, or an error, which query() then returns. As with the callback
	 * of a verb, an RP_ENOMEM needs no message. */
	int (*row)(void *ctx, const struct rp_row *row);
	void *ctx;
};

#define RP_QUERY_COLUMNS 64 /* the largest number of columns in a row */
#define RP_QUERY_READ 1     /* writing fails with RP_EREADONLY */
#define RP_TIMED_OUT 1      /* returned by query() if timeout_ms has passed */

/* The amounts of time, work and disk that a connection has used since the last
 * call of measure(). On a server, log_bytes and the fields after it are 0,
 * because the client cannot read these numbers. */
struct rp_usage {
	int64_t statements;
	int64_t waited_us; /* time spent waiting for locks of other
			    * connections */
	int64_t log_bytes; /* bytes written to the write-ahead log */
	int64_t steps;     /* instructions that SQLite's virtual machine
			    * executed */
	int64_t pages;     /* pages requested from the page cache */
	int64_t reads;     /* pages that the cache had to read from disk */
};

struct rp_database;

struct rp_url {
	const struct rp_database *database;
	char *text;       /* the memory that the pointers below point into */
	const char *path; /* path of the file, or the URL that is passed to the
			   * client library */
	int is_file;
	const char *schema;      /* the schema that the URL names; NULL: the
				  * default */
	const char *synchronous; /* "full" or "normal"; NULL: the default */
	int64_t busy_ms;
};

/* Flags of begin(). */
#define RP_BEGIN_WRITE 1 /* the transaction will write */
/* The transaction runs a single verb. There is one exception: if the backend's
 * one_writer is 1, the transaction of settle_and_claim() may also run the verb
 * `sweep_rest` and write the tallies (counts of finished jobs). */
#define RP_BEGIN_ONCE 2

/* Arguments and results of settle_and_claim(). The verdicts are already checked
 * and sorted by job id, and no two name the same claim. Each verdict has the
 * result RP_EGONE at first. If the backend accepts a verdict, it sets the
 * verdict's result to 0 and its `state` to the job's new state. If the backend
 * refuses a verdict, it may set the result to a more exact error. Then the
 * backend may set the element of `verdicts` to NULL, because the library does
 * not read the element again. */
struct rp_round_trip {
	rp_verdict **verdicts;
	size_t verdicts_count;

	const char *const *queues; /* in order of preference; the last element
				    * is NULL */
	size_t max;                /* 0: claim nothing */
	size_t at_once;     /* how many of the `max` jobs the worker starts
			     * immediately. The worker prefetches the other
			     * jobs: it claims them early, and starts them
			     * later. A job that has a large payload or only one
			     * attempt, or whose queue has a limit, is never
			     * prefetched */
	size_t holding;     /* how many jobs the worker holds; if not 0, claim
			     * no suspect (a job that may have killed its
			     * worker) */
	int64_t lease_ms;   /* 0: use the queue's setting */
	int64_t worker_id;  /* 0: the caller is not a worker */
	const char *worker; /* name of the worker, or NULL */
	int joined;         /* 1: the transaction is not for this call alone:
			     * the caller began it, or holds are set in it,
			     * too */
	rp_batch *batch;    /* the claimed jobs are added to it */

	/* The backend calls this to add finished jobs of a queue to the tally,
	 * the count of recently finished jobs. */
	void (*finished)(void *ctx, int64_t queue_id, int64_t done,
			 int64_t failed);
	void *ctx;

	int left_payloads; /* set by the backend to 1 if completed jobs still
			    * have payloads; the library then runs the verb
			    * `sweep_rest` in the same transaction, which
			    * deletes these payloads */
};

/* Jobs to enqueue in one call. Either all jobs have the same priority, time and
 * number of attempts, or there is a single job with a unique key. */
struct rp_enqueue {
	struct rp_value *params; /* rows of parameters for the verb `enqueue` or
				  * `enqueue_unique` */
	size_t count;
	int unique;
	rp_added *added; /* one element for each job, which is set if the job
			  * was enqueued */
};

/* A connection that waits for work, and the time at which the connection must
 * probe, that is, look for work itself. Times are on the monotonic clock. */
struct rp_waiter {
	int64_t worker_id;         /* 0: the caller is not a worker */
	const char *const *queues; /* names; the last element is NULL */
	int64_t version;           /* changes whenever `queues` changes */
	int64_t probed_at;         /* when the last scheduled probe was (ms) */
	int64_t probe_at;          /* when the next scheduled probe is due
				    * (ms) */
	int polls;                 /* 1: probe at probe_at even if notifications
				    * arrive. The connection also waits for
				    * events that no notification announces */
	int64_t quiet_until;       /* until this time (us), commits of other
				    * clients cause no probe; set after a probe
				    * that found no ready job */
	int is_session;            /* 1: the caller is not a worker, but also
				    * wants notifications. Its session waits
				    * for them until the caller calls leave().
				    * worker_id is 0 */
};

/* A call that waits for the end of jobs. Only the backend uses the last three
 * fields, which are 0 at first. Times are monotonic. */
struct rp_job_waiter {
	const int64_t *ids; /* the jobs that were live (not ended) when last
			     * read; at least one */
	size_t count;
	int is_open; /* 1: an open transaction may have settled one of the jobs,
		      * so read their states more often */
	int64_t registered_at; /* when the call was registered for notifications
				* (ms); 0: it is not registered */
	int64_t nap_ms;        /* time until the caller next reads the jobs'
				* states (ms) */
	int polls;             /* 1: no notification will arrive */
};

/* Flags returned by wait(): what the caller must do. */
#define RP_WAIT_WORK 1  /* claim: a job of the queues became ready */
#define RP_WAIT_PROBE 2 /* probe: look whether a job is ready */
#define RP_WAIT_SWEEP 4 /* sweep, unless another worker has just swept */

typedef void rp_sql_fn(const char *sql);

struct rp_backend {
	/* Parse the URL `text` into `url`. url->text has room for two copies of
	 * `text`. */
	int (*read_url)(struct rp_url *url, const char *text, rp_error *reterr);
	/* Returns 1 if a text without a scheme names a database of this kind.
	 * NULL: the URLs of this kind always have a scheme. */
	int (*names)(const char *text);
	/* Returns 0 if this can be the name of a schema. NULL: the database
	 * has no schemas. */
	int (*check_schema)(const char *name, rp_error *reterr);
	/* 1: only one client at a time can write, and run() changes a row only
	 * after the callback has returned RP_ROW_TAKE for it. 0: many clients
	 * write at the same time, and run() may change a row before it calls
	 * the callback. On such a database the verb `sweep_start` chooses one
	 * worker that sweeps for all workers, because workers that sweep at the
	 * same time would wait for each other's row locks. */
	int one_writer;
	/* 1: ids and positions in the ready line come from two sequences. Other
	 * clients may advance the sequences at any time, even while this client
	 * holds locks. */
	int shares_sequences;
	int (*open)(const struct rp_url *url, int schema, void **ret,
		    rp_error *reterr);
	/* Use a connection of the caller, and join its transactions. */
	int (*attach)(void *native, const rp_options *options, void **ret,
		      rp_error *reterr);
	void (*close)(void *db); /* an attached connection stays open */
	void *(*native)(void *db);
	const char *(*schema)(void *db); /* NULL: the database has no schemas */
	int (*is_new)(void *db); /* returns 1 if opening this handle created the
				  * schema */
	/* Returns 1 if the database's files were deleted or replaced while this
	 * connection had them open. Then a new connection would use none of
	 * them. NULL: the database is no file. */
	int (*is_replaced)(void *db);
	/* Call `statement` with each SQL statement that creates the schema. */
	int (*schema_sql)(const struct rp_url *url, rp_sql_fn *statement,
			  rp_error *reterr);
	/* Returns 1 if the caller has an open transaction, so that begin()
	 * would join it. */
	int (*joins)(void *db);
	/* Begin a transaction or, inside an open transaction, a savepoint.
	 * Returns 0, 1 or an error. 1: the transaction has begun, but the
	 * answer to an earlier call may have been lost, for example because the
	 * connection broke and was replaced. If that call was a claim, jobs may
	 * be leased to a worker that does not know them. */
	int (*begin)(void *db, int how, rp_error *reterr);
	int (*commit)(void *db, rp_error *reterr); /* if it fails, the
						    * transaction is rolled
						    * back */
	void (*rollback)(void *db);
	/* After this call, a call that would wait for a lock of another
	 * transaction fails with RP_EBUSY after about `most_ms`. NULL: the
	 * database does not lock rows. */
	int (*limit_waits)(void *db, int most_ms, rp_error *reterr);
	/* Run a verb. A verb that writes needs an open transaction. */
	int (*run)(void *db, enum rp_verb verb, const struct rp_value *params,
		   size_t rows, rp_row_fn *row, void *ctx, rp_error *reterr);
	/* Run a query. Returns 0, RP_TIMED_OUT or an error. A query with
	 * RP_QUERY_READ or a time-out is a transaction of its own, so no
	 * transaction may be open. */
	int (*query)(void *db, const struct rp_query *query, rp_error *reterr);
	/* Set *ret to the usage of the connection since the previous call of
	 * measure(). The first call starts counting. On SQLite a measured
	 * connection does not use the library's queue of writers. It waits for
	 * all locks in the same simple way, by trying again and again, so that
	 * waits can be compared. */
	void (*measure)(void *db, struct rp_usage *ret);
	/* Settle, then claim, in the open transaction. */
	int (*settle_and_claim)(void *db, struct rp_round_trip *trip,
				rp_error *reterr);
	/* Enqueue, in the open transaction. If this call returns 0 but has set
	 * no element of jobs->added, nothing was enqueued, because the queue
	 * does not exist or a job is refused. If this call returns RP_EINVAL,
	 * perhaps the headers of a job are not valid, so the caller checks
	 * them. */
	int (*enqueue)(void *db, struct rp_enqueue *jobs, rp_error *reterr);
	/* Wait for work. Returns RP_WAIT_* flags when there is something to do.
	 * Returns 0 when timeout_ms (-1: no limit) is over or `fd` (-1: none)
	 * is readable. */
	int (*wait)(void *db, const struct rp_waiter *waiter,
		    int64_t timeout_ms, int fd, rp_error *reterr);
	/* End the registration for notifications about these queues that wait()
	 * has made. Returns 1 if a notification arrived before that, and was
	 * not reported by wait(). Errors are ignored. NULL: wait() registers
	 * nothing. */
	int (*leave)(void *db, const char *const *queues);
	/* Wait until one of the jobs may have ended. No transaction may be
	 * open. Returns 1 if the caller must read the jobs' states; the first
	 * call may return 1 without waiting. Returns 0 if timeout_ms (-1: no
	 * limit) is over, `fd` (-1: none) is readable, or a signal has
	 * arrived. */
	int (*wait_for_jobs)(void *db, struct rp_job_waiter *waiter,
			     int64_t timeout_ms, int fd, rp_error *reterr);
	/* Undo the registration that wait_for_jobs() made. Errors are ignored.
	 * NULL: wait_for_jobs() registers nothing. */
	void (*leave_jobs)(void *db, struct rp_job_waiter *waiter);
	/* Returns 1 if a notification that the connection `other` sends arrives
	 * on this connection. NULL: the database has no notifications. */
	int (*hears)(void *db, void *other);
	/* Returns 1 if the connection goes through a pooler that may run each
	 * transaction in another session. NULL: connections to this kind of
	 * database never go through a pooler. */
	int (*is_pooled)(void *db);
	/* The server refuses writes. Make the next call connect again, because
	 * another host of the URL may accept them. NULL: the database has no
	 * server, so a database that is read-only stays read-only. */
	void (*leave_host)(void *db);
	/* Truncate a log file that has become larger than needed (SQLite's
	 * -wal). NULL: the database has no such file. */
	void (*trim)(void *db);
};

#endif
