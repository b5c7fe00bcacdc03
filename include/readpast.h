/*
 * readpast.h - a durable work queue in the SQL database you already have.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * This file is the public interface and its reference. Nothing else in the
 * library is meant for callers. docs/design.md explains the model: jobs,
 * leases, promises.
 *
 * Threads: one thread at a time may use a handle. While a transaction is open,
 * only the thread that began it may use the handle; calls from another thread
 * return RP_EINVAL. Open one handle per thread. Handles share nothing, and the
 * library has no global state of its own.
 *
 * fork(): a child may use only the handles that it opened itself; calls on its
 * parent's handles return RP_EINVAL. On SQLite, open no handle, and no
 * connection of your own to the same file, before fork(): SQLite believes that
 * the child holds the locks that the parent held at the fork. If the parent
 * held the write lock, the child waits for it in vain, and RP_EBUSY says so.
 *
 * The library never prints, never exits, and never touches signals.
 *
 * Errors: a call that can fail returns a negative RP_E* number. Zero or a
 * positive count is success. rp_last_error() has the message.
 *
 * Ownership: the caller owns what is returned through a parameter named `ret`,
 * and the description names the call that frees it. `ret` is written on success
 * only, `reterr` on failure only. Everything else is borrowed: the library
 * keeps no argument after the call returns, and a pointer that it returns is
 * valid for as long as the object that it came from, unless the description
 * says otherwise.
 *
 * Time: int64_t milliseconds. Points in time count from 1970-01-01 UTC on the
 * *database's* clock, and are never compared with a client's clock.
 */
#ifndef READPAST_H
#define READPAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(RP_API)
/* A project that compiles the library into something else defines RP_API
 * itself. */
#elif defined(__GNUC__)
#define RP_API __attribute__((visibility("default")))
#else
#define RP_API
#endif

/* ---- errors ---------------------------------------------------------- */

/*
 * Each error has a name, a number, an outcome (0: nothing was done; 1: nothing
 * was done, and the same call may succeed later; 2: unknown) and a message. The
 * numbers are part of the ABI. There is one error for each thing that a caller
 * may want to do next.
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
	X(EFBIG, -10, 0, "payload, result or progress too large")              \
	X(EREADONLY, -11, 0, "database is read-only")                          \
	X(ENODB, -12, 0, "no database there")                                  \
	X(EFULL, -13, 0, "disk or database full")                              \
	X(ETAKEN, -14, 0, "in use by a live job")                              \
	X(EDAMAGED, -15, 0, "database damaged, or not a database")

#define RP_NUMBER_OF_ERROR(name, number, outcome, text) RP_##name = (number),
enum { RP_ERRORS(RP_NUMBER_OF_ERROR) };
#undef RP_NUMBER_OF_ERROR

/* The error of a failed call. It is plain data with nothing to free. Its
 * size is part of the ABI: 256 bytes. */
typedef struct rp_error {
	int code;          /* RP_E* */
	int native;        /* the database driver's own error number, or 0 */
	char sqlstate[8];  /* "" if the database has none */
	char message[232]; /* one line of UTF-8, without a newline */
	int64_t item;      /* index, from 0, of the refused job in the call's
			    * array; -1: the error is not about a single job */
} rp_error;

/* Returns the message of an RP_E* number ("the job is no longer yours").
 * Never NULL. */
RP_API const char *rp_error_text(int code);

/* ---- limits ---------------------------------------------------------- */

/*
 * The limits. A value beyond one is refused with RP_EINVAL (a payload, a result
 * and progress with RP_EFBIG), on every database, in C and in SQL. Names, keys
 * and reasons must be UTF-8 without control characters.
 */
#define RP_MOST_NAME 128     /* bytes of a queue's name, or of a kind */
#define RP_MOST_KEY 255      /* bytes of a unique key */
#define RP_MOST_WORKER 255   /* bytes of a worker's name */
#define RP_MOST_REASON 255   /* bytes of the reason for a pause */
#define RP_MOST_SPEC 255     /* bytes of a schedule's spec */
#define RP_MOST_ZONE 63      /* bytes of a time zone's name */
#define RP_MOST_PRIORITY 255 /* a job's priority; the smallest is 0 */
#define RP_MOST_ATTEMPTS 1000000000
#define RP_MOST_PAYLOAD 1000000000 /* bytes; a queue can have a lower limit */
#define RP_MOST_CLAIMED 100000     /* jobs in one claim */
#define RP_MOST_BACKOFF 100        /* delays in a job's own list */
#define RP_MOST_THREADS 1024       /* of a worker */
#define RP_MOST_DAYS 3650          /* of a delay, a lease or another duration */
#define RP_MOST_MS (RP_MOST_DAYS * INT64_C(86400000))
#define RP_MOST_TIME INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

/* Most bytes of the error text of a failed job. A longer text is truncated. */
#define RP_MOST_ERROR 4096

/* Most bytes of a job's result, and of its progress. Larger ones are refused
 * with RP_EFBIG. */
#define RP_MOST_RESULT 65536
#define RP_MOST_PROGRESS 4096

/* A payload of more bytes than this is large. A job with a large payload is
 * not prefetched, and a worker holds at most one such job for each of its
 * threads. */
#define RP_LARGE_PAYLOAD 1048576

/* Convert a duration ("90s": a whole number and one of the units ms, s, m,
 * h, d; `0` needs no unit) to milliseconds. RP_EINVAL: the text is not a
 * duration, or it is longer than RP_MOST_DAYS. */
RP_API int rp_duration(const char *text, int64_t *ret_ms);

/* The library's version, such as "0.1.0". */
RP_API const char *rp_version(void);

/* ---- connections ----------------------------------------------------- */

typedef struct rp_conn rp_conn;

/* Values of rp_options.schema: whether rp_open() creates the queue's tables
 * if the database has none. */
#define RP_SCHEMA_CREATE 0  /* create them if the database is new or empty */
#define RP_SCHEMA_INSTALL 1 /* create them also beside other tables */
#define RP_SCHEMA_REQUIRE 2 /* create none: RP_ENODB or RP_ESCHEMA */

/* Options of rp_open() and rp_attach(). In every field zero means the
 * default. */
typedef struct rp_options {
	size_t size; /* sizeof(rp_options): set by RP_OPTIONS_INIT */
	int schema;  /* RP_SCHEMA_* */
	/* For rp_attach() on PostgreSQL: the schema with the queue's tables;
	 * NULL: "readpast". Not used otherwise: rp_open() takes the schema from
	 * the URL, and SQLite has no schemas. */
	const char *schema_name;
} rp_options;
#define RP_OPTIONS_INIT                                                        \
	{                                                                      \
		sizeof(rp_options), RP_SCHEMA_CREATE, NULL                     \
	}

/*
 * Open a database by URL. `options` may be NULL for all defaults. Free the
 * handle with rp_close().
 *
 *   sqlite:PATH?synchronous=full|normal&busy=10s
 *
 * PATH is a file name, relative or absolute. Write `%`, `?` and `#` in it as
 * %25, %3F and %23. `synchronous=normal` is faster, but a power cut may lose
 * the last commits (a crash of the process loses none). `busy` is how long a
 * call waits for other writers before it fails with RP_EBUSY; the default is
 * ten seconds.
 *
 *   postgres://USER@HOST/DATABASE?schema=NAME
 *
 * in any form that libpq accepts (also postgresql://, host=... dbname=...),
 * with libpq's options. readpast adds `schema`: lower-case letters, digits and
 * _; the default is readpast. If the connection breaks, the next call opens a
 * new one. In a series of calls without pauses, one call may fail with RP_ELOST
 * first.
 *
 * Fails with RP_EINVAL (the URL), RP_ENODB (no such file, server or database),
 * RP_ESCHEMA (the database has other tables, or a newer version of the schema),
 * RP_EREADONLY, RP_EBUSY, or RP_EDB (not a database file; libpq.so.5 is
 * missing, which is loaded for the first postgres URL; the library was built
 * without PostgreSQL; ...).
 */
RP_API int rp_open(const char *url, const rp_options *options, rp_conn **ret,
		   rp_error *reterr);

/*
 * Use a connection of your own. `native` is, for the scheme "sqlite", a
 * `sqlite3 *` of the SQLite library that this library uses; for "postgres", a
 * `PGconn *` of the same libpq. While a transaction is open on the connection,
 * all calls join it, each as a savepoint, so that a call that fails changes
 * nothing. The queue's rows and your rows are committed or rolled back
 * together, and a claim or a verdict takes effect when your transaction
 * commits. If no transaction is open, each call is a transaction of its own.
 *
 * The library changes no setting of the connection. SQLite: it leaves the
 * journal mode, the busy handler and the pragmas alone, so your busy handler
 * decides how soon a call fails with RP_EBUSY. If a transaction has read and
 * not yet written, and others are writing or have written since it first read,
 * SQLite refuses it the write lock at once: start such a transaction with
 * `begin immediate`. PostgreSQL: the library prepares statements whose names
 * begin with readpast_. In a transaction that is not at `read committed`,
 * claims and sweeps return RP_EINVAL.
 *
 * Close the handle before the connection; rp_close() leaves the connection
 * open. In a database with tables of your own, use RP_SCHEMA_INSTALL once.
 * Fails as rp_open() does. If a transaction is open or a statement is running
 * on a SQLite connection, the schema is checked by the first call instead,
 * which then fails with these errors.
 */
RP_API int rp_attach(const char *scheme, void *native,
		     const rp_options *options, rp_conn **ret,
		     rp_error *reterr);

/* The database connection of this handle, a `sqlite3 *` or a `PGconn *`, for
 * SQL of your own between rp_begin() and rp_commit(). Borrowed: do not close
 * it. NULL for a NULL handle. */
RP_API void *rp_conn_native(rp_conn *conn);

/* The scheme of the database's URLs, "sqlite" or "postgres". It tells which
 * type rp_conn_native() returns. NULL for a NULL handle. */
RP_API const char *rp_conn_scheme(const rp_conn *conn);

/* The schema with the queue's tables: "readpast", or the one that the URL
 * names. NULL on a database without schemas. Borrowed from the handle. */
RP_API const char *rp_conn_schema(const rp_conn *conn);

/* Returns 1 if opening this handle created the queue's tables (so that a
 * program can tell its user about a new database), else 0. Returns 0 for a
 * NULL handle. */
RP_API int rp_conn_is_new(const rp_conn *conn);

/* Close the handle and free it; NULL is allowed. An open transaction is rolled
 * back. Claimed jobs stay claimed until their leases run out. */
RP_API void rp_close(rp_conn *conn);

/* The last error of this handle; valid until the next call on it. Never
 * NULL. */
RP_API const rp_error *rp_last_error(const rp_conn *conn);

/*
 * A transaction that spans several calls on this handle. They are committed or
 * rolled back together. If one of them fails, it changes nothing, and the calls
 * before it remain in effect. (If memory or the disk ran out, the database may
 * have rolled back the whole transaction. Then all further calls fail until
 * rp_rollback().) Keep the transaction short on SQLite: other writers of the
 * file wait for it. RP_EINVAL: rp_begin() while a transaction is open,
 * rp_commit() or rp_rollback() without one. On an attached connection with an
 * open transaction, this is a savepoint in that transaction.
 */
RP_API int rp_begin(rp_conn *conn);
RP_API int rp_commit(rp_conn *conn);
RP_API int rp_rollback(rp_conn *conn);

/*
 * Call this after a backup was restored. It makes sure that the ids that were
 * given to jobs after the backup was made are not given again: new ids continue
 * RP_IDS_SKIPPED higher. `ret` (may be NULL) is set to the last id that is
 * skipped. If more than RP_IDS_SKIPPED jobs were enqueued after the backup,
 * call it again.
 */
#define RP_IDS_SKIPPED 1000000000
RP_API int rp_ids_skip(rp_conn *conn, int64_t *ret);

/* Read the current time of the database's clock in milliseconds. */
RP_API int rp_now(rp_conn *conn, int64_t *ret_ms);

/* ---- queues ---------------------------------------------------------- */

/*
 * A queue's settings. In rp_queue_set() a negative number (or NULL) leaves a
 * setting unchanged; RP_QUEUE_INIT does so for all of them.
 */
typedef struct rp_queue {
	size_t size;            /* set by RP_QUEUE_INIT */
	const char *name;       /* at most RP_MOST_NAME bytes */
	int64_t paused_at;      /* 0: not paused. rp_queue_set() ignores it */
	int64_t max_attempts;   /* 1 or more; default 3 */
	int64_t lease_ms;       /* 1 or more; default 60 s */
	int64_t backoff_ms;     /* delay before the second attempt, doubled for
				 * each further one; default 10 s */
	int64_t backoff_max_ms; /* the longest such delay; default 1 h */
	int64_t priority;       /* of jobs that are enqueued without one;
				 * default 100 */
	int64_t keep_done_ms;   /* how long done jobs are kept; default 0: they
				 * are deleted at once */
	int64_t keep_dead_ms;   /* how long dead and cancelled jobs are kept;
				 * default 30 days */
	int64_t max_payload;    /* bytes; default 16 MiB */
	const char *pause_reason; /* NULL: none. rp_queue_set() ignores it */
	int64_t timeout_ms;  /* the longest run of a handler, for jobs that say
			      * nothing else; default 0: no limit */
	const char *dead_to; /* NULL: none. A job that dies leaves a job in the
			      * queue of this name, in the same commit: with its
			      * payload, kind and headers, and the headers
			      * dead-id, dead-queue and
			      * dead-error. rp_queue_set() creates that
			      * queue; it refuses (RP_EINVAL) one from which
			      * dead jobs would come back to this queue, and ""
			      * ends the setting */
} rp_queue;
#define RP_QUEUE_INIT                                                          \
	{                                                                      \
		sizeof(rp_queue), NULL, -1, -1, -1, -1, -1, -1, -1, -1, -1,    \
			NULL, -1, NULL                                         \
	}

typedef struct rp_queues rp_queues;

/* Create the queue if it does not exist, and change the given settings. */
RP_API int rp_queue_set(rp_conn *conn, const rp_queue *queue);

/* Read the settings of the queue `name`, or of all queues, sorted by name, if
 * `name` is NULL. RP_ENOENT: no queue has this name. Free the result with
 * rp_queues_free(). */
RP_API int rp_queue_list(rp_conn *conn, const char *name, rp_queues **ret);
RP_API size_t rp_queues_count(const rp_queues *queues);
RP_API const rp_queue *rp_queues_at(const rp_queues *queues, size_t i);
RP_API void rp_queues_free(rp_queues *queues);

/* Workers get no jobs from a paused queue. Running jobs may finish, and new
 * jobs can be enqueued. `reason` (RP_MOST_REASON bytes) is text for people,
 * shown wherever the pause is shown. If it is NULL, a queue that is already
 * paused keeps its reason. rp_queue_resume() deletes it. */
RP_API int rp_queue_pause(rp_conn *conn, const char *name, const char *reason);
RP_API int rp_queue_resume(rp_conn *conn, const char *name);

/* Delete a queue with its schedules and all its jobs, live and kept. RP_ETAKEN:
 * a job is running, or an open transaction has enqueued one. On SQLite one
 * short transaction removes the queue, and several others delete its jobs. If
 * the call fails in between, the queue is gone, the remaining jobs are
 * invisible, and the next sweep deletes them. */
RP_API int rp_queue_drop(rp_conn *conn, const char *name);

/* ---- jobs ------------------------------------------------------------ */

/* The states of a job, as users see them. */
#define RP_STATES(X)                                                           \
	X(SCHEDULED, 1, "scheduled") /* not before run_at */                   \
	X(READY, 2, "ready")         /* claimable */                           \
	X(RUNNING, 3, "running")     /* claimed */                             \
	X(DONE, 4, "done")                                                     \
	X(DEAD, 5, "dead") /* attempts used up, or failed for good */          \
	X(CANCELLED, 6, "cancelled")
#define RP_NUMBER_OF_STATE(name, number, text) RP_STATE_##name = (number),
enum { RP_STATES(RP_NUMBER_OF_STATE) };
#undef RP_NUMBER_OF_STATE

/* rp_state_text() returns the name of a state ("ready" for RP_STATE_READY),
 * or NULL for an unknown number. rp_state_number() returns the number of a
 * name, or 0 for an unknown name. */
RP_API const char *rp_state_text(int state);
RP_API int rp_state_number(const char *text);

/* One job at the time when it was read. Texts that are not set are NULL, times
 * that are not set are 0. Times are in milliseconds. */
typedef struct rp_job {
	int64_t id; /* never reused */
	const char *queue;
	int state;       /* RP_STATE_* */
	int priority;    /* lower runs first */
	int64_t attempt; /* attempts started: 1 during the first claim */
	int64_t max_attempts;
	int64_t claim_no;   /* the fencing token; a verdict names the claim by
			     * this number */
	const char *worker; /* the worker that holds it, or held it last */
	int64_t run_at;     /* when it became ready, or will become ready */
	int64_t created_at;
	int64_t claimed_at;  /* running jobs only */
	int64_t lease_until; /* running jobs only */
	int64_t finished_at; /* done, dead and cancelled jobs only */
	const char *unique_key;
	const char *kind;
	const char *headers; /* a JSON object */
	const void *payload; /* followed by a NUL byte, which payload_size does
			      * not count */
	size_t payload_size; /* bytes at `payload` */
	const char *last_error;
	/* A JSON array of the last 10 failed attempts, oldest first. Each
	 * has attempt, at (ms), worker and text; if the lease ran out, also
	 * host and seen_at (ms), the time of the worker's last heartbeat. */
	const char *failures;
	int suspect;          /* set by claims only: the job may have killed
			       * its worker (see rp_claim()). Claim no other
			       * job until it has run for two seconds */
	size_t payload_total; /* bytes of the whole payload: rp_job_list()
			       * reads only its beginning */
	/* The job's own terms; 0 or NULL: none. See rp_job_spec. */
	int64_t keep_ms;
	int64_t timeout_ms;  /* the job's, or else its queue's; 0: no limit */
	int64_t expire_at;   /* it is not claimed after this time */
	const char *backoff; /* JSON array of milliseconds */
	int64_t unique_for_ms;
	const char *progress; /* reported last, by this attempt or an earlier
			       * one; see rp_task_progress() */
	const void *result;   /* of a done job that is kept, followed by a NUL
			       * byte; NULL: none. See rp_task_result() */
	size_t result_size;   /* bytes at `result` */
} rp_job;

/* A read-only list of jobs. rp_batch_free() frees the jobs and all that they
 * point to. rp_batch_is_partial(): see rp_job_list(). */
typedef struct rp_batch rp_batch;
RP_API size_t rp_batch_count(const rp_batch *batch);
RP_API const rp_job *rp_batch_at(const rp_batch *batch, size_t i);
RP_API int rp_batch_is_partial(const rp_batch *batch);
RP_API void rp_batch_free(rp_batch *batch);

/* A job to enqueue. Start from RP_JOB_SPEC_INIT. Zero (NULL) means the default
 * in every field but `priority`, whose default is -1. */
typedef struct rp_job_spec {
	size_t size;         /* set by RP_JOB_SPEC_INIT */
	const void *payload; /* any bytes */
	size_t payload_size;
	int priority;           /* lower runs first; -1: the queue's default */
	int64_t delay_ms;       /* how long until it is ready */
	int64_t run_at;         /* when it is ready; not together with
				 * delay_ms */
	int64_t max_attempts;   /* 0: the queue's default */
	const char *kind;       /* at most RP_MOST_NAME bytes */
	const char *headers;    /* a JSON object */
	const char *unique_key; /* at most one live job of the queue may have
				 * it */
	int replace;            /* 1: if a job with this key has not started,
				 * it is replaced by this job and keeps its
				 * id */
	int64_t keep_ms;     /* how long it is kept after it is done, whatever
			      * its queue says */
	int64_t timeout_ms;  /* longest run of a handler. The library only tells
			      * it (rp_job); the command `work` enforces it */
	int64_t expire_ms;   /* if it is not claimed within this time of the
			      * enqueue, it is cancelled. RP_EINVAL: it would
			      * be over before the job is due */
	const char *backoff; /* a JSON array of milliseconds, at most
			      * RP_MOST_BACKOFF: the delays after the first,
			      * second, ... failed attempt; the last
			      * repeats */
	int64_t unique_for_ms; /* unique_key stays taken for so long after the
				* job is done */
} rp_job_spec;
#define RP_JOB_SPEC_INIT                                                       \
	{                                                                      \
		sizeof(rp_job_spec), NULL, 0, -1, 0, 0, 0, NULL, NULL, NULL,   \
			0, 0, 0, 0, NULL, 0                                    \
	}

/* The result of enqueueing one rp_job_spec. */
typedef struct rp_added {
	int64_t id;
	int outcome; /* RP_ADDED, RP_EXISTED, RP_REPLACED */
} rp_added;
#define RP_ADDED 0 /* a new job */
#define RP_EXISTED                                                             \
	1             /* a live job has the key, or one that is done and keeps \
		       * it (unique_for_ms); `id` is that job, unchanged */
#define RP_REPLACED 2 /* the live job with the key was replaced; same id */

/*
 * Enqueue one job, or `n` jobs in their order: all of them or none. The queue
 * is created if it does not exist. The jobs are durable when the call returns,
 * or, inside a transaction, when that transaction commits.
 *
 * `ret` may be NULL; otherwise it has room for `n` results. All elements of
 * `jobs` have the `size` of the first one. If a job is refused (RP_EINVAL,
 * RP_EFBIG), the error's `item` is its index, and if n > 1 the message begins
 * with "job I: ", where I counts from 1.
 */
RP_API int rp_enqueue(rp_conn *conn, const char *queue, const rp_job_spec *job,
		      rp_added *ret);
RP_API int rp_enqueue_many(rp_conn *conn, const char *queue,
			   const rp_job_spec *jobs, size_t n, rp_added *ret);

/* Options of a claim. In every field zero means the default. */
typedef struct rp_claim_options {
	size_t size;               /* set by RP_CLAIM_INIT */
	int64_t lease_ms;          /* 0: the queue's setting */
	const char *const *queues; /* several queues instead of `queue`, in
				    * order of preference; ends with NULL */
	size_t holding; /* how many jobs this worker already holds. If it is
			 * not 0, the claim returns no suspects (see below) */
	size_t ahead;   /* how many of the `max` jobs are prefetched, that
			 * is, not started at once. Jobs with a single
			 * attempt or a large payload (RP_LARGE_PAYLOAD) are
			 * never prefetched */
} rp_claim_options;
#define RP_CLAIM_INIT                                                          \
	{                                                                      \
		sizeof(rp_claim_options), 0, NULL, 0, 0                        \
	}

/*
 * Claim up to `max` jobs (at least 1): lease them to the caller and count an
 * attempt of each. Returns the number of claimed jobs, which may be 0. *ret has
 * them in claim order, and is set even if it is empty. Free it with
 * rp_batch_free().
 *
 * A job whose lease ran out twice in a row, or once if it has one attempt left,
 * is a *suspect*: it may have killed its worker. A claim returns a suspect
 * alone, and only to a caller that holds no other job.
 */
RP_API int rp_claim(rp_conn *conn, const char *queue, size_t max,
		    const rp_claim_options *options, rp_batch **ret);

/* How many suspects this claim skipped because the caller holds other jobs. */
RP_API size_t rp_batch_suspects(const rp_batch *batch);

/* Verdicts. A handler returns one of the first four. */
#define RP_DONE 0    /* the job is completed */
#define RP_FAIL 1    /* this attempt failed */
#define RP_DEAD 2    /* failed for good: no further attempt */
#define RP_RELEASE 3 /* back to ready, and the attempt does not count */
#define RP_EXTEND 4  /* keep the job: its lease starts again now */

/* One verdict and its result. Start from RP_VERDICT_INIT. */
typedef struct rp_verdict {
	size_t size; /* set by RP_VERDICT_INIT */
	int64_t id;
	int64_t claim_no;  /* rp_job.claim_no, from the claim */
	int verdict;       /* RP_DONE, ... */
	int64_t delay_ms;  /* RP_FAIL: delay before the next attempt; -1: the
			    * queue's backoff. RP_RELEASE: delay until it is
			    * ready; -1: no delay. RP_EXTEND: length of the
			    * lease; -1: the queue's setting */
	const char *error; /* RP_FAIL, RP_DEAD: the reason. Truncated to
			    * RP_MOST_ERROR; bytes that are not UTF-8 become
			    * '?' */
	int result;        /* set by the call. 0: accepted; RP_EGONE: the
			    * claim is no longer valid; RP_ECANCELLED: the
			    * job was cancelled; RP_ENOENT: there was never
			    * such a job. A refused verdict changes nothing */
	int state;         /* set by the call if result is 0: the job's new
			    * state */
	const void *result_bytes; /* RP_DONE: the job's result, any bytes, at
				   * most RP_MOST_RESULT. It is kept as long as
				   * the job is, and dropped if that is not
				   * kept. NULL: none */
	size_t result_size;
	const char *progress; /* all but RP_DONE: text for people and for the
			       * next attempt, UTF-8 of at most
			       * RP_MOST_PROGRESS bytes; "" deletes it, NULL
			       * leaves it. With RP_EXTEND and delay_ms -1 it
			       * never makes the lease shorter */
} rp_verdict;
#define RP_VERDICT_INIT                                                        \
	{                                                                      \
		sizeof(rp_verdict), 0, 0, RP_DONE, -1, NULL, 0, 0, NULL, 0,    \
			NULL                                                   \
	}

/*
 * Give `n` verdicts in one commit. Returns how many were accepted; each of the
 * others has the reason in `result`. If several verdicts name the same claim,
 * only the first one counts. If the call fails (a negative number), no verdict
 * took effect, unless the outcome is unknown (RP_ELOST). RP_EFBIG: a result or
 * progress is too large; the error's `item` is its index, and all claims stand.
 */
RP_API int rp_settle(rp_conn *conn, rp_verdict *verdicts, size_t n);

/* Give one verdict. Returns 0, RP_EGONE, RP_ECANCELLED or another error. */
RP_API int rp_complete(rp_conn *conn, int64_t id, int64_t claim_no);
/* As rp_complete(), with a result; see rp_verdict. RP_EFBIG: it is larger than
 * RP_MOST_RESULT, and the claim stands. */
RP_API int rp_complete_with(rp_conn *conn, int64_t id, int64_t claim_no,
			    const void *result, size_t size);
RP_API int rp_fail(rp_conn *conn, int64_t id, int64_t claim_no,
		   const char *error);
RP_API int rp_release(rp_conn *conn, int64_t id, int64_t claim_no,
		      int64_t delay_ms);
RP_API int rp_extend(rp_conn *conn, int64_t id, int64_t claim_no,
		     int64_t lease_ms);

/*
 * rp_settle() followed by rp_claim(), in one commit: the main loop of a worker
 * needs no other call. Returns the number of claimed jobs. `n` and `max` may be
 * 0.
 */
RP_API int rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			       const char *queue, size_t max,
			       const rp_claim_options *options, rp_batch **ret);

/*
 * Cancel a job that is not finished. If `kind` is not NULL, the job must be of
 * that kind. RP_ENOENT: no such job; RP_EGONE: it is already finished.
 */
RP_API int rp_job_cancel(rp_conn *conn, int64_t id, const char *kind);

/*
 * Make a dead or cancelled job ready again, with the same id and no attempts
 * used. RP_ENOENT: no such job; RP_EGONE: it is live or done; RP_ETAKEN:
 * another live job now has its unique key.
 */
RP_API int rp_job_retry(rp_conn *conn, int64_t id, const char *kind);

/*
 * New values for rp_job_change(). A negative number, or NULL, leaves a value as
 * it is. Start from RP_CHANGE_INIT, which does so for all of them.
 */
typedef struct rp_change {
	size_t size;       /* set by RP_CHANGE_INIT */
	const char *kind;  /* a condition: only a job of this kind is changed */
	int priority;      /* 0..RP_MOST_PRIORITY */
	int64_t delay_ms;  /* ready after this time; 0: now ... */
	int64_t run_at;    /* ... or not before this time */
	const char *queue; /* another queue; it must exist */
	int64_t max_attempts; /* 1 or more. A job that has used as many has
			       * one attempt left */
} rp_change;
#define RP_CHANGE_INIT                                                         \
	{                                                                      \
		sizeof(rp_change), NULL, -1, -1, -1, NULL, -1                  \
	}

/*
 * Change a scheduled or ready job. It keeps its id, its payload, its unique key
 * and the attempts that it has used. A ready job keeps its place in line unless
 * its queue or priority changes: then it goes to the end of that line. The
 * outcome is known when the call returns, or, inside a transaction, when that
 * commits.
 *
 * RP_EGONE: the job is running or finished; RP_ENOENT: no such job, it is of
 * another kind, or the queue does not exist; RP_ETAKEN: a live job of the queue
 * has its unique key; RP_EFBIG: its payload is larger than the queue takes;
 * RP_EINVAL: nothing is to be changed, or a value is out of range.
 */
RP_API int rp_job_change(rp_conn *conn, int64_t id, const rp_change *change);

/* Retry all dead jobs of a queue (of one kind, unless `kind` is NULL). This
 * takes several transactions: if the call fails, some jobs may be ready and
 * the others are still dead. Jobs whose unique key is taken stay dead;
 * *ret_taken (may be NULL) is set to their number. Returns the number of
 * jobs that are ready again. */
RP_API int64_t rp_queue_retry_dead(rp_conn *conn, const char *queue,
				   const char *kind, int64_t *ret_taken);

/* Delete the jobs of a queue that are in the given state (0: any state;
 * running jobs are never deleted, and RP_STATE_RUNNING is refused) and,
 * unless `kind` is NULL, of that kind. This takes several transactions.
 * Returns the number of deleted jobs. */
RP_API int64_t rp_queue_purge(rp_conn *conn, const char *queue, int state,
			      const char *kind);

/* The numbers of jobs that a sweep changed. Start from RP_SWEPT_INIT. */
typedef struct rp_swept {
	size_t size;       /* set by RP_SWEPT_INIT */
	int64_t due;       /* scheduled jobs that became ready */
	int64_t recovered; /* jobs whose lease ran out and that are ready
			    * again */
	int64_t dead;      /* jobs that are dead because the lease of their
			    * last attempt ran out */
	int64_t dropped;   /* deleted jobs: kept ones whose retention has
			    * ended, and jobs of dropped queues */
	int64_t expired;   /* jobs that were not claimed in time: cancelled */
	int64_t fired;     /* jobs that schedules added */
} rp_swept;
#define RP_SWEPT_INIT                                                          \
	{                                                                      \
		sizeof(rp_swept), 0, 0, 0, 0, 0, 0                             \
	}

/*
 * Maintenance: make due jobs ready, end the leases that ran out, cancel jobs
 * that expired, apply retention, fire the schedules that are due. Workers do
 * this by themselves. A program that only claims should call it about once a
 * second. A sweep that finds nothing to do writes nothing. `ret` may be NULL.
 * Returns the number of jobs that were changed. RP_EINVAL: `ret` has no size.
 */
RP_API int rp_sweep(rp_conn *conn, rp_swept *ret);

/* ---- waiting --------------------------------------------------------- */

/*
 * Wait until a claim from one of the queues (an array that ends with NULL) may
 * find a job. Returns 1 if it may; 0 if timeout_ms milliseconds are over (-1:
 * no limit) or the descriptor `fd` is readable (-1: no descriptor).
 */
RP_API int rp_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms,
		   int fd);

/* How a job ended. */
typedef struct rp_outcome {
	int64_t id;
	int state; /* RP_STATE_DONE, _DEAD or _CANCELLED; 0: it has not ended.
		    * A live job whose queue is dropped is cancelled */
	int kept;  /* 1: rp_job_get() reads it. 0: it is not kept, and counts as
		    * done if this is all that is known of it */
} rp_outcome;

/*
 * Wait for the end of `n` jobs (1 to RP_MOST_CLAIMED): with RP_WAIT_ALL until
 * all have ended, with RP_WAIT_ANY until at least one has. `ret`, which has
 * room for `n` elements, or is NULL, says how each ended.
 *
 * Returns 1 when the wait is over; 0 after timeout_ms milliseconds (-1: no
 * limit), or as soon as the descriptor `fd` (-1: none) is readable: then `ret`
 * has what is known so far. RP_ENOENT: no job was ever given this id; the
 * error's `item` is its index. An id counts as given as soon as its enqueue has
 * begun: wait for a job only after its enqueue is committed. RP_EINVAL: a
 * transaction is open; or a handler, whose worker has one thread, would wait
 * for a job of a queue that this worker serves, and so for itself.
 *
 * A server notifies the call. SQLite's file does, and it looks once a second
 * besides. If the server cannot be reached, the call tries again for a minute
 * before it fails. On a connection of your own (rp_attach()) to a server, and
 * behind a pooler, it looks at growing intervals of up to a second.
 */
#define RP_WAIT_ALL 0
#define RP_WAIT_ANY 1
RP_API int rp_job_wait(rp_conn *conn, const int64_t *ids, size_t n, int how,
		       int64_t timeout_ms, int fd, rp_outcome *ret);

/* Wait until a queue has no live job: neither a scheduled, nor a ready, nor a
 * running one. Returns 1, or 0 as rp_job_wait() does. RP_ENOENT: there is no
 * such queue. RP_EINVAL: as for rp_job_wait(). */
RP_API int rp_queue_wait(rp_conn *conn, const char *queue, int64_t timeout_ms,
			 int fd);

/* ---- looking --------------------------------------------------------- */

/* Read one job, live or kept, as a batch of one. RP_ENOENT: no such job. */
RP_API int rp_job_get(rp_conn *conn, int64_t id, rp_batch **ret);

/* The state of a job and the reasons for it. For a finished job, the fields
 * about waiting and running are 0 or NULL. */
typedef struct rp_why {
	const rp_job *job;
	int64_t now;       /* when this was read */
	int64_t paused_at; /* when its queue was paused; 0: it is not paused */
	int64_t ahead;     /* how many ready jobs are claimed before it;
			    * RP_MOST_AHEAD means that many or more */
	int suspect;       /* 1: it may have killed its worker, so it is
			    * claimed alone, by a worker that holds no other
			    * job */
	int64_t workers;   /* how many workers with a heartbeat in the last
			    * 30 s serve its queue and kind */
	int64_t queue_workers; /* how many workers with a heartbeat in
				* the last 30 s serve its queue, with
				* any kind */
	int64_t worker_id;     /* the worker that holds it; 0: a client that is
				* not a worker */
	const char *host;      /* the host of that worker; NULL: its row is
				* deleted */
	int64_t pid;
	int64_t silent_ms;        /* time since that worker's last heartbeat */
	int64_t renewed;          /* how many times its lease was renewed */
	const char *pause_reason; /* why its queue is paused; NULL: no reason
				   * was given */
} rp_why;
#define RP_MOST_AHEAD 1000

/* Explain why a job does not run, or how it runs: the job and what affects it.
 * The cost does not depend on the number of jobs. RP_ENOENT: no such job. Free
 * the result with rp_why_free(). */
RP_API int rp_why_get(rp_conn *conn, int64_t id, rp_why **ret);
RP_API void rp_why_free(rp_why *why);

/*
 * List up to `max` jobs of a queue that are in the given state, or with state 0
 * all that are live: first the running jobs (the longest running first), then
 * the ready ones in claim order, then the scheduled ones. Finished jobs are
 * listed newest first. Returns the number of listed jobs. RP_ENOENT: no such
 * queue. Only the first RP_LIST_PAYLOAD bytes of each payload and result are
 * read; rp_job_get() reads all of them. Free the batch with rp_batch_free().
 *
 * No index has the running jobs in the order of their claims, so the call
 * examines RP_MOST_COUNTED of them, or `max` if that is larger. `state |
 * RP_LIST_ALL` examines all of them. rp_batch_is_partial() returns 1 if some
 * were not examined.
 */
#define RP_LIST_PAYLOAD 256
#define RP_LIST_ALL 0x100
RP_API int rp_job_list(rp_conn *conn, const char *queue, int state, size_t max,
		       rp_batch **ret);

/*
 * The numbers of a queue. A time is -1 if there is no such job. The numbers of
 * finished jobs are exact, because they are counted as jobs are kept and
 * deleted. Of live jobs, at most RP_MOST_COUNTED of each state are counted. If
 * ..._at_least is 1, there may be more, and the times are those of the counted
 * jobs.
 */
#define RP_MOST_COUNTED 10000
typedef struct rp_queue_stats {
	const char *queue;
	int paused;
	int64_t scheduled, ready, running, done, dead, cancelled;
	int64_t oldest_ready_ms, longest_running_ms;
	int64_t workers;              /* workers with a heartbeat in the last
				       * 30 s */
	int64_t done_10s, failed_10s; /* finished in the last 10 s */
	int scheduled_at_least, ready_at_least, running_at_least;
	const char *pause_reason; /* NULL: not paused, or no reason given */
} rp_queue_stats;

typedef struct rp_stats rp_stats;
/* Read the numbers of `queue`, or of all queues, sorted by name, if `queue` is
 * NULL. RP_ENOENT: no queue has this name. Free the result with
 * rp_stats_free(). */
RP_API int rp_stats_get(rp_conn *conn, const char *queue, rp_stats **ret);
RP_API size_t rp_stats_count(const rp_stats *stats);
RP_API const rp_queue_stats *rp_stats_at(const rp_stats *stats, size_t i);
RP_API void rp_stats_free(rp_stats *stats);

/* A worker as it was at its last heartbeat. Free the list with
 * rp_workers_free(). */
typedef struct rp_worker_info {
	int64_t id;
	const char *name, *host;
	int64_t pid;
	const char *queues; /* a JSON array */
	int64_t started_at, seen_at;
	int64_t silent_ms; /* time since seen_at */
	int64_t running;   /* how many jobs it holds */
	int64_t done, failed, dead, released;
	int running_at_least; /* 1: it may hold more; see rp_queue_stats */
} rp_worker_info;

typedef struct rp_workers rp_workers;
RP_API int rp_worker_list(rp_conn *conn, rp_workers **ret);
RP_API size_t rp_workers_count(const rp_workers *workers);
RP_API const rp_worker_info *rp_workers_at(const rp_workers *workers, size_t i);
RP_API void rp_workers_free(rp_workers *workers);

/* ---- schedules ------------------------------------------------------- */

/* One fire of a schedule. Start from RP_FIRE_INIT. A local time is written as
 * the milliseconds at which UTC has the same date and time of day. */
typedef struct rp_fire {
	size_t size;      /* set by RP_FIRE_INIT */
	int64_t at_ms;    /* when it fires */
	int64_t offset_s; /* local time minus UTC at that time, in seconds */
	char zone[12];    /* what local time is called then, such as "CEST" */
	/* Local times that the spec names, and that did not exist between
	 * after_ms and at_ms, because the clock went forward: their number, and
	 * the first of them. */
	int64_t skipped, skipped_local_ms;
	/* Local times that the spec names, and that occurred for the second
	 * time after after_ms and not after at_ms, because the clock went back:
	 * their number, and the first of them. */
	int64_t doubled, doubled_local_ms;
} rp_fire;
#define RP_FIRE_INIT                                                           \
	{                                                                      \
		sizeof(rp_fire), 0, 0, "", 0, 0, 0, 0                          \
	}

/*
 * Find the first fire of a schedule strictly after `after_ms`. Needs no
 * database. Returns 1. Returns 0, and does not write `ret`, if the schedule
 * does not fire within 400 years or before RP_MOST_TIME.
 *
 * `spec` is one of
 *
 *   MINUTE HOUR DAY MONTH WEEKDAY   five fields, as in a crontab of POSIX: `*`,
 *                                   numbers, ranges (1-5), lists (1,15), steps
 *                                   (`*` or a range with /10), and three
 *                                   letters for months and weekdays (JAN, MON)
 *   @hourly @daily @midnight @weekly @monthly @yearly @annually
 *   every D                         D as rp_duration() takes it, 1 s at least:
 *                                   at anchor_ms + D, + 2 D, and so on.
 *                                   `anchor_ms` is not used otherwise
 *
 * If both day fields are restricted, a day matches that matches either; a field
 * that begins with `*` is not restricted. A local time that does not exist is
 * skipped. One that occurs twice fires the first time only, unless the minute
 * or the hour field begins with `*`.
 *
 * `zone` is a name of the IANA time zone database, such as "Europe/Berlin",
 * which is read from /usr/share/zoneinfo; NULL or "UTC": UTC, without a file.
 *
 * RP_EINVAL: the spec is wrong or can never match a day, or the zone is not
 * known. RP_EDB: the zone's file is damaged or cannot be read. RP_ENOMEM.
 */
RP_API int rp_schedule_next(const char *spec, const char *zone,
			    int64_t anchor_ms, int64_t after_ms, rp_fire *ret,
			    rp_error *reterr);

/* How a schedule catches up if nobody fired it in time. An instant is missed if
 * it is at least 60 s late. */
#define RP_MISSED_ONCE 0 /* one job for all that are due, at the newest */
#define RP_MISSED_ALL 1  /* a job for each, in order, for 1000 at most */
#define RP_MISSED_SKIP 2 /* none */

/* Whether a fire adds a job while a job of an earlier fire is live. */
#define RP_OVERLAP_ALLOW 0 /* it adds a job all the same */
#define RP_OVERLAP_SKIP                                                        \
	1 /* it adds none. The jobs have the unique key                        \
	   * "cron:NAME" */

/*
 * A schedule: it puts a job into its queue at each instant that its spec names.
 * Workers fire what is due about once a second, and so does rp_sweep(). Each
 * instant fires exactly once, because the job is added and the schedule moved
 * on in one transaction, whoever does it.
 *
 * The jobs have the schedule's headers and these: readpast-schedule (its name),
 * readpast-scheduled-for (the instant, as 2026-03-29T00:30:00Z),
 * readpast-missed (the number of missed instants that this job stands for; with
 * RP_MISSED_ALL, of those behind it that got no job; the count stops at 1000),
 * and readpast-manual ("true", from rp_schedule_run()).
 */
typedef struct rp_schedule {
	size_t size;      /* set by RP_SCHEDULE_INIT */
	const char *name; /* RP_MOST_NAME bytes, unique in the database */
	const char *queue;
	const char *spec;    /* see rp_schedule_next() */
	const char *zone;    /* NULL: UTC */
	const void *payload; /* any bytes */
	size_t payload_size;
	const char *kind;
	const char *headers; /* a JSON object */
	int priority;        /* -1: the queue's */
	int missed;          /* RP_MISSED_* */
	int overlap;         /* RP_OVERLAP_* */
	/* rp_schedule_set() ignores the rest. Times are in milliseconds; 0:
	 * none. */
	int64_t next_at;     /* the next instant; 0: it has no further one. It
			      * has passed if a zone cannot be read */
	int64_t last_at;     /* the last one that fired */
	int64_t last_job_id; /* ... and its job; 0: it has none */
	int last_state; /* RP_STATE_* of that job; 0: it is no longer kept */
	const char *last_error; /* why that instant has no job, or the next one
				 * is not known; or NULL */
	int64_t paused_at, created_at;
	int64_t anchor_at; /* where `every D` counts from */
} rp_schedule;
#define RP_SCHEDULE_INIT                                                       \
	{                                                                      \
		sizeof(rp_schedule), NULL, NULL, NULL, NULL, NULL, 0, NULL,    \
			NULL, -1, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0              \
	}

typedef struct rp_schedules rp_schedules;

/*
 * Add a schedule; it first fires at the first instant from now on. With
 * `replace`, a schedule of this name gets all of the new values. It stays paused
 * if it is; its next instant counts from now if the spec or the zone has
 * changed, and else stays. A queue that does not exist is created when a job is
 * added.
 *
 * RP_ETAKEN: there is a schedule of this name (without `replace`). RP_EINVAL: a
 * value is wrong; the spec can never match; the zone is unknown here or on the
 * server. RP_EFBIG: the payload.
 */
RP_API int rp_schedule_set(rp_conn *conn, const rp_schedule *schedule,
			   int replace);

/* Read the schedule `name`, or all, sorted by name, if it is NULL. RP_ENOENT:
 * no schedule has this name. Free the result with rp_schedules_free(). */
RP_API int rp_schedule_list(rp_conn *conn, const char *name,
			    rp_schedules **ret);
RP_API size_t rp_schedules_count(const rp_schedules *schedules);
RP_API const rp_schedule *rp_schedules_at(const rp_schedules *schedules,
					  size_t i);
RP_API void rp_schedules_free(rp_schedules *schedules);

/* Remove a schedule. Its jobs stay. RP_ENOENT: no schedule has this name. */
RP_API int rp_schedule_remove(rp_conn *conn, const char *name);

/* A paused schedule does not fire. Resumed, it fires at the first instant from
 * then on: those in between were not missed. RP_ENOENT: no such schedule. */
RP_API int rp_schedule_pause(rp_conn *conn, const char *name);
RP_API int rp_schedule_resume(rp_conn *conn, const char *name);

/* Add a job of the schedule now, paused or not. Its instants do not change. The
 * header readpast-scheduled-for is the current time. `ret` may be NULL; its
 * outcome is RP_EXISTED if RP_OVERLAP_SKIP found a live job. RP_ENOENT: no such
 * schedule. */
RP_API int rp_schedule_run(rp_conn *conn, const char *name, rp_added *ret);

/* ---- copying to another database -------------------------------------- */

/* The phases of rp_copy(), and its progress. */
#define RP_COPY_WAITING 1   /* waits for running jobs to end */
#define RP_COPY_COPYING 2   /* the first pass over the source */
#define RP_COPY_VERIFYING 3 /* compares the source with the target */
#define RP_COPY_REMOVING 4  /* compares again, and deletes from the source */
typedef struct rp_copied {
	int doing;             /* the phase, RP_COPY_* */
	int64_t position, end; /* how far the phase is, and where it ends, as
				* ids of the source */
	int64_t queues;
	int64_t live, kept; /* jobs that are equal in source and target, as far
			     * as the last phase has come */
	int64_t written;    /* jobs written to the target */
	int64_t removed;    /* jobs deleted from the source */
	int64_t running;    /* running jobs, which stay in the source */
	int64_t shift;      /* id of a job in the target minus its id in the
			     * source; -1: not the same for all jobs */
} rp_copied;

/* Called once when the copy has begun and then from time to time. Return 0 to
 * continue; any other number stops the copy with RP_ECANCELLED. */
typedef int rp_copy_progress(const rp_copied *so_far, void *ctx);

/* Options of rp_copy(). In every field zero means the default. */
typedef struct rp_copy_options {
	size_t size; /* set by RP_COPY_INIT */
	/* The names of the queues, with a NULL at the end; NULL: all queues. */
	const char *const *queues;
	int move;          /* 1: delete the jobs from the source that are in
			    * the target */
	int leave_running; /* 1: leave running jobs in the source; 0: wait
			    * for them, however long they run */
	rp_copy_progress *progress;
	void *progress_ctx;
} rp_copy_options;
#define RP_COPY_INIT                                                           \
	{                                                                      \
		sizeof(rp_copy_options), NULL, 0, 0, NULL, NULL                \
	}

/*
 * Copy queues from `from` to `to`: settings, live jobs with their position,
 * times, attempts, claim numbers, keys and failures, and kept jobs. Jobs keep
 * their ids if the target has never used these ids; otherwise one number is
 * added to all of them. Before the call returns, it compares every field of
 * every job. `ret` and `reterr` may be NULL.
 *
 * During the copy the queues are paused on both sides. Jobs that are enqueued
 * in the source during the copy are copied, too. After a copy, the source is
 * resumed unless it was paused before, and the target stays paused. After a
 * move, the target is resumed unless the source was paused before, and the
 * source stays paused.
 *
 * A call that fails before it first called `progress` leaves the source as it
 * was, unless a commit's outcome is unknown (RP_ELOST). If it fails later, or
 * is killed, no job is lost or duplicated and both sides stay paused; call it
 * again to continue. You may also call it again after it succeeded: it then
 * brings the copy up to date, unless the target was resumed, or it moves the
 * jobs that were enqueued in the source after the move.
 *
 * RP_EINVAL: both are the same database. RP_ENOENT: no such queue. RP_ETAKEN:
 * the target has a queue of that name with jobs in it.
 */
RP_API int rp_copy(rp_conn *from, rp_conn *to, const rp_copy_options *options,
		   rp_copied *ret, rp_error *reterr);

/* ---- the worker ------------------------------------------------------ */

typedef struct rp_worker rp_worker;
typedef struct rp_task rp_task;

/*
 * A handler runs one job and returns RP_DONE, RP_FAIL, RP_DEAD or RP_RELEASE;
 * any other number counts as RP_FAIL. It is called on one of the worker's
 * threads. The job is read-only and valid until the handler returns. The worker
 * holds at most one large payload (RP_LARGE_PAYLOAD) for each of its
 * threads.
 */
typedef int rp_handler(rp_task *task, const rp_job *job, void *ctx);

/* Set the reason of a failure, for RP_FAIL and RP_DEAD. The text is copied. */
RP_API int rp_task_error(rp_task *task, const char *text);
/* Set the delay before the next attempt (RP_FAIL) or until the job is ready
 * (RP_RELEASE). */
RP_API int rp_task_delay(rp_task *task, int64_t delay_ms);

/*
 * Set the job's result, for RP_DONE: any bytes, which are copied. The last call
 * counts; a NULL `bytes` with a `size` of 0 sets none. The result is written by
 * the statement that completes the job, so a worker that has lost its claim
 * cannot overwrite it. It is kept as long as the job is (by the job's own or
 * its queue's retention); if the job is not kept, it is dropped. A handler that
 * completes its job with rp_task_complete() sets the result before that.
 * RP_EFBIG: larger than RP_MOST_RESULT; nothing has changed, and the job can
 * still be completed. RP_EINVAL, RP_ENOMEM.
 */
RP_API int rp_task_result(rp_task *task, const void *bytes, size_t size);

/*
 * Report how far the job is, or what the next attempt needs to continue: UTF-8
 * text, such as JSON, of at most RP_MOST_PROGRESS bytes, which is copied; ""
 * deletes what was reported before. The call does not wait. The worker sends
 * the text by renewing the lease, at most once a second, and sends what is
 * left with the verdict, unless that is RP_DONE. `readpast show`, `why` and
 * `top` show it, and rp_job.progress hands it to the job's next attempt. A
 * worker that dies loses what it has not sent. RP_EFBIG: too large; RP_EINVAL:
 * not UTF-8; RP_ENOMEM. After an error the last progress stands.
 */
RP_API int rp_task_progress(rp_task *task, const char *text);

/*
 * Only the thread that runs the handler may call the functions of its task; on
 * other threads they return RP_EINVAL. The exception is rp_task_state(), which
 * any thread may call until the handler returns. A task from rp_worker_next()
 * follows the rules of other handles: one thread at a time may use it, and
 * while its transaction is open, only the thread that began the transaction.
 */

/* Start the lease again, now, with the length lease_ms; from then on the
 * worker renews it each time that a third of this length is over. Workers
 * renew leases by themselves. This call is for handlers that know that the
 * process will be stopped for a while. RP_EINVAL: the task's transaction is
 * open. RP_EGONE, RP_ECANCELLED: the claim is lost. RP_EBUSY: the job's row
 * is locked by somebody else, and nothing has changed. */
RP_API int rp_task_extend(rp_task *task, int64_t lease_ms);

/*
 * With these calls the effects of a handler in this database happen exactly
 * once. rp_task_begin() opens a writing transaction on a connection of this
 * thread's own. Use rp_conn_native(*ret) for your SQL and *ret for rp_enqueue()
 * and similar calls. The task owns *ret: do not close it, and end the
 * transaction only with the calls below (rp_commit() and rp_rollback() return
 * RP_EINVAL). rp_task_complete() completes the job inside the transaction.
 * rp_task_commit() commits everything at once; then the handler returns
 * RP_DONE. If a handler returns without a commit, the transaction is rolled
 * back, and the handler's verdict counts as usual.
 *
 * If the lease was lost, rp_task_complete() fails with RP_EGONE (or
 * RP_ECANCELLED); rp_task_commit() then fails as well and rolls back. After a
 * commit without rp_task_complete(), another transaction may be begun.
 *
 * While the transaction is open, other writers of a SQLite file wait. If one of
 * these calls fails, its message becomes the task's error, unless the task has
 * one already.
 */
RP_API int rp_task_begin(rp_task *task, rp_conn **ret);
RP_API int rp_task_complete(rp_task *task);
RP_API int rp_task_commit(rp_task *task);
RP_API int rp_task_rollback(rp_task *task);

/* The state of a task. A handler that runs for long should ask from time to
 * time. */
#define RP_TASK_RUNNING 0   /* go on */
#define RP_TASK_STOPPING 1  /* the worker stops: finish or release the job */
#define RP_TASK_LOST 2      /* the lease ran out: stop, no verdict counts now */
#define RP_TASK_CANCELLED 3 /* the job was cancelled: stop in the same way */
RP_API int rp_task_state(const rp_task *task);

/* The events that a worker reports to its observer. */
#define RP_EVENT_CLAIM 1     /* it claimed a job */
#define RP_EVENT_START 2     /* a handler starts */
#define RP_EVENT_SETTLE 3    /* it is about to send a verdict */
#define RP_EVENT_SETTLED 4   /* the database has answered: result, state */
#define RP_EVENT_LOST 5      /* a renewal was refused: result has the reason */
#define RP_EVENT_TROUBLE 6   /* a call failed and will be repeated: text */
#define RP_EVENT_HEARTBEAT 7 /* it is serving its queues; see heartbeat_ms */
typedef struct rp_event {
	size_t size;
	int what;            /* RP_EVENT_* */
	const rp_job *job;   /* NULL for TROUBLE and HEARTBEAT. A large payload
			      * is freed when the handler returns, and is NULL
			      * after that */
	int verdict;         /* SETTLE, SETTLED: RP_DONE ... RP_EXTEND */
	int result;          /* SETTLED, LOST: 0 or RP_E*. TROUBLE: RP_E* */
	int state;           /* SETTLED: the job's state now; 0: unknown. If the
			      * result is RP_EGONE it is what the handler made
			      * of the job when it settled its claim itself */
	int64_t duration_ms; /* SETTLED: how long the handler ran */
	int64_t asked_us;    /* CLAIM, SETTLED: when the request was sent, in
			      * microseconds of CLOCK_MONOTONIC */
	const char *text;    /* SETTLE, SETTLED: the job's error; TROUBLE: what
			      * failed */
} rp_event;
typedef void rp_observer(const rp_event *event, void *ctx);

/* When a worker ends by itself. RP_DRAIN_READY: when its queues, except
 * paused ones, have no job that is ready, due or running in any process.
 * RP_DRAIN_SETTLED: when, in addition, each job that it has run is finished
 * or was run by another worker after it. Such a worker waits for second
 * attempts. */
#define RP_DRAIN_READY 1
#define RP_DRAIN_SETTLED 2

/* Options of a worker. In every field zero means the default. */
typedef struct rp_worker_options {
	size_t size;      /* set by RP_WORKER_INIT */
	int threads;      /* how many handlers run, or how many tasks can be
			   * pulled, at the same time; 1 to 1024, default 1 */
	int64_t lease_ms; /* 0: each queue's setting. A lease is renewed when
			   * a third of it is over */
	int64_t max_jobs; /* drain after this many claimed jobs; 0: no limit */
	int drain;        /* RP_DRAIN_*; 0: work until rp_worker_stop() */
	const char *name; /* shown as `worker`; default HOST:PID */
	rp_observer *observer; /* called by the worker's threads, never by two
				* at the same time */
	void *observer_ctx;
	int schema;           /* RP_SCHEMA_*, for opening the database */
	int64_t heartbeat_ms; /* interval of RP_EVENT_HEARTBEAT. The first
			       * one is sent when the worker starts to serve;
			       * 0: it is the only one. The thread that talks
			       * to the database sends them, so a worker that
			       * hangs sends none */
} rp_worker_options;
#define RP_WORKER_INIT                                                         \
	{                                                                      \
		sizeof(rp_worker_options), 0, 0, 0, 0, NULL, NULL, NULL, 0, 0  \
	}

/* How many jobs a worker has claimed, and what became of them. */
typedef struct rp_worker_counts {
	int64_t claimed, done, failed, dead, released;
	int64_t lost;      /* its verdict came too late: the lease was over */
	int64_t cancelled; /* the job was cancelled while the worker held it */
} rp_worker_counts;

/*
 * Create a worker on the database at `url`. It connects in rp_worker_run() or
 * the first rp_worker_next(). Free it with rp_worker_free().
 */
RP_API int rp_worker_new(const char *url, const rp_worker_options *options,
			 rp_worker **ret, rp_error *reterr);
RP_API void rp_worker_free(rp_worker *worker);

/* Serve a queue with a handler. Queues are preferred in the order in which
 * they are first named. With `kind` NULL the handler gets all jobs of the
 * queue whose kind has no other handler. RP_EINVAL while the worker runs. */
RP_API int rp_worker_handle(rp_worker *worker, const char *queue,
			    const char *kind, rp_handler *handler, void *ctx);

/*
 * Serve all queues whose names match a pattern. In a pattern, * stands for any
 * characters and ? for one character; with a backslash before them they are
 * ordinary characters. Queues that are created later are noticed within two
 * seconds. No matching queue is preferred to another. A handler for a queue's
 * name takes precedence over one for a pattern; if several patterns match, the
 * first one counts. This call creates no queue.
 */
RP_API int rp_worker_handle_pattern(rp_worker *worker, const char *pattern,
				    const char *kind, rp_handler *handler,
				    void *ctx);

/*
 * Work until rp_worker_stop() is called, or until the work ends by `drain` or
 * `max_jobs`. Then the worker claims nothing more, releases the jobs that no
 * handler has started, and returns when the last handler has returned. Returns
 * 0, or the error that ended the worker. RP_EINVAL: the worker is already
 * running (a handler of its own cannot run it either).
 */
RP_API int rp_worker_run(rp_worker *worker, rp_error *reterr);

/* Ask the worker to stop. Any thread may call this, and a signal handler. */
RP_API void rp_worker_stop(rp_worker *worker);

/* Read the worker's counts. Any thread may call this at any time. Each
 * number is exact, but while the worker runs the numbers may be of different
 * moments. */
RP_API rp_worker_counts rp_worker_counts_get(const rp_worker *worker);

/*
 * Pulling is for a program that has an event loop of its own, and for bindings.
 * The worker calls no handlers. The program asks for one task after another,
 * does the job wherever it likes, and gives the verdict. A thread of the
 * worker's own, which the first rp_worker_next() starts, does everything else
 * as in rp_worker_run(): it claims, renews the leases of the pulled tasks,
 * settles and sweeps. It calls the program only through the observer. A worker
 * can either run or be pulled, not both.
 */

/* Serve a queue without a handler, for rp_worker_next(). For `kind` see
 * rp_worker_handle(). */
RP_API int rp_worker_serve(rp_worker *worker, const char *queue,
			   const char *kind);
/* The same as rp_worker_handle_pattern(), for rp_worker_next(). */
RP_API int rp_worker_serve_pattern(rp_worker *worker, const char *pattern,
				   const char *kind);

/*
 * Take the next task. If there is none, waits for up to timeout_ms; 0 does not
 * wait, -1 waits without limit. A task is out until it is finished. At most
 * `threads` tasks (an option of the worker) may be out at the same time; if
 * that many are out, the call waits until one is finished. Several threads may
 * call it at once.
 *
 * RP_NEXT_TASK: *ret is a task; rp_task_finish() frees it. RP_NEXT_NONE: there
 * was no task within timeout_ms. RP_NEXT_END: no task is out, and there will be
 * no more, because the worker was stopped, has drained or reached max_jobs. A
 * negative number is the error that ended the worker, and every further call
 * returns it again; the jobs of tasks that are out stay claimed until their
 * leases run out.
 *
 * Tasks that are not taken within half a second are released, because other
 * workers may be free, and nothing more is claimed until the next call.
 */
#define RP_NEXT_NONE 0
#define RP_NEXT_TASK 1
#define RP_NEXT_END 2
RP_API int rp_worker_next(rp_worker *worker, int64_t timeout_ms, rp_task **ret,
			  rp_error *reterr);

/* The task's job; valid until rp_task_finish(). */
RP_API const rp_job *rp_task_job(const rp_task *task);

/*
 * Give the verdict on a pulled task: RP_DONE, RP_FAIL, RP_DEAD or RP_RELEASE.
 * rp_task_error() and rp_task_delay() must be called before this. If a
 * transaction of the task is open, it is rolled back.
 *
 * 0: the worker's thread sends the verdict with its next commit. The verdict
 * takes no effect if the process dies before that commit, because the lease
 * then runs out. It takes no effect either if another worker has the job by
 * then; the observer and the counts report that. (For an effect that must be
 * certain, use rp_task_complete() and rp_task_commit() before this.) RP_EGONE,
 * RP_ECANCELLED: the claim was already lost. Other errors: the one that ended
 * the worker. The task is freed in all these cases, but not on RP_EINVAL.
 */
RP_API int rp_task_finish(rp_task *task, int verdict);

/*
 * A descriptor for poll(). It is readable while rp_worker_next() should be
 * called with timeout_ms 0: before the first call, and when a task waits, tasks
 * were released, or the worker has ended. Do not read from it. The worker owns
 * it, and it is valid until rp_worker_free().
 *
 * After rp_worker_stop() the worker claims nothing more and releases the tasks
 * that were not pulled. Tasks that are out may be finished; after that
 * rp_worker_next() returns RP_NEXT_END. rp_worker_free() releases the tasks
 * that are still out and waits for the database's answer. Call rp_worker_free()
 * when no other thread has a task or is in rp_worker_next(). After fork() the
 * child cannot use the parent's workers and tasks: calls return RP_EINVAL, and
 * rp_worker_free() does nothing.
 */
RP_API int rp_worker_fd(const rp_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
