/*
 * readpast.h - a durable work queue in the SQL database you already have.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * This file is the public interface and its reference; what is not here is
 * not for callers. docs/design.md tells the model: jobs, leases, promises.
 *
 * Threads: a handle belongs to one thread at a time, and an open transaction to
 * the thread that began it: a call from another one is refused with RP_EINVAL.
 * Open one per thread; handles share nothing, and the library has no global
 * state of its own.
 * After fork() use only handles that the child opened: the parent's are
 * refused there with RP_EINVAL. On SQLite open none before fork(), nor any
 * connection of your own to that file: SQLite takes what it held at the fork
 * for the child's, and if that was the write lock the child waits in vain
 * (RP_EBUSY says so). The library never prints, never exits and touches no
 * signal.
 *
 * Errors: every call that can fail returns a negative RP_E* number; zero or
 * a count is success. rp_last_error() has the words.
 *
 * Ownership: what comes back through a parameter named `ret` is yours, and
 * its description names the call that frees it. `ret` is written on success
 * only, `reterr` on failure only. Everything else is borrowed: arguments are
 * not kept after the call returns, and a pointer you are handed lives as
 * long as the object it came from, unless its description says less.
 *
 * Time: int64_t milliseconds. Points in time count from 1970-01-01 UTC in
 * the *database's* clock; no clock of the client is ever compared with them.
 */
#ifndef READPAST_H
#define READPAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(RP_API)
/* as whoever compiles the library into something else says */
#elif defined(__GNUC__)
#define RP_API __attribute__((visibility("default")))
#else
#define RP_API
#endif

/* ---- errors ---------------------------------------------------------- */

/*
 * Name, number, what is known of the outcome (0: nothing was done; 1: nothing
 * was done, the same call may succeed later; 2: unknown), words. The numbers
 * are ABI. They are few: each is a different thing for the caller to do next.
 */
#define RP_ERRORS(X)                                                           \
	X(EINVAL, -1, 0, "invalid argument")                                   \
	X(ENOMEM, -2, 0, "out of memory")                                      \
	X(EBUSY, -3, 1, "database busy")                                       \
	X(ELOST, -4, 2, "connection lost; outcome unknown")                    \
	X(EGONE, -5, 0, "the job is no longer yours")                          \
	X(ESCHEMA, -6, 0, "schema missing or of another version")              \
	X(EDB, -7, 0, "database error")                                        \
	X(ECANCELLED, -8, 0, "the job was cancelled")                          \
	X(ENOENT, -9, 0, "no such job or queue")                               \
	X(EFBIG, -10, 0, "payload too large")                                  \
	X(EREADONLY, -11, 0, "database is read-only")                          \
	X(ENODB, -12, 0, "no database there")                                  \
	X(EFULL, -13, 0, "disk or database full")                              \
	X(ETAKEN, -14, 0, "in use by a live job")                              \
	X(EDAMAGED, -15, 0, "database damaged, or none")

#define RP_NUMBER_OF_ERROR(name, number, outcome, text) RP_##name = (number),
enum { RP_ERRORS(RP_NUMBER_OF_ERROR) };
#undef RP_NUMBER_OF_ERROR

/* What went wrong. Plain data, nothing to free, 256 bytes for ever. */
typedef struct rp_error {
	int code;          /* RP_E* */
	int native;        /* the database driver's own number, or 0 */
	char sqlstate[8];  /* where the database has them, else "" */
	char message[232]; /* one line of UTF-8, no newline at its end */
	int64_t item;      /* which of several jobs was refused, from 0; -1:
			      none in particular */
} rp_error;

/* The words of an RP_E* number ("the job is no longer yours"). Never NULL. */
RP_API const char *rp_error_text(int code);

/* ---- limits ---------------------------------------------------------- */

/*
 * More than this is refused with RP_EINVAL (a payload with RP_EFBIG), on every
 * database and in SQL. Names and keys are UTF-8 without control characters.
 */
#define RP_MOST_NAME 128     /* bytes of a queue's name, or of a kind */
#define RP_MOST_KEY 255      /* bytes of a unique key */
#define RP_MOST_WORKER 255   /* bytes of a worker's name */
#define RP_MOST_PRIORITY 255 /* a job's; the least is 0 */
#define RP_MOST_ATTEMPTS 1000000000
#define RP_MOST_PAYLOAD 1000000000 /* bytes; each queue has a limit, too */
#define RP_MOST_CLAIMED 100000     /* jobs in one claim */
#define RP_MOST_THREADS 1024       /* of a worker */
#define RP_MOST_DAYS 3650          /* of a delay, a lease and other spans: */
#define RP_MOST_MS (RP_MOST_DAYS * INT64_C(86400000))
#define RP_MOST_TIME INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

/* The text of a failure is cut to so many bytes. */
#define RP_MOST_ERROR 4096

/* Bytes. A larger payload is not fetched ahead of its turn, and a worker holds
 * no more of those than it has threads. */
#define RP_LARGE_PAYLOAD 1048576

/* A whole number and a unit, ms s m h d, at most RP_MOST_DAYS ("90s"), into
 * milliseconds; RP_EINVAL. `0` needs no unit. */
RP_API int rp_duration(const char *text, int64_t *ret_ms);

/* The library's version, "0.1.0". */
RP_API const char *rp_version(void);

/* ---- connections ----------------------------------------------------- */

typedef struct rp_conn rp_conn;

/* What rp_open() may do to a database that has no queue in it yet. */
#define RP_SCHEMA_CREATE 0  /* in a new or empty database: create it */
#define RP_SCHEMA_INSTALL 1 /* also beside other people's tables */
#define RP_SCHEMA_REQUIRE 2 /* never: RP_ENODB or RP_ESCHEMA instead */

/* Zero means the default in every field. */
typedef struct rp_options {
	size_t size; /* sizeof(rp_options): set by RP_OPTIONS_INIT */
	int schema;  /* RP_SCHEMA_* */
	/* rp_attach() on PostgreSQL: the schema that the queue is in, NULL:
	 * readpast. Others name it in the URL, or have none. */
	const char *schema_name;
} rp_options;
#define RP_OPTIONS_INIT                                                        \
	{                                                                      \
		sizeof(rp_options), RP_SCHEMA_CREATE, NULL                     \
	}

/*
 * Open a database by URL. `options` may be NULL: all defaults. Free it with
 * rp_close().
 *
 *   sqlite:PATH?synchronous=full|normal&busy=10s
 *
 * PATH is a file name, relative or absolute; `%`, `?` and `#` in it are
 * written %25, %3F, %23. `synchronous=normal` gives up the last commits in a
 * power cut (never in a crash of the process) for speed. `busy` is how long a
 * call may wait for other writers before it fails with RP_EBUSY; default 10 s.
 *
 *   postgres://USER@HOST/DATABASE?schema=NAME
 *
 * in any form that libpq takes (also postgresql://, host=... dbname=...), with
 * its options. `schema` is ours: small letters, digits and _; default readpast.
 * A connection that broke is made anew by the next call; where calls follow
 * each other without a pause, one of them may fail with RP_ELOST first.
 *
 * Fails with RP_EINVAL (the URL), RP_ENODB (no file; no server, no database in
 * it), RP_ESCHEMA (other people's tables; a newer schema), RP_EREADONLY,
 * RP_EBUSY, RP_EDB (not a database file; no libpq.so.5, which the first
 * postgres URL loads; a library built without PostgreSQL, ...).
 */
RP_API int rp_open(const char *url, const rp_options *options, rp_conn **ret,
		   rp_error *reterr);

/*
 * Use a connection of your own: `native` is what `scheme` has, a `sqlite3 *`
 * of the same SQLite library for "sqlite", a `PGconn *` of the same libpq for
 * "postgres". While a transaction is open on it all calls join that (as
 * savepoints, so that a call that fails changes nothing): queue rows and your
 * rows commit or vanish together, and a claim or a verdict holds when your
 * transaction commits, not before. Otherwise each call is a transaction of its
 * own.
 *
 * No setting of the connection is changed. SQLite: not its journal mode, its
 * busy handler, its pragmas. So RP_EBUSY comes as fast as your busy handler
 * lets it; and a transaction that has read already and not written is refused
 * the write lock at once when others write or have written since: start it with
 * `begin immediate`. PostgreSQL: statements are prepared on it, named
 * readpast_...; a claim or a sweep in a transaction that is not at `read
 * committed` is refused with RP_EINVAL.
 *
 * Close the handle before the connection, which it leaves open. In a database
 * with tables of your own use RP_SCHEMA_INSTALL, once. Fails as rp_open() does;
 * on a SQLite connection with a transaction open or a statement running, the
 * first call looks at the schema, and fails so.
 */
RP_API int rp_attach(const char *scheme, void *native,
		     const rp_options *options, rp_conn **ret,
		     rp_error *reterr);

/* The database's own connection, a `sqlite3 *` or a `PGconn *`: for your SQL
 * beside the calls of this handle, between rp_begin() and rp_commit().
 * Borrowed, and not to be closed. NULL for NULL. */
RP_API void *rp_conn_native(rp_conn *conn);

/* The scheme of the database's URLs, "sqlite" or "postgres": so it is known
 * what rp_conn_native() returns. NULL for a NULL handle. */
RP_API const char *rp_conn_scheme(const rp_conn *conn);

/* The schema that the queue's tables are in, "readpast" unless the URL says
 * otherwise; NULL where a database has no schemas. Borrowed from the handle. */
RP_API const char *rp_conn_schema(const rp_conn *conn);

/* Close. NULL is allowed. Jobs still claimed stay claimed until their lease
 * runs out. An open transaction is rolled back. The handle is gone: using it
 * once more is an error like using any memory that was freed. */
RP_API void rp_close(rp_conn *conn);

/* The last failure of this handle; valid until its next call. Never NULL. */
RP_API const rp_error *rp_last_error(const rp_conn *conn);

/*
 * A transaction over several calls on this handle: what is between commits or
 * vanishes together; a call in it that fails changes nothing, and the others
 * stand. (Where memory or the disk ran out, the database may have given up all
 * of it: then the others fail, too, until it is ended.) While it is open other
 * writers of a SQLite file wait, so keep it short. RP_EINVAL when one is open
 * already (or none is, to commit).
 * On an attached connection it is a savepoint of the one that is open there.
 */
RP_API int rp_begin(rp_conn *conn);
RP_API int rp_commit(rp_conn *conn);
RP_API int rp_rollback(rp_conn *conn);

/*
 * When a backup was put back: make sure that no id is given again which was
 * given between the backup and the loss. Ids go on RP_IDS_SKIPPED higher; `ret`
 * (may be NULL) is the last one that will not be given. Where more jobs than
 * that were put in since the backup, call it again.
 */
#define RP_IDS_SKIPPED 1000000000
RP_API int rp_ids_skip(rp_conn *conn, int64_t *ret);

/* The database's clock in milliseconds. */
RP_API int rp_now(rp_conn *conn, int64_t *ret_ms);

/* ---- queues ---------------------------------------------------------- */

/*
 * A queue's settings. In rp_queue_set() a negative number (or NULL) leaves a
 * setting as it is; RP_QUEUE_INIT is all of them left alone.
 */
typedef struct rp_queue {
	size_t size;            /* set by RP_QUEUE_INIT */
	const char *name;       /* RP_MOST_NAME */
	int64_t paused_at;      /* 0: not paused. Not set by rp_queue_set() */
	int64_t max_attempts;   /* from 1 on, default 3 */
	int64_t lease_ms;       /* from 1 ms on, default 60 s */
	int64_t backoff_ms;     /* before the second attempt, doubling; 10 s */
	int64_t backoff_max_ms; /* the doubling ends here; 1 h */
	int64_t priority;       /* of jobs that name none; 100 */
	int64_t keep_done_ms;   /* how long done jobs are kept; 0: not at all */
	int64_t keep_dead_ms;   /* dead and cancelled ones; 30 d */
	int64_t max_payload;    /* bytes; 16 MiB */
} rp_queue;
#define RP_QUEUE_INIT                                                          \
	{                                                                      \
		sizeof(rp_queue), NULL, -1, -1, -1, -1, -1, -1, -1, -1, -1     \
	}

typedef struct rp_queues rp_queues;

/* Create the queue if it is not there, and change the settings named in it. */
RP_API int rp_queue_set(rp_conn *conn, const rp_queue *queue);

/* The settings of one queue (RP_ENOENT), or of all by name when `name` is
 * NULL. Free with rp_queues_free(). */
RP_API int rp_queue_list(rp_conn *conn, const char *name, rp_queues **ret);
RP_API size_t rp_queues_count(const rp_queues *queues);
RP_API const rp_queue *rp_queues_at(const rp_queues *queues, size_t i);
RP_API void rp_queues_free(rp_queues *queues);

/* A paused queue takes jobs and hands none out; running ones may finish. */
RP_API int rp_queue_pause(rp_conn *conn, const char *name);
RP_API int rp_queue_resume(rp_conn *conn, const char *name);

/* Remove a queue with all its jobs, live and kept. RP_ETAKEN while jobs run, or
 * a transaction is open that has put one in. On SQLite the queue is removed in
 * one short transaction and its jobs in many; those that a failure leaves are
 * removed by the next sweep, and nobody sees them until then. */
RP_API int rp_queue_drop(rp_conn *conn, const char *name);

/* ---- jobs ------------------------------------------------------------ */

/* States, as users see them. */
#define RP_STATES(X)                                                           \
	X(SCHEDULED, 1, "scheduled") /* not before run_at */                   \
	X(READY, 2, "ready")         /* in line */                             \
	X(RUNNING, 3, "running")     /* claimed */                             \
	X(DONE, 4, "done")                                                     \
	X(DEAD, 5, "dead") /* attempts used up, or failed for good */          \
	X(CANCELLED, 6, "cancelled")
#define RP_NUMBER_OF_STATE(name, number, text) RP_STATE_##name = (number),
enum { RP_STATES(RP_NUMBER_OF_STATE) };
#undef RP_NUMBER_OF_STATE

/* "ready" for RP_STATE_READY; NULL for a number that is no state. And back: 0
 * for a word that is none. */
RP_API const char *rp_state_text(int state);
RP_API int rp_state_number(const char *text);

/* One job as it was when it was read. Absent text is NULL, absent times 0. */
typedef struct rp_job {
	int64_t id; /* never reused */
	const char *queue;
	int state;       /* RP_STATE_* */
	int priority;    /* lower first */
	int64_t attempt; /* attempts begun: 1 for the first claim */
	int64_t max_attempts;
	int64_t claim_no;   /* the fence: names this claim in every verdict */
	const char *worker; /* name of who holds it, held it last */
	int64_t run_at;     /* ready since then, or not before then */
	int64_t created_at;
	int64_t claimed_at;  /* running jobs */
	int64_t lease_until; /* running jobs */
	int64_t finished_at; /* done, dead, cancelled jobs */
	const char *unique_key;
	const char *kind;
	const char *headers; /* a JSON object */
	const void *payload; /* followed by a NUL byte that is not part of it */
	size_t payload_size; /* bytes that are here */
	const char *last_error;
	const char *failures; /* JSON array, the last 10 failed attempts, oldest
				 first: attempt, at (ms), worker, text; of a
				 lease that ran out also host, and seen_at
				 (ms): when the worker was heard of last */
	int suspect;          /* claims only: it may be what killed its worker
				 (see rp_claim()); claim nothing beside it
				 until it has lived for two seconds */
	size_t payload_total; /* bytes in all: rp_job_list() has but the first
			       */
} rp_job;

/* Jobs that one call returned, read-only. One free for all of them. */
typedef struct rp_batch rp_batch;
RP_API size_t rp_batch_count(const rp_batch *batch);
RP_API const rp_job *rp_batch_at(const rp_batch *batch, size_t i);
RP_API void rp_batch_free(rp_batch *batch);

/* A job to be. Start from RP_JOB_SPEC_INIT; zero (NULL) means the default in
 * every field but priority, where -1 does. */
typedef struct rp_job_spec {
	size_t size;         /* set by RP_JOB_SPEC_INIT */
	const void *payload; /* any bytes */
	size_t payload_size;
	int priority;           /* lower first; -1: the queue's */
	int64_t delay_ms;       /* not before so long from now ... */
	int64_t run_at;         /* ... or not before this time */
	int64_t max_attempts;   /* 0: the queue's */
	const char *kind;       /* RP_MOST_NAME */
	const char *headers;    /* a JSON object */
	const char *unique_key; /* one live job of the queue has it */
	int replace;            /* a job that has the key and does not run yet
				   becomes this one, under its old id */
} rp_job_spec;
#define RP_JOB_SPEC_INIT                                                       \
	{                                                                      \
		sizeof(rp_job_spec), NULL, 0, -1, 0, 0, 0, NULL, NULL, NULL, 0 \
	}

/* The result of enqueueing one rp_job_spec. */
typedef struct rp_added {
	int64_t id;
	int outcome; /* RP_ADDED, RP_EXISTED, RP_REPLACED */
} rp_added;
#define RP_ADDED 0    /* a new job */
#define RP_EXISTED 1  /* a live job has the key: its id, nothing changed */
#define RP_REPLACED 2 /* a live job had the key: its id, now this job */

/*
 * Enqueue one job, or `n` of them (all or none, in order, each under its own
 * id). The queue is created if need be. When the call returns the jobs are
 * durable; inside a transaction, when that commits.
 *
 * `ret` has room for `n` answers and may be NULL. All elements of `jobs` have
 * the size that the first one names. If one of them is refused (RP_EINVAL,
 * RP_EFBIG), the error's `item` is its index; and if n > 1 the message begins
 * with "job I: ", I counting from 1.
 */
RP_API int rp_enqueue(rp_conn *conn, const char *queue, const rp_job_spec *job,
		      rp_added *ret);
RP_API int rp_enqueue_many(rp_conn *conn, const char *queue,
			   const rp_job_spec *jobs, size_t n, rp_added *ret);

/* Zero means the default in every field. */
typedef struct rp_claim_options {
	size_t size;               /* set by RP_CLAIM_INIT */
	int64_t lease_ms;          /* 0: the queue's */
	const char *const *queues; /* instead of `queue`: several, the first
				      one preferred, ended by a NULL */
	size_t holding; /* jobs that this worker holds already: with any, it
			   is handed no suspects (below) */
	size_t ahead;   /* of max, so many are fetched ahead: not started at
			   once. Jobs with one attempt, and those with a
			   large payload, never are. */
} rp_claim_options;
#define RP_CLAIM_INIT                                                          \
	{                                                                      \
		sizeof(rp_claim_options), 0, NULL, 0, 0                        \
	}

/*
 * Claim up to `max` jobs (from 1 on): lease them to the caller, attempt
 * counted. Returns how many; 0 with an empty batch when there is nothing.
 * The answer is in claim order. Free it with rp_batch_free().
 *
 * A job whose lease ran out twice in a row, or before its last attempt, is a
 * *suspect*: it may be what killed its worker. It is handed out alone, and only
 * to a caller that holds nothing.
 *
 * Source of the idea: UPDLOCK, READPAST on SQL Server; a mark of one's own
 * (the claim number) in the row; the attempt counted at the claim.
 */
RP_API int rp_claim(rp_conn *conn, const char *queue, size_t max,
		    const rp_claim_options *options, rp_batch **ret);

/* Suspects that this claim passed over because others were held. */
RP_API size_t rp_batch_suspects(const rp_batch *batch);

/* What a verdict says. The first four are also what a handler returns. */
#define RP_DONE 0    /* complete */
#define RP_FAIL 1    /* this attempt failed */
#define RP_DEAD 2    /* failed for good: never try again */
#define RP_RELEASE 3 /* give it back, attempt not counted */
#define RP_EXTEND 4  /* keep it: the lease runs from now again */

/* One verdict, and what became of it. Start from RP_VERDICT_INIT. */
typedef struct rp_verdict {
	size_t size; /* set by RP_VERDICT_INIT */
	int64_t id;
	int64_t claim_no;  /* the one that the claim was given */
	int verdict;       /* RP_DONE, ... */
	int64_t delay_ms;  /* RP_FAIL: tried again after so long, -1: after the
			      queue's backoff. RP_RELEASE: ready after so long,
			      -1: at once. RP_EXTEND: the lease, -1: the queue's
			    */
	const char *error; /* RP_FAIL, RP_DEAD: why. Kept up to RP_MOST_ERROR;
			      bytes that are not UTF-8 become '?' */
	int result;        /* answered: 0; RP_EGONE: no longer yours;
			      RP_ECANCELLED; RP_ENOENT: there never was such a
			      job. Refused means: nothing changed */
	int state;         /* answered: the job's state now, if result is 0 */
} rp_verdict;
#define RP_VERDICT_INIT                                                        \
	{                                                                      \
		sizeof(rp_verdict), 0, 0, RP_DONE, -1, NULL, 0, 0              \
	}

/*
 * Give `n` verdicts in one commit. Returns how many were accepted; the others
 * have their `result`. Of several on one claim the first counts. On failure
 * (negative) none took effect.
 */
RP_API int rp_settle(rp_conn *conn, rp_verdict *verdicts, size_t n);

/* One verdict. 0, RP_EGONE, RP_ECANCELLED or another failure. */
RP_API int rp_complete(rp_conn *conn, int64_t id, int64_t claim_no);
RP_API int rp_fail(rp_conn *conn, int64_t id, int64_t claim_no,
		   const char *error);
RP_API int rp_release(rp_conn *conn, int64_t id, int64_t claim_no,
		      int64_t delay_ms);
RP_API int rp_extend(rp_conn *conn, int64_t id, int64_t claim_no,
		     int64_t lease_ms);

/*
 * What a worker does all day: rp_settle() and then rp_claim() in one commit.
 * Returns how many jobs were claimed; `n` and `max` may be 0.
 */
RP_API int rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			       const char *queue, size_t max,
			       const rp_claim_options *options, rp_batch **ret);

/*
 * Cancel a job that is not finished yet. `kind`, unless NULL, must be the
 * job's. RP_ENOENT: no such job; RP_EGONE: it is finished already.
 */
RP_API int rp_job_cancel(rp_conn *conn, int64_t id, const char *kind);

/*
 * Send a dead or cancelled job back to ready: same id, no attempts used.
 * RP_ENOENT: no such job; RP_EGONE: it is alive or done; RP_ETAKEN: a live job
 * has its unique key now.
 */
RP_API int rp_job_retry(rp_conn *conn, int64_t id, const char *kind);

/* Retry all dead jobs of a queue (of one kind, unless NULL), in slices: a
 * failure in the middle leaves the others dead. Those whose key is taken stay
 * dead, and are counted in *ret_taken, which may be NULL. Returns how many. */
RP_API int64_t rp_queue_retry_dead(rp_conn *conn, const char *queue,
				   const char *kind, int64_t *ret_taken);

/* Forget the jobs of a queue in one state, any but RP_STATE_RUNNING (0: in all
 * but that), of one kind unless NULL, in slices. Returns how many. */
RP_API int64_t rp_queue_purge(rp_conn *conn, const char *queue, int state,
			      const char *kind);

/* What rp_sweep() did. */
typedef struct rp_swept {
	int64_t due;       /* came into line */
	int64_t recovered; /* lease ran out: in line again */
	int64_t dead;      /* lease ran out on the last attempt */
	int64_t dropped;   /* forgotten: kept jobs whose time is over, and jobs
			      of queues that were dropped */
} rp_swept;

/*
 * The maintenance: what is due comes into line, leases that ran out end,
 * retention. Workers do it all the time; a program that only claims calls it
 * about once a second. A sweep that finds nothing writes nothing. `ret` may be
 * NULL. Returns how many jobs it touched.
 */
RP_API int rp_sweep(rp_conn *conn, rp_swept *ret);

/* ---- waiting --------------------------------------------------------- */

/*
 * Sleep until a claim on one of the queues (a NULL at the end) may find
 * something: 1; or until timeout_ms is over: 0. -1 waits without end. Comes
 * back early, with 0, when the descriptor `fd` can be read (-1: none).
 */
RP_API int rp_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms,
		   int fd);

/* ---- looking --------------------------------------------------------- */

/* One job, live or kept: a batch of one. RP_ENOENT. */
RP_API int rp_job_get(rp_conn *conn, int64_t id, rp_batch **ret);

/* How a job stands. What is about waiting and running is 0 (NULL) for one that
 * is finished. */
typedef struct rp_why {
	const rp_job *job;
	int64_t now;       /* when this was read */
	int64_t paused_at; /* its queue: 0, not paused */
	int64_t ahead;     /* ready jobs that are handed out before it: counted
			      up to RP_MOST_AHEAD, which means "at least" */
	int suspect;       /* it may be what killed its worker: handed out
			      alone, to a worker that holds nothing else */
	int64_t workers;   /* seen within 30 s that serve its queue and its kind
			    */
	int64_t queue_workers; /* ... and its queue, whatever kinds */
	int64_t worker_id;     /* who holds it; 0: a client that is no worker */
	const char *host;      /* of that worker; NULL: it is forgotten */
	int64_t pid;
	int64_t silent_ms; /* since that worker was seen */
	int64_t renewed;   /* how often its lease was */
} rp_why;
#define RP_MOST_AHEAD 1000

/* Why one job does not run, or how it does: rp_job_get(), and what is around
 * it, which costs the same however many jobs there are. RP_ENOENT. Free it. */
RP_API int rp_why_get(rp_conn *conn, int64_t id, rp_why **ret);
RP_API void rp_why_free(rp_why *why);

/*
 * Up to `max` jobs of a queue in one state, or, with state 0, all live ones:
 * running (longest first), ready in claim order, scheduled. Finished ones come
 * newest first. RP_ENOENT: no such queue. Returns how many. Of a payload only
 * the first RP_LIST_PAYLOAD bytes are read: rp_job_get() has all of it.
 */
#define RP_LIST_PAYLOAD 256
RP_API int rp_job_list(rp_conn *conn, const char *queue, int state, size_t max,
		       rp_batch **ret);

/* A queue in numbers. Absent times are -1. */
typedef struct rp_queue_stats {
	const char *queue;
	int paused;
	int64_t scheduled, ready, running, done, dead, cancelled;
	int64_t oldest_ready_ms, longest_running_ms;
	int64_t workers;              /* seen within the last 30 s */
	int64_t done_10s, failed_10s; /* within the last 10 s */
} rp_queue_stats;

typedef struct rp_stats rp_stats;
/* Of one queue (RP_ENOENT), or of all by name when NULL. Free it. */
RP_API int rp_stats_get(rp_conn *conn, const char *queue, rp_stats **ret);
RP_API size_t rp_stats_count(const rp_stats *stats);
RP_API const rp_queue_stats *rp_stats_at(const rp_stats *stats, size_t i);
RP_API void rp_stats_free(rp_stats *stats);

/* A worker, as it last said itself. */
typedef struct rp_worker_info {
	int64_t id;
	const char *name, *host;
	int64_t pid;
	const char *queues; /* a JSON array */
	int64_t started_at, seen_at;
	int64_t silent_ms; /* since seen_at */
	int64_t running;   /* jobs it holds */
	int64_t done, failed, dead, released;
} rp_worker_info;

typedef struct rp_workers rp_workers;
RP_API int rp_worker_list(rp_conn *conn, rp_workers **ret);
RP_API size_t rp_workers_count(const rp_workers *workers);
RP_API const rp_worker_info *rp_workers_at(const rp_workers *workers, size_t i);
RP_API void rp_workers_free(rp_workers *workers);

/* ---- copying to another database -------------------------------------- */

/* What rp_copy() is about, and has done. */
#define RP_COPY_WAITING 1   /* for running jobs to end */
#define RP_COPY_COPYING 2   /* the first walk over the source */
#define RP_COPY_VERIFYING 3 /* it is compared with the target */
#define RP_COPY_REMOVING 4  /* compared once more, and out of the source */
typedef struct rp_copied {
	int doing;             /* RP_COPY_* */
	int64_t position, end; /* of this walk, in ids of the source */
	int64_t queues;
	int64_t live, kept; /* jobs that are in the target as in the source:
			       those of the last walk so far */
	int64_t written;    /* put into the target */
	int64_t removed;    /* out of the source */
	int64_t running;    /* left in the source */
	int64_t shift;      /* a job's id there, less its id here; -1: not of
			       all jobs the same */
} rp_copied;

/* Told when the copy has begun, and now and then how far it is; not 0: stop,
 * with RP_ECANCELLED. */
typedef int rp_copy_progress(const rp_copied *so_far, void *ctx);

/* Zero means the default in every field. */
typedef struct rp_copy_options {
	size_t size;               /* set by RP_COPY_INIT */
	const char *const *queues; /* ended by a NULL; NULL: all */
	int move;                  /* what is in the target leaves the source */
	int leave_running; /* running jobs stay; otherwise they are waited
			      for, however long they run */
	rp_copy_progress *progress;
	void *progress_ctx;
} rp_copy_options;
#define RP_COPY_INIT                                                           \
	{                                                                      \
		sizeof(rp_copy_options), NULL, 0, 0, NULL, NULL                \
	}

/*
 * Make queues of `from` the same in `to`: settings, live jobs with place in
 * line, times, attempts, claim numbers, keys and failures, kept jobs. Ids are
 * the same where the target has never given them, or else all moved up by one
 * number. Every job is compared in all its fields before this returns. `ret`
 * and `reterr` may be NULL.
 *
 * Both queues are paused while it runs. After a copy the source goes on if it
 * did before and the target stays paused; after a move it is the other way
 * round. What is enqueued at the source meanwhile comes along.
 *
 * A call that failed before `progress` was first told leaves the source as it
 * was, unless a commit's outcome is unknown (RP_ELOST). One that failed later,
 * or was killed, has lost and doubled nothing and leaves both sides paused: the
 * same call goes on from there. Made again after it succeeded it brings the
 * copy up to date, as long as that was not resumed, or moves what has come to
 * the source since.
 *
 * RP_EINVAL: one and the same database. RP_ENOENT: no such queue. RP_ETAKEN:
 * the target has jobs in a queue of that name.
 */
RP_API int rp_copy(rp_conn *from, rp_conn *to, const rp_copy_options *options,
		   rp_copied *ret, rp_error *reterr);

/* ---- the worker ------------------------------------------------------ */

typedef struct rp_worker rp_worker;
typedef struct rp_task rp_task;

/*
 * A handler does one job and says what became of it: RP_DONE, RP_FAIL, RP_DEAD
 * or RP_RELEASE; anything else counts as RP_FAIL. It is called on one of the
 * worker's threads; the job is read-only and lives until it returns. The worker
 * holds no more large payloads (RP_LARGE_PAYLOAD) than it has threads.
 */
typedef int rp_handler(rp_task *task, const rp_job *job, void *ctx);

/* Why the job failed, for RP_FAIL and RP_DEAD. The text is copied. */
RP_API int rp_task_error(rp_task *task, const char *text);
/* Try again (RP_FAIL) or be ready (RP_RELEASE) after so long. */
RP_API int rp_task_delay(rp_task *task, int64_t delay_ms);

/*
 * The calls on a task are made by the thread that runs its handler, and refused
 * elsewhere with RP_EINVAL. Only rp_task_state() may be asked by any thread,
 * until the handler returns. A task that was pulled (rp_worker_next()) is a
 * handle like others: it belongs to one thread at a time, and while its
 * transaction is open to the thread that began it.
 */

/* The lease runs from now again, and for so long; renewed at a third of that.
 * A worker renews leases by itself: this is for handlers that know that the
 * process will stand still. Not while the task's transaction is open.
 * RP_EGONE, RP_ECANCELLED: lost. RP_EBUSY: somebody else has the job's row
 * locked; nothing has changed. */
RP_API int rp_task_extend(rp_task *task, int64_t lease_ms);

/*
 * Effects exactly once, in this database. rp_task_begin() opens a transaction
 * that writes, on a connection of this thread's own: rp_conn_native(*ret) is
 * for your SQL, *ret for rp_enqueue() and the like; do not close it or end the
 * transaction by other means. rp_task_complete() says in it that the job is
 * done; rp_task_commit() makes all of it happen at once, and then the handler
 * returns RP_DONE. A handler that returns without commit has done nothing, and
 * its verdict counts as ever.
 *
 * When the lease was lost rp_task_complete() fails with RP_EGONE (or
 * RP_ECANCELLED), and so does the commit, which rolls back. After a commit
 * without complete the next transaction may be begun.
 *
 * Other writers of a SQLite file wait while it is open. The words of a failure
 * become the task's error if it has none.
 */
RP_API int rp_task_begin(rp_task *task, rp_conn **ret);
RP_API int rp_task_complete(rp_task *task);
RP_API int rp_task_commit(rp_task *task);
RP_API int rp_task_rollback(rp_task *task);

/* How a task stands. Handlers that run for long ask now and then. */
#define RP_TASK_RUNNING 0   /* go on */
#define RP_TASK_STOPPING 1  /* the worker drains: finish, or give it back */
#define RP_TASK_LOST 2      /* the lease ran out: stop, the verdict is void */
#define RP_TASK_CANCELLED 3 /* somebody cancelled the job: likewise */
RP_API int rp_task_state(const rp_task *task);

/* What a worker tells who watches it. */
#define RP_EVENT_CLAIM 1   /* it was handed a job */
#define RP_EVENT_START 2   /* a handler begins */
#define RP_EVENT_SETTLE 3  /* it is about to give a verdict */
#define RP_EVENT_SETTLED 4 /* the answer to it: result, state */
#define RP_EVENT_LOST 5    /* a renewal was refused: result says why */
#define RP_EVENT_TROUBLE 6 /* a call failed and will be made again: text */
typedef struct rp_event {
	size_t size;
	int what;            /* RP_EVENT_* */
	const rp_job *job;   /* NULL for RP_EVENT_TROUBLE. When its handler is
				over it has no payload, if that is large */
	int verdict;         /* SETTLE, SETTLED: RP_DONE ... RP_EXTEND */
	int result;          /* SETTLED, LOST: 0 or RP_E*. TROUBLE: RP_E* */
	int state;           /* SETTLED: the job's state now */
	int64_t duration_ms; /* SETTLED: how long the handler took */
	int64_t asked_us;    /* CLAIM, SETTLED: when the database was asked,
				by CLOCK_MONOTONIC */
	const char *text;    /* SETTLE: the error; TROUBLE: what went wrong */
} rp_event;
typedef void rp_observer(const rp_event *event, void *ctx);

/* Zero means the default in every field. */
typedef struct rp_worker_options {
	size_t size;      /* set by RP_WORKER_INIT */
	int threads;      /* handlers, or tasks pulled, at a time, 1..1024; 1 */
	int64_t lease_ms; /* 0: each queue's own. Renewed at a third */
	int64_t max_jobs; /* drain after so many claims; 0: never */
	int drain;        /* end when the queues, unless paused, hold no job
			     ready, due or running, in any process */
	const char *name; /* what `worker` shows; HOST:PID */
	rp_observer
		*observer; /* called by the worker's threads, one at a time */
	void *observer_ctx;
} rp_worker_options;
#define RP_WORKER_INIT                                                         \
	{                                                                      \
		sizeof(rp_worker_options), 0, 0, 0, 0, NULL, NULL, NULL        \
	}

/* What a worker has done. */
typedef struct rp_worker_counts {
	int64_t claimed, done, failed, dead, released, lost;
} rp_worker_counts;

/*
 * A worker on the database at `url`. Free it with rp_worker_free(). The
 * connections it works with are opened by rp_worker_run().
 */
RP_API int rp_worker_new(const char *url, const rp_worker_options *options,
			 rp_worker **ret, rp_error *reterr);
RP_API void rp_worker_free(rp_worker *worker);

/* Serve a queue; the first one named is preferred. `kind` NULL: all jobs that
 * no other handler of the queue is for. */
RP_API int rp_worker_handle(rp_worker *worker, const char *queue,
			    const char *kind, rp_handler *handler, void *ctx);

/*
 * Work until rp_worker_stop(), `drain` or `max_jobs`. Then nothing more is
 * claimed, what was not started is given back, and what runs may finish: the
 * call returns when the last handler has. 0, or the failure that ended it.
 */
RP_API int rp_worker_run(rp_worker *worker, rp_error *reterr);

/* End it; from any thread, also from a signal handler. */
RP_API void rp_worker_stop(rp_worker *worker);

/* At any time, from any thread. Each number is exact; while the worker works
 * they may be of different moments. */
RP_API rp_worker_counts rp_worker_counts_get(const rp_worker *worker);

/*
 * Pulling: for a program that has an event loop of its own, and for bindings.
 * Instead of handlers that the worker calls, the program asks for one task
 * after the other, does the job wherever it likes, and gives the verdict. All
 * else is as with rp_worker_run(), in a thread of the worker's own, which the
 * first rp_worker_next() starts: it claims, renews the leases of the tasks that
 * are out, settles and sweeps. It never calls the program, but for the
 * observer. A worker is run or pulled, not both.
 */

/* Serve a queue without a handler, for rp_worker_next(). `kind` as above. */
RP_API int rp_worker_serve(rp_worker *worker, const char *queue,
			   const char *kind);

/*
 * Take the next task, waiting for one for up to timeout_ms; 0 does not wait, -1
 * waits without end. As many may be out at once as the options say threads;
 * with those out it waits until one is finished. Threads may call it at once.
 * RP_NEXT_TASK; or RP_NEXT_NONE; or RP_NEXT_END: stopped, drained or max_jobs,
 * no task is out, and there will be none. A negative number: the failure that
 * ended the worker, again at each call; the jobs that are out are left to their
 * leases.
 *
 * Tasks that nobody takes within half a second are given back, for other
 * workers may be free, and no more are claimed until the next call.
 */
#define RP_NEXT_NONE 0
#define RP_NEXT_TASK 1
#define RP_NEXT_END 2
RP_API int rp_worker_next(rp_worker *worker, int64_t timeout_ms, rp_task **ret,
			  rp_error *reterr);

/* The task's job, until rp_task_finish(). */
RP_API const rp_job *rp_task_job(const rp_task *task);

/*
 * The verdict on a task that was pulled: RP_DONE, RP_FAIL, RP_DEAD or
 * RP_RELEASE, with rp_task_error() and rp_task_delay() said before. An open
 * transaction of its is rolled back. 0: the worker's thread gives the verdict
 * in its next commit; if the process dies before, the lease runs out, and if
 * somebody else has the job by then it is refused, which the observer and the
 * counts say. (What must be known to have happened goes with
 * rp_task_complete() and rp_task_commit() before.) RP_EGONE, RP_ECANCELLED: the
 * job was lost already; or the failure that ended the worker. In all these
 * cases the task is gone. RP_EINVAL: it is not.
 */
RP_API int rp_task_finish(rp_task *task, int verdict);

/*
 * A descriptor to poll: it can be read while rp_worker_next() is to be called,
 * with timeout_ms 0: for the first time, or because a task is there, or tasks
 * were given back, or the worker has ended. Read nothing from it. It is the
 * worker's, and lives as long.
 *
 * rp_worker_stop() claims nothing more and gives back what was not pulled; the
 * tasks that are out may be finished, and then rp_worker_next() says
 * RP_NEXT_END. rp_worker_free() gives back those that are still out, waits for
 * the database's answer, and is called when no other thread has a task or is
 * in rp_worker_next(). After fork() the child uses none of the parent's: calls
 * are refused with RP_EINVAL, and rp_worker_free() does nothing.
 */
RP_API int rp_worker_fd(const rp_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
