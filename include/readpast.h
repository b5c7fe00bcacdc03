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
 * Threads: one thread at a time may use a handle (an rp_conn). While a
 * transaction is open, only the thread that began it may use the handle; calls
 * from another thread return RP_EINVAL. Open one handle per thread. Handles
 * share nothing, and the library has no global state of its own.
 *
 * fork(): a child may use only the handles that it opened itself. Calls on its
 * parent's handles return RP_EINVAL. On SQLite, open no handle before fork(),
 * and no connection of your own to the same file. In the child, SQLite still
 * counts the locks that the parent held at the fork, and nothing ever releases
 * them. If the write lock is among them, the child's calls that write fail with
 * RP_EBUSY.
 *
 * The library never prints, never exits, and never touches signals.
 *
 * Errors: a call that can fail returns a negative RP_E* number. Zero or a
 * positive count is success. rp_last_error() has the message.
 *
 * Ownership: a parameter named `ret` receives a result, and is written on
 * success only. `reterr` receives the error, and is written on failure only.
 * The caller owns what it gets through `ret`; the description of the call names
 * the function that frees it. The library keeps no pointer to an argument after
 * the call returns. A pointer that a call returns belongs to the library. It is
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
/* A project that compiles the library into a library of its own can define
 * RP_API itself. */
#elif defined(__GNUC__)
#define RP_API __attribute__((visibility("default")))
#else
#define RP_API
#endif

/* ---- errors ---------------------------------------------------------- */

/*
 * The errors. Each line has the error's name, its number, its outcome and its
 * message. The numbers are part of the ABI. Two failures have different errors
 * only if a caller may want to react to them differently. The outcome is
 *
 *   0  nothing was done
 *   1  nothing was done, and the same call may succeed later
 *   2  it is unknown whether the call took effect
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
	int64_t item;      /* index of the refused element in the call's array,
			    * counted from 0; -1: the error is not about a
			    * single element */
} rp_error;

/* Returns the message of an RP_E* number ("the job is no longer yours").
 * Never NULL. */
RP_API const char *rp_error_text(int code);

/* ---- limits ---------------------------------------------------------- */

/*
 * The limits. A value beyond its limit is refused with RP_EINVAL, or with
 * RP_EFBIG if it is a payload, a result or progress. The limits are the same on
 * every database, in C and in SQL. Names, keys and reasons must be UTF-8
 * without control characters (U+0000 to U+001F, U+007F to U+009F).
 */
#define RP_MOST_NAME 128     /* bytes of a queue's name, or of a kind */
#define RP_MOST_KEY 255      /* bytes of a unique key or a group */
#define RP_MOST_WORKER 255   /* bytes of a worker's name */
#define RP_MOST_REASON 255   /* bytes of the reason for a pause */
#define RP_MOST_SPEC 255     /* bytes of a schedule's spec */
#define RP_MOST_ZONE 63      /* bytes of a time zone's name */
#define RP_MOST_PRIORITY 255 /* a job's priority; the smallest is 0 */
#define RP_MOST_ATTEMPTS 1000000000
#define RP_MOST_PAYLOAD 1000000000 /* bytes; a queue can have a lower limit */
#define RP_MOST_CLAIMED 100000     /* jobs in one claim */
#define RP_MOST_LIMIT 100000       /* jobs of a queue that run at once */
#define RP_MOST_RATE 1000000       /* starts of jobs within rate_ms */
#define RP_MOST_BACKOFF 100        /* delays in rp_job_spec.backoff */
#define RP_MOST_THREADS 1024       /* threads of a worker */
#define RP_MOST_DAYS 3650          /* longest duration, in days */
#define RP_MOST_MS (RP_MOST_DAYS * INT64_C(86400000))
#define RP_MOST_TIME INT64_C(253402300799999) /* 9999-12-31T23:59:59.999Z */

/* Most bytes of the error text of a failed job. A longer text is truncated. */
#define RP_MOST_ERROR 4096

/* Most bytes of a job's result, and of its progress. Larger ones are refused
 * with RP_EFBIG. */
#define RP_MOST_RESULT 65536
#define RP_MOST_PROGRESS 4096

/* A payload with more bytes than this is large. A job with a large payload is
 * not prefetched, that is, not claimed before a thread is free to run it. So a
 * worker holds at most one such job for each of its threads. */
#define RP_LARGE_PAYLOAD 1048576

/* Convert a duration such as "90s" to milliseconds. A duration is a whole
 * number followed by one of the units ms, s, m, h and d; "0" needs no unit.
 * RP_EINVAL: the text is not a duration, or the duration is longer than
 * RP_MOST_DAYS. */
RP_API int rp_duration(const char *text, int64_t *ret_ms);

/* The library's version, such as "0.1.0". */
RP_API const char *rp_version(void);

/* ---- connections ----------------------------------------------------- */

typedef struct rp_conn rp_conn;

/* Values of rp_options.schema. They set whether rp_open() creates the queue's
 * tables if the database has none. */
#define RP_SCHEMA_CREATE 0  /* create tables in a new or empty database */
#define RP_SCHEMA_INSTALL 1 /* create tables even beside other tables */
#define RP_SCHEMA_REQUIRE 2 /* create no tables: fail if they are missing */

/* Options of rp_open() and rp_attach(). In every field zero means the
 * default. */
typedef struct rp_options {
	size_t size; /* sizeof(rp_options): set by RP_OPTIONS_INIT */
	int schema;  /* RP_SCHEMA_* */
	/* For rp_attach() on PostgreSQL: the schema with the queue's tables;
	 * NULL: "readpast". rp_open() ignores this field, because the URL names
	 * the schema. SQLite has no schemas. */
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
 * The URL may have any form that libpq accepts (also postgresql://... or
 * host=... dbname=...) and may contain libpq's options. readpast adds the
 * option `schema`: lower-case letters, digits and _; the default is readpast.
 * If the connection breaks between two calls, the second call opens a new
 * connection. But if the second call comes only a few milliseconds after the
 * first, it does not check the connection. Then it may fail with RP_ELOST, and
 * the next call opens a new connection.
 *
 * Errors: RP_EINVAL: the URL is wrong. RP_ENODB: there is no such file, server
 * or database. RP_ESCHEMA: the database has other tables, an encoding other
 * than UTF8, or a newer version of the schema; or the schema exists without
 * readpast's tables, and has other objects or another owner. RP_EREADONLY: the
 * call has to write to the database, for example to create the tables, and
 * cannot. RP_EBUSY: another connection holds a lock for too long. RP_EDAMAGED:
 * the file is not a database, or the database is damaged. RP_EDB: any other
 * reason. Examples are a library that was built without PostgreSQL, or a
 * missing libpq.so.5, which is loaded when the first postgres URL is opened.
 */
RP_API int rp_open(const char *url, const rp_options *options, rp_conn **ret,
		   rp_error *reterr);

/*
 * Use a connection of your own, `native`. For the scheme "sqlite" this is a
 * `sqlite3 *` of the SQLite library that this library uses. For "postgres" it
 * is a `PGconn *` of the libpq that this library uses. While a transaction is
 * open on the connection, all calls join it. Each call runs in a savepoint, so
 * a call that fails changes nothing. The queue's rows and your rows are
 * committed or rolled back together, and a claim or a verdict takes effect when
 * your transaction commits. If no transaction is open, each call is a
 * transaction of its own.
 *
 * The library changes no setting of the connection. On SQLite it leaves the
 * journal mode, the busy handler and the pragmas unchanged, so your busy
 * handler decides how soon a call fails with RP_EBUSY. There is one exception:
 * if a transaction began with a read, and another connection has written since
 * then or is writing, SQLite refuses the write lock without waiting. So begin a
 * transaction that will write with `begin immediate`. On PostgreSQL the library
 * prepares statements whose names begin with readpast_. In a transaction that
 * is not at `read committed`, claims and sweeps return RP_EINVAL.
 *
 * Close the handle before the connection; rp_close() leaves the connection
 * open. To create the queue's tables in a database that has tables of your own,
 * use RP_SCHEMA_INSTALL once. The errors are those of rp_open(). If a
 * transaction is open or a statement is running on a SQLite connection,
 * rp_attach() does not check the schema. Then the first call on the handle
 * checks it, and may fail with these errors.
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

/* Returns 1 if rp_open() or rp_attach() created the queue's tables for this
 * handle, else 0. With this call a program can report that it made a new
 * database. Returns 0 for a NULL handle. */
RP_API int rp_conn_is_new(const rp_conn *conn);

/* Close the handle and free it; NULL is allowed. An open transaction is rolled
 * back. Claimed jobs stay claimed until their leases run out. */
RP_API void rp_close(rp_conn *conn);

/* The last error of this handle. Never NULL. The error is valid until the next
 * call with the same handle. */
RP_API const rp_error *rp_last_error(const rp_conn *conn);

/*
 * The calls between rp_begin() and rp_commit() are one transaction. If one of
 * these calls fails, it changes nothing, and the calls before it remain in
 * effect. There is one exception: if memory or the disk ran out, the database
 * may have rolled back the whole transaction. Then all further calls fail until
 * rp_rollback(). Keep the transaction short on SQLite, because other writers of
 * the file wait for it. RP_EINVAL: rp_begin() while a transaction is open,
 * rp_commit() or rp_rollback() without an open transaction. On an attached
 * connection with an open transaction, rp_begin() opens a savepoint in that
 * transaction.
 */
RP_API int rp_begin(rp_conn *conn);
RP_API int rp_commit(rp_conn *conn);
RP_API int rp_rollback(rp_conn *conn);

/*
 * Call this after you restored a backup. It skips the next RP_IDS_SKIPPED ids,
 * because jobs that were enqueued after the backup may have had these ids.
 * `ret` (may be NULL) is set to the last id that is skipped. If more than
 * RP_IDS_SKIPPED jobs were enqueued after the backup, call rp_ids_skip() again.
 */
#define RP_IDS_SKIPPED 1000000000
RP_API int rp_ids_skip(rp_conn *conn, int64_t *ret);

/* Read the current time of the database's clock in milliseconds. */
RP_API int rp_now(rp_conn *conn, int64_t *ret_ms);

/* ---- queues ---------------------------------------------------------- */

/*
 * A queue's settings. rp_queue_set() leaves a setting unchanged if its field is
 * negative or NULL. RP_QUEUE_INIT sets all fields to such values.
 */
typedef struct rp_queue {
	size_t size;            /* set by RP_QUEUE_INIT */
	const char *name;       /* at most RP_MOST_NAME bytes */
	int64_t paused_at;      /* when the queue was paused; 0: it is not
				 * paused. rp_queue_set() ignores this field */
	int64_t max_attempts;   /* 1 or more; default 3 */
	int64_t lease_ms;       /* 1 or more; default 60 s */
	int64_t backoff_ms;     /* delay before the second attempt; it doubles
				 * with each further attempt; default 10 s */
	int64_t backoff_max_ms; /* the longest delay before an attempt; default
				 * 1 h */
	int64_t priority;       /* priority of jobs that are enqueued without a
				 * priority; default 100 */
	int64_t keep_done_ms;   /* how long done jobs are kept; default 0: they
				 * are not kept */
	int64_t keep_dead_ms;   /* how long dead and cancelled jobs are kept;
				 * default 30 days */
	int64_t max_payload;    /* largest payload in bytes; default 16 MiB */
	const char *pause_reason; /* the reason for the pause; NULL: no reason
				   * was given. rp_queue_set() ignores this
				   * field */
	int64_t timeout_ms;  /* the longest run of a handler, for jobs without a
			      * timeout of their own; default 0: no limit */
	const char *dead_to; /* The queue that receives a copy of each job that
			      * dies; NULL: dead jobs are not copied. The copy
			      * is added in the commit in which the job dies. It
			      * has the payload, kind and headers of the job,
			      * and the headers dead-id, dead-queue and
			      * dead-error. rp_queue_set() creates the queue if
			      * it does not exist. It returns RP_EINVAL if dead
			      * jobs would come back to this queue. "" removes
			      * the setting */
	int64_t run_limit;   /* how many jobs of the queue may run at once, at
			      * most RP_MOST_LIMIT; default 0: any number */
	int64_t group_limit; /* how many jobs of one group may run at once, at
			      * most RP_MOST_LIMIT; default 0: any number. The
			      * jobs of a group with the limit 1 run one after
			      * the other, in the order of the queue */
	int64_t group_pass;  /* whether a failed job counts toward group_limit
			      * while it waits for its retry. 0 (the default):
			      * it counts, so with the limit 1 the group waits.
			      * 1: it does not count, and the next job of the
			      * group may run */
	int64_t rate_count;  /* how many jobs of the queue may start within any
			      * interval of rate_ms, at most RP_MOST_RATE;
			      * default 0: any number. A retry is a start, too.
			      * If rate_count is above 1,000, the starts within
			      * each 1 % of rate_ms are counted together */
	int64_t rate_ms;     /* the length of the interval for rate_count. Set
			      * both fields together: rate_ms is 1 or more, or 0
			      * if rate_count is 0 */
	int64_t held_until;  /* no job starts before this time, see
			      * rp_queue_hold(); 0: no hold. rp_queue_set()
			      * ignores this field */
} rp_queue;
#define RP_QUEUE_INIT                                                          \
	{                                                                      \
		sizeof(rp_queue), NULL, -1, -1, -1, -1, -1, -1, -1, -1, -1,    \
			NULL, -1, NULL, -1, -1, -1, -1, -1, -1                 \
	}

typedef struct rp_queues rp_queues;

/* Create the queue if it does not exist, and change the given settings. */
RP_API int rp_queue_set(rp_conn *conn, const rp_queue *queue);

/* Read the settings of the queue `name`. If `name` is NULL, read those of all
 * queues, sorted by name. RP_ENOENT: no queue has this name. Free the result
 * with rp_queues_free(). */
RP_API int rp_queue_list(rp_conn *conn, const char *name, rp_queues **ret);
RP_API size_t rp_queues_count(const rp_queues *queues);
RP_API const rp_queue *rp_queues_at(const rp_queues *queues, size_t i);
RP_API void rp_queues_free(rp_queues *queues);

/* Workers get no jobs from a paused queue. Running jobs may finish, and new
 * jobs can be enqueued. `reason` (at most RP_MOST_REASON bytes) is text for
 * people, which the command-line tool shows with the pause. If `reason` is
 * NULL, a queue that is already paused keeps its old reason. rp_queue_resume()
 * deletes the reason. */
RP_API int rp_queue_pause(rp_conn *conn, const char *name, const char *reason);
RP_API int rp_queue_resume(rp_conn *conn, const char *name);

/*
 * Hold a queue for for_ms milliseconds, beginning now. If `group` is not NULL,
 * hold only this group of the queue. A claim that begins after the call has
 * returned and before the hold ends gets no job of the queue or the group. (On
 * PostgreSQL a claim that is under way may still get one.) Running jobs go on.
 * A hold replaces an earlier hold; a for_ms of 0 ends the hold. The group need
 * not have a job yet. RP_ENOENT: there is no such queue.
 */
RP_API int rp_queue_hold(rp_conn *conn, const char *queue, const char *group,
			 int64_t for_ms);

/* A group of a queue that has a group limit, or a group that is held. */
typedef struct rp_group {
	const char *name;
	int64_t waiting; /* how many jobs of the group are blocked, counted up
			  * to RP_MOST_COUNTED */
	int64_t ready;   /* how many jobs of the group are ready */
	int64_t running;
	int64_t limit;        /* how many jobs of the group may run at once; 0:
			       * any number */
	int64_t held_until;   /* no job starts before this time; 0: no hold */
	int waiting_at_least; /* 1: more jobs are blocked than `waiting` */
} rp_group;

typedef struct rp_groups rp_groups;

/*
 * List up to `max` groups of a queue, sorted by the bytes of their names,
 * beginning after the name `after` (NULL: from the first). If `blocked` is 1,
 * only groups with blocked jobs are listed. The cost does not depend on the
 * number of groups. RP_ENOENT: there is no such queue. Free the result with
 * rp_groups_free().
 */
RP_API int rp_group_list(rp_conn *conn, const char *queue, int blocked,
			 const char *after, size_t max, rp_groups **ret);
RP_API size_t rp_groups_count(const rp_groups *groups);
RP_API const rp_group *rp_groups_at(const rp_groups *groups, size_t i);
RP_API void rp_groups_free(rp_groups *groups);

/* Delete a queue with its schedules and all its jobs, live and kept. RP_ETAKEN:
 * a job is running, or an open transaction has enqueued a job. On SQLite one
 * short transaction removes the queue, and further transactions delete its
 * jobs. If the call fails between these transactions, the queue is gone and its
 * remaining jobs are invisible. The next sweep deletes them. */
RP_API int rp_queue_drop(rp_conn *conn, const char *name);

/* ---- jobs ------------------------------------------------------------ */

/* The states of a job. */
#define RP_STATES(X)                                                           \
	X(SCHEDULED, 1, "scheduled") /* waits until run_at */                  \
	X(READY, 2, "ready")         /* claimable */                           \
	X(RUNNING, 3, "running")     /* claimed */                             \
	X(DONE, 4, "done")                                                     \
	X(DEAD, 5, "dead") /* attempts used up, or failed for good */          \
	X(CANCELLED, 6, "cancelled")                                           \
	X(BLOCKED, 7, "blocked") /* waits for a limit, a rate or a hold */
#define RP_NUMBER_OF_STATE(name, number, text) RP_STATE_##name = (number),
enum { RP_STATES(RP_NUMBER_OF_STATE) };
#undef RP_NUMBER_OF_STATE

/* rp_state_text() returns the name of a state ("ready" for RP_STATE_READY),
 * or NULL for an unknown number. rp_state_number() returns the number of a
 * name, or 0 for an unknown name. */
RP_API const char *rp_state_text(int state);
RP_API int rp_state_number(const char *text);

/* A job as it was when it was read. Texts that are not set are NULL, and times
 * that are not set are 0. Times are in milliseconds. */
typedef struct rp_job {
	int64_t id; /* never reused. (On SQLite, an id of a transaction that
		     * was rolled back may be given to another job.) */
	const char *queue;
	int state;       /* RP_STATE_* */
	int priority;    /* lower runs first */
	int64_t attempt; /* attempts started: 1 during the first claim */
	int64_t max_attempts;
	int64_t claim_no;   /* the fencing token; a verdict must contain this
			     * number, which identifies the claim */
	const char *worker; /* the worker that holds the job, or held it last */
	int64_t run_at;     /* when the job became ready, or will become
			     * ready */
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
	 * element is an object with the keys "attempt", "at" (ms), "worker" and
	 * "text". If the lease ran out, it also has "host" and "seen_at" (ms),
	 * the time of the worker's last heartbeat. */
	const char *failures;
	int suspect;          /* 1: the job may have killed its worker (see
			       * rp_claim()). Claim no other job until this job
			       * has run for two seconds. Only claims set this
			       * field */
	size_t payload_total; /* size of the whole payload in bytes;
			       * rp_job_list() reads only its beginning */
	/* Settings of this job, see rp_job_spec; 0 or NULL: not set. */
	int64_t keep_ms;
	int64_t timeout_ms;  /* the job's limit, or else its queue's; 0: no
			      * limit */
	int64_t expire_at;   /* the job is not claimed after this time */
	const char *backoff; /* a JSON array of delays in milliseconds */
	int64_t unique_for_ms;
	const char *group_key; /* the name of the job's group */
	const char *progress;  /* the last text that this attempt or an earlier
				* attempt reported; see rp_task_progress() */
	const void *result;    /* the result of a done job, followed by a NUL
				* byte; NULL: the job has no result. See
				* rp_task_result() */
	size_t result_size;    /* bytes at `result` */
} rp_job;

/* A read-only list of jobs. rp_batch_free() frees the jobs and all that they
 * point to. rp_batch_is_partial() is described at rp_job_list() and
 * rp_claim(). */
typedef struct rp_batch rp_batch;
RP_API size_t rp_batch_count(const rp_batch *batch);
RP_API const rp_job *rp_batch_at(const rp_batch *batch, size_t i);
RP_API int rp_batch_is_partial(const rp_batch *batch);
RP_API void rp_batch_free(rp_batch *batch);

/* A job to enqueue. Start from RP_JOB_SPEC_INIT. Zero or NULL means the default
 * in every field except `priority`, where -1 means the default. */
typedef struct rp_job_spec {
	size_t size;         /* set by RP_JOB_SPEC_INIT */
	const void *payload; /* any bytes */
	size_t payload_size;
	int priority;           /* lower runs first; -1: the queue's default */
	int64_t delay_ms;       /* how long until the job is ready */
	int64_t run_at;         /* when the job is ready; do not set both
				 * delay_ms and run_at */
	int64_t max_attempts;   /* 0: the queue's default */
	const char *kind;       /* at most RP_MOST_NAME bytes */
	const char *headers;    /* a JSON object */
	const char *unique_key; /* at most one live job of the queue may have
				 * this key */
	int replace;            /* what happens to a live job that has this key.
				 * 1: unless it is running, it gets all values
				 * of this spec and keeps its id. 0: it stays
				 * unchanged */
	int64_t keep_ms;        /* how long the job is kept after it is done;
				 * overrides the queue's setting */
	int64_t timeout_ms;     /* longest run of a handler. The library only
				 * reports it in rp_job; the command `work`
				 * enforces it */
	int64_t expire_ms;   /* if the job is not claimed within this time after
			      * the enqueue, it is cancelled. RP_EINVAL: the job
			      * would expire before it is due */
	const char *backoff; /* a JSON array of at most RP_MOST_BACKOFF delays
			      * in milliseconds, for the first, second, ...
			      * failed attempt. The last delay is used for all
			      * further attempts */
	int64_t unique_for_ms; /* how long unique_key stays taken after the job
				* is done */
	const char *group_key; /* the name of the job's group, at most
				* RP_MOST_KEY bytes */
} rp_job_spec;
#define RP_JOB_SPEC_INIT                                                       \
	{                                                                      \
		sizeof(rp_job_spec), NULL, 0, -1, 0, 0, 0, NULL, NULL, NULL,   \
			0, 0, 0, 0, NULL, 0, NULL                              \
	}

/* The result of enqueueing one rp_job_spec. */
typedef struct rp_added {
	int64_t id;
	int outcome; /* RP_ADDED, RP_EXISTED, RP_REPLACED */
} rp_added;
#define RP_ADDED 0    /* a new job */
#define RP_EXISTED 1  /* job `id` has this unique key; nothing was changed */
#define RP_REPLACED 2 /* the live job with this key was replaced; same id */

/*
 * Enqueue one job, or `n` jobs in their order. Either all of them are enqueued
 * or none. The queue is created if it does not exist. The jobs are durable when
 * the call returns. Inside a transaction they are durable when that transaction
 * commits.
 *
 * `ret` is NULL or has room for `n` results. All elements of
 * `jobs` must have the same `size`. If a job is refused (RP_EINVAL, RP_EFBIG),
 * the error's `item` is its index. If n > 1, the message also begins with "job
 * I: ", where I counts from 1.
 */
RP_API int rp_enqueue(rp_conn *conn, const char *queue, const rp_job_spec *job,
		      rp_added *ret);
RP_API int rp_enqueue_many(rp_conn *conn, const char *queue,
			   const rp_job_spec *jobs, size_t n, rp_added *ret);

/* Options of a claim. In every field zero means the default. */
typedef struct rp_claim_options {
	size_t size;               /* set by RP_CLAIM_INIT */
	int64_t lease_ms;          /* 0: the queue's setting */
	const char *const *queues; /* the names of several queues in order of
				    * preference, with a NULL at the end; used
				    * instead of the argument `queue` */
	size_t holding; /* how many jobs this worker already holds. If it holds
			 * jobs, the claim returns no suspects (jobs that may
			 * have killed a worker; see rp_claim()) */
	size_t ahead;   /* how many of the `max` jobs may be prefetched, that
			 * is, claimed now and started later. Jobs with a single
			 * attempt or a large payload (RP_LARGE_PAYLOAD), and
			 * jobs of a queue with a limit, are never prefetched */
} rp_claim_options;
#define RP_CLAIM_INIT                                                          \
	{                                                                      \
		sizeof(rp_claim_options), 0, NULL, 0, 0                        \
	}

/*
 * Claim up to `max` jobs (at least 1): lease them to the caller and count an
 * attempt of each. Returns the number of claimed jobs, which may be 0. *ret is
 * set to a list of them in claim order, even if the list is empty. Free it with
 * rp_batch_free().
 *
 * A *suspect* is a job that may have killed its worker: its lease ran out twice
 * in a row, or once if it has one attempt left. A claim returns a suspect
 * alone, and only to a caller that holds no other job.
 *
 * A claim takes jobs that must wait for their group out of the ready line. On
 * SQLite it does so for a few milliseconds at most. If more such jobs are left
 * then, rp_batch_is_partial() returns 1, and the next claim goes on with them.
 */
RP_API int rp_claim(rp_conn *conn, const char *queue, size_t max,
		    const rp_claim_options *options, rp_batch **ret);

/* Returns how many suspects the claim met and skipped, because its caller holds
 * other jobs, or gets other jobs with this claim. There may be more. */
RP_API size_t rp_batch_suspects(const rp_batch *batch);

/* Verdicts. A handler returns one of the first four. */
#define RP_DONE 0    /* the job is completed */
#define RP_FAIL 1    /* this attempt failed */
#define RP_DEAD 2    /* the job failed for good and gets no further attempt */
#define RP_RELEASE 3 /* the job is ready again; the attempt does not count */
#define RP_EXTEND 4  /* keep the job: its lease begins again now */

/* One verdict and its result. Start from RP_VERDICT_INIT. */
typedef struct rp_verdict {
	size_t size; /* set by RP_VERDICT_INIT */
	int64_t id;
	int64_t claim_no;  /* rp_job.claim_no, from the claim */
	int verdict;       /* RP_DONE, ... */
	int64_t delay_ms;  /* RP_FAIL: delay before the next attempt; -1: the
			    * queue's backoff. RP_RELEASE: delay until the job
			    * is ready; -1: no delay. RP_EXTEND: length of the
			    * lease; -1: the queue's setting */
	const char *error; /* RP_FAIL, RP_DEAD: the reason. It is truncated to
			    * RP_MOST_ERROR bytes. Each byte that is not UTF-8
			    * becomes '?' */
	int result;        /* set by the call. 0: accepted. RP_EGONE: the claim
			    * is no longer valid. RP_ECANCELLED: the job was
			    * cancelled. RP_ENOENT: no job ever had this id. A
			    * refused verdict changes nothing */
	int state;         /* the job's new state; set by the call if result is
			    * 0 */
	const void *result_bytes; /* RP_DONE: the job's result, any bytes, at
				   * most RP_MOST_RESULT. It is kept as long as
				   * the job is kept. If the job is not kept,
				   * the result is dropped. NULL: the job has no
				   * result */
	size_t result_size;
	const char *progress; /* for all verdicts except RP_DONE: text for
			       * people and for the next attempt, UTF-8 of at
			       * most RP_MOST_PROGRESS bytes. "" deletes the old
			       * text, NULL leaves it unchanged. RP_EXTEND with
			       * a text and delay_ms -1 never makes the lease
			       * shorter */
	int hold;             /* RP_FAIL, RP_DEAD, RP_RELEASE: RP_HOLD_GROUP or
			       * RP_HOLD_QUEUE also hold the job's group or
			       * queue for hold_ms, in the same commit.
			       * RP_HOLD_GROUP does nothing if the job has no
			       * group. 0: no hold */
	int64_t hold_ms;      /* see rp_queue_hold() */
} rp_verdict;
#define RP_HOLD_GROUP 1
#define RP_HOLD_QUEUE 2
#define RP_VERDICT_INIT                                                        \
	{                                                                      \
		sizeof(rp_verdict), 0, 0, RP_DONE, -1, NULL, 0, 0, NULL, 0,    \
			NULL, 0, 0                                             \
	}

/*
 * Give `n` verdicts in one commit. Returns how many were accepted. If a verdict
 * was refused, its `result` has the reason. If several verdicts name the same
 * claim, only the first of them counts. If the call returns RP_ELOST, the
 * outcome is unknown. After any other error no verdict took effect. RP_EFBIG: a
 * result or progress is too large; the error's `item` is the index of that
 * verdict, and all claims remain valid.
 */
RP_API int rp_settle(rp_conn *conn, rp_verdict *verdicts, size_t n);

/* Give one verdict. Returns 0, RP_EGONE, RP_ECANCELLED or another error. */
RP_API int rp_complete(rp_conn *conn, int64_t id, int64_t claim_no);
/* Complete a job with a result; see rp_verdict. RP_EFBIG: the result is larger
 * than RP_MOST_RESULT, and the claim remains valid. */
RP_API int rp_complete_with(rp_conn *conn, int64_t id, int64_t claim_no,
			    const void *result, size_t size);
RP_API int rp_fail(rp_conn *conn, int64_t id, int64_t claim_no,
		   const char *error);
RP_API int rp_release(rp_conn *conn, int64_t id, int64_t claim_no,
		      int64_t delay_ms);
RP_API int rp_extend(rp_conn *conn, int64_t id, int64_t claim_no,
		     int64_t lease_ms);

/*
 * Do rp_settle() and then rp_claim() in one commit. The main loop of a worker
 * needs no other call. Returns the number of claimed jobs. `n` and `max` may be
 * 0.
 */
RP_API int rp_settle_and_claim(rp_conn *conn, rp_verdict *verdicts, size_t n,
			       const char *queue, size_t max,
			       const rp_claim_options *options, rp_batch **ret);

/*
 * Cancel a job that is not finished. If `kind` is not NULL, the job must be of
 * that kind. RP_ENOENT: no such job; RP_EGONE: the job is already finished.
 */
RP_API int rp_job_cancel(rp_conn *conn, int64_t id, const char *kind);

/*
 * Make a dead or cancelled job ready again, with the same id and no attempts
 * used. For `kind` see rp_job_cancel(). RP_ENOENT: no such job; RP_EGONE: the
 * job is live or done; RP_ETAKEN: another live job has the job's unique key.
 */
RP_API int rp_job_retry(rp_conn *conn, int64_t id, const char *kind);

/*
 * New values for rp_job_change(). A negative number, or NULL, leaves a value
 * unchanged. Start from RP_CHANGE_INIT, which sets all fields to such values.
 */
typedef struct rp_change {
	size_t size;       /* set by RP_CHANGE_INIT */
	const char *kind;  /* if not NULL, only a job of this kind is changed */
	int priority;      /* 0..RP_MOST_PRIORITY */
	int64_t delay_ms;  /* the job is ready after this time; 0: now */
	int64_t run_at;    /* the job becomes ready at this time; set run_at or
			    * delay_ms, not both */
	const char *queue; /* another queue; it must exist */
	int64_t max_attempts; /* 1 or more. If the job has already used that
			       * many attempts, it gets one more */
} rp_change;
#define RP_CHANGE_INIT                                                         \
	{                                                                      \
		sizeof(rp_change), NULL, -1, -1, -1, NULL, -1                  \
	}

/*
 * Change a scheduled, ready or blocked job. It keeps its id, its payload, its
 * unique key and the attempts that it has used. A ready job keeps its place in
 * line, except if its queue or priority changes: then it goes to the end of the
 * new line. Inside a transaction the change takes effect when the transaction
 * commits.
 *
 * Errors: RP_EGONE: the job is running or finished. RP_ENOENT: there is no such
 * job, the job is of another kind, or the queue does not exist. RP_ETAKEN: a
 * live job of the new queue has the same unique key. RP_EFBIG: the job's
 * payload is larger than the new queue accepts. RP_EINVAL: all fields are
 * unset, a value is out of range, or the job would expire before it is due.
 */
RP_API int rp_job_change(rp_conn *conn, int64_t id, const rp_change *change);

/* Retry all dead jobs of a queue or, if `kind` is not NULL, only those of this
 * kind. This takes several transactions. If the call fails, some jobs may be
 * ready and the others are still dead. Jobs whose unique key is taken stay
 * dead; *ret_taken (may be NULL) is set to their number. Returns the number of
 * jobs that are ready again. */
RP_API int64_t rp_queue_retry_dead(rp_conn *conn, const char *queue,
				   const char *kind, int64_t *ret_taken);

/* Delete the jobs of a queue that are in the given state (0: any state). If
 * `kind` is not NULL, only jobs of this kind are deleted. Running jobs are
 * never deleted, and RP_STATE_RUNNING is refused. This takes several
 * transactions. Returns the number of deleted jobs. */
RP_API int64_t rp_queue_purge(rp_conn *conn, const char *queue, int state,
			      const char *kind);

/* The numbers of jobs that a sweep changed. Start from RP_SWEPT_INIT. */
typedef struct rp_swept {
	size_t size;       /* set by RP_SWEPT_INIT */
	int64_t due;       /* scheduled jobs that became ready */
	int64_t recovered; /* jobs that are ready again because their lease ran
			    * out */
	int64_t dead;      /* jobs that are dead because the lease of their
			    * last attempt ran out */
	int64_t dropped;   /* deleted jobs: jobs of dropped queues, and finished
			    * jobs whose retention is over */
	int64_t expired;   /* jobs that were cancelled because they were not
			    * claimed before they expired */
	int64_t fired;     /* jobs that schedules added */
} rp_swept;
#define RP_SWEPT_INIT                                                          \
	{                                                                      \
		sizeof(rp_swept), 0, 0, 0, 0, 0, 0                             \
	}

/*
 * Maintenance: make due jobs ready, end the leases that ran out, cancel jobs
 * that expired, delete jobs whose retention is over, and fire the schedules
 * that are due. Workers do this by themselves. If no worker runs, a program
 * that claims jobs should call rp_sweep() about once a second. A sweep that
 * finds nothing to do writes nothing. `ret` may be NULL. Returns the number of
 * jobs that were changed. RP_EINVAL: `ret` was not initialised with
 * RP_SWEPT_INIT.
 */
RP_API int rp_sweep(rp_conn *conn, rp_swept *ret);

/* ---- waiting --------------------------------------------------------- */

/*
 * Wait until a claim from one of the queues may find a job. `queues` is an
 * array with a NULL at the end. Returns 1 if a claim may find a job. Returns 0
 * if timeout_ms milliseconds have passed (-1: no limit), or if the descriptor
 * `fd` is readable (-1: no descriptor).
 */
RP_API int rp_wait(rp_conn *conn, const char *const *queues, int64_t timeout_ms,
		   int fd);

/* How one of the jobs of a wait ended. */
typedef struct rp_outcome {
	int64_t id;
	int state; /* RP_STATE_DONE, _DEAD or _CANCELLED; 0: the job has not
		    * ended. A live job whose queue is dropped counts as
		    * cancelled. If the database no longer has the job, and no
		    * record shows how it ended, it counts as done */
	int kept;  /* 1: the job is kept, and rp_job_get() reads it. 0: the job
		    * has not ended, or is not kept */
} rp_outcome;

/*
 * Wait for the end of `n` jobs (1 to RP_MOST_CLAIMED). With RP_WAIT_ALL the
 * call waits until all of them have ended, with RP_WAIT_ANY until at least one
 * has. `ret` is NULL or has room for `n` elements, which receive how each job
 * ended.
 *
 * Returns 1 when the wait is over. Returns 0 after timeout_ms milliseconds (-1:
 * no limit), or as soon as the descriptor `fd` is readable (-1: no descriptor).
 * In both cases `ret` has what is known by then.
 *
 * RP_ENOENT: no job ever had one of the ids; the error's `item` is its index.
 * If the enqueue of a job has not been committed, the call takes the job for
 * one that has ended. So wait for a job only after its enqueue was committed.
 * RP_EINVAL: a transaction is open, or the caller is a handler that would wait
 * for itself. A handler would wait for itself if it waited for its own job. It
 * would also do so if its worker has only one thread and serves the queue of a
 * job for which it waits.
 *
 * On PostgreSQL a notification ends the wait. On SQLite the call reads the jobs
 * when the database's files change, and at least once a second. If the server
 * cannot be reached, the call tries again for a minute before it fails. On an
 * attached connection to PostgreSQL (rp_attach()), and behind a pooler, the
 * call polls at growing intervals of up to a second.
 */
#define RP_WAIT_ALL 0
#define RP_WAIT_ANY 1
RP_API int rp_job_wait(rp_conn *conn, const int64_t *ids, size_t n, int how,
		       int64_t timeout_ms, int fd, rp_outcome *ret);

/* Wait until a queue has no live job, that is, no scheduled, ready, blocked or
 * running job. The results 1 and 0 and the error RP_EINVAL are those of
 * rp_job_wait(). RP_ENOENT: there is no such queue. */
RP_API int rp_queue_wait(rp_conn *conn, const char *queue, int64_t timeout_ms,
			 int fd);

/* ---- looking --------------------------------------------------------- */

/* Read one job, live or kept. The result is a batch with one job; free it with
 * rp_batch_free(). RP_ENOENT: there is no such job. */
RP_API int rp_job_get(rp_conn *conn, int64_t id, rp_batch **ret);

/* The state of a job and the reasons for it; see rp_why_get(). For a finished
 * job, the fields about waiting and running are 0 or NULL. */
typedef struct rp_why {
	const rp_job *job;
	int64_t now;       /* when these values were read */
	int64_t paused_at; /* when the job's queue was paused; 0: the queue is
			    * not paused */
	int64_t ahead;     /* how many ready jobs will be claimed before this
			    * job, counted up to RP_MOST_AHEAD */
	int suspect;       /* 1: the job may have killed its worker, so the
			    * job is claimed alone, by a worker that holds no
			    * other job */
	int64_t workers;   /* how many workers with a heartbeat in the last 30 s
			    * serve the job's queue and kind */
	int64_t queue_workers; /* how many workers with a heartbeat in the last
				* 30 s serve the job's queue; they may serve
				* other kinds only */
	int64_t worker_id;     /* the worker that holds the job; 0: a client
				* that is not a worker */
	const char *host;      /* the host of the job's worker; NULL: unknown,
				* because the worker's row was deleted */
	int64_t pid;
	int64_t silent_ms;        /* time since the last heartbeat of the job's
				   * worker */
	int64_t renewed;          /* how many times the job's lease was
				   * renewed */
	const char *pause_reason; /* why the job's queue is paused; NULL: no
				   * reason was given */
	int64_t run_limit;        /* how many jobs of the queue may run at once;
				   * 0: any number */
	int64_t running;          /* how many jobs of the queue run now; always
				   * 0 if the queue has no limit */
	int64_t held_until;       /* the queue is held until this time; 0: it is
				   * not held */
	int64_t group_held_until; /* the group is held until this time; 0: it is
				   * not held */
	int64_t group_limit;   /* how many jobs of the group may run at once; 0:
				* any number, or the job has no group */
	int64_t group_busy;    /* how many jobs count toward group_limit now:
				* they are running or ready, or wait for their
				* retry (see rp_queue.group_pass) */
	int64_t group_ahead;   /* how many jobs of the group wait ahead of this
				* job, counted up to RP_MOST_AHEAD */
	int64_t group_waiting; /* how many jobs of the group wait, counted up to
				* RP_MOST_AHEAD */
	const char *group_next; /* If the job waits for other jobs of its group:
				 * one of these jobs, as a JSON object with the
				 * members id, state, since, worker and host.
				 * NULL: the job does not wait for them */
	int64_t rate_count;     /* how many jobs of the queue may start within
				 * rate_ms; 0: any number */
	int64_t rate_ms;
	int64_t rate_in_ms; /* time until the next job of the queue may start;
			     * 0: it may start now */
} rp_why;
#define RP_MOST_AHEAD 1000

/* Explain why a job does not run, or how it runs. The result is the job
 * together with its queue, its worker and its place in line. The cost does not
 * depend on the number of jobs. RP_ENOENT: there is no such job. Free the
 * result with rp_why_free(). */
RP_API int rp_why_get(rp_conn *conn, int64_t id, rp_why **ret);
RP_API void rp_why_free(rp_why *why);

/*
 * List up to `max` jobs of a queue. `state` is the state of the jobs, or 0 for
 * all live jobs. Running jobs come first (the longest running job first), then
 * ready jobs in claim order, then blocked jobs, then scheduled jobs.
 * Finished jobs are listed newest first. Returns the number of listed jobs.
 * RP_ENOENT: there is no such queue. Only the first RP_LIST_PAYLOAD bytes of
 * each payload and result are read; rp_job_get() reads all of them. Free the
 * batch with rp_batch_free().
 *
 * To find the longest running jobs, the call has to read all running jobs,
 * because no index has them in the order of their claims. It reads at most
 * RP_MOST_COUNTED of them, or `max` of them if `max` is larger. If there are
 * more, rp_batch_is_partial() returns 1. With `state | RP_LIST_ALL` the call
 * reads all of them.
 */
#define RP_LIST_PAYLOAD 256
#define RP_LIST_ALL 0x100
RP_API int rp_job_list(rp_conn *conn, const char *queue, int state, size_t max,
		       rp_batch **ret);

/*
 * The numbers of a queue. A time is -1 if there is no job to which it applies.
 * The numbers of finished jobs are exact, because the database updates them
 * when it keeps or deletes a job. Of the live jobs, at most RP_MOST_COUNTED of
 * each state are counted. If ..._at_least is 1, there may be more jobs of that
 * state, and the times are those of the counted jobs.
 */
#define RP_MOST_COUNTED 10000
typedef struct rp_queue_stats {
	const char *queue;
	int paused;
	int64_t scheduled, ready, running, done, dead, cancelled;
	int64_t oldest_ready_ms; /* how long the oldest due job has waited. Jobs
				  * that wait for their group do not count;
				  * those that wait for their queue do. */
	int64_t longest_running_ms;
	int64_t workers;              /* workers with a heartbeat in the last
				       * 30 s */
	int64_t done_10s, failed_10s; /* how many attempts ended as done, and
				       * how many failed, in the last 10 s */
	int scheduled_at_least, ready_at_least, running_at_least;
	const char *pause_reason; /* NULL: the queue is not paused, or no reason
				   * was given */
	int64_t blocked; /* jobs that wait for the limit, the rate or the hold
			  * of their queue or group */
	int blocked_at_least;
	int64_t held_until; /* no job of the queue starts before this time, see
			     * rp_queue_hold(); 0: the queue is not held */
	/* How many jobs were done, how many attempts failed, and how many jobs
	 * died since the queue was made. A client counts the jobs that it
	 * settles, and writes the counts about once a second while it works,
	 * and when it closes its handle. A client that is killed loses the
	 * counts of its last second. So may a client that closes its handle
	 * inside a transaction of its own connection (see rp_attach()), and a
	 * session of a client in SQL that ends. */
	int64_t done_total, failed_total, dead_total;
} rp_queue_stats;

typedef struct rp_stats rp_stats;
/* Read the numbers of `queue`. If `queue` is NULL, read those of all queues,
 * sorted by name. RP_ENOENT: no queue has this name. Free the result with
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
	int64_t silent_ms; /* time since the last heartbeat, seen_at */
	int64_t running;   /* how many jobs the worker holds */
	int64_t done, failed, dead, released;
	int running_at_least; /* 1: the worker may hold more jobs than
			       * `running`; see rp_queue_stats */
} rp_worker_info;

typedef struct rp_workers rp_workers;
RP_API int rp_worker_list(rp_conn *conn, rp_workers **ret);
RP_API size_t rp_workers_count(const rp_workers *workers);
RP_API const rp_worker_info *rp_workers_at(const rp_workers *workers, size_t i);
RP_API void rp_workers_free(rp_workers *workers);

/* ---- schedules ------------------------------------------------------- */

/* One time at which a schedule fires. Start from RP_FIRE_INIT. A field named
 * ..._local_ms is a local time, written as if the zone were UTC: 03:30 is
 * stored as the milliseconds of 03:30 UTC on that date. */
typedef struct rp_fire {
	size_t size;      /* set by RP_FIRE_INIT */
	int64_t at_ms;    /* when the schedule fires */
	int64_t offset_s; /* local time minus UTC at that time, in seconds */
	char zone[12];    /* the abbreviation of local time at that moment, such
			   * as "CEST" */
	/* When the clock is set forward, some local times do not exist.
	 * `skipped` is how many local times of the spec did not exist between
	 * after_ms (see rp_schedule_next()) and at_ms. skipped_local_ms is the
	 * first of them. */
	int64_t skipped, skipped_local_ms;
	/* When the clock is set back, some local times occur twice. `doubled`
	 * is how many local times of the spec occurred for the second time
	 * between after_ms and at_ms. doubled_local_ms is the first of them. */
	int64_t doubled, doubled_local_ms;
} rp_fire;
#define RP_FIRE_INIT                                                           \
	{                                                                      \
		sizeof(rp_fire), 0, 0, "", 0, 0, 0, 0                          \
	}

/*
 * Find the first fire of a schedule strictly after `after_ms`. The call uses no
 * database. Returns 1, or 0 if the schedule does not fire within 400 years or
 * before RP_MOST_TIME. `ret` is written only if the call returns 1.
 *
 * `spec` is one of
 *
 *   MINUTE HOUR DAY MONTH WEEKDAY   five fields, as in a crontab of POSIX: `*`,
 *                                   numbers, ranges (1-5), lists (1,15), steps
 *                                   (`*` or a range with /10), and three
 *                                   letters for months and weekdays (JAN, MON)
 *   @hourly @daily @midnight @weekly @monthly @yearly @annually
 *   every D                         D is a duration of 1 s to RP_MOST_DAYS, see
 *                                   rp_duration(). The fires are at anchor_ms
 *                                   + D, + 2 D, and so on. Only this form uses
 *                                   `anchor_ms`
 *
 * If both DAY and WEEKDAY are restricted, a day matches if either field
 * matches. A field that begins with `*` is not restricted. When the clock is
 * set forward, the local times that it skips do not fire. When it is set back,
 * some local times occur twice. They fire only at the first occurrence, unless
 * the minute or the hour field begins with `*`.
 *
 * `zone` is a name of the IANA time zone database, such as "Europe/Berlin". Its
 * file is read from /usr/share/zoneinfo. NULL or "UTC" means UTC, which needs
 * no file.
 *
 * RP_EINVAL: the spec is wrong or can never match a day, or the zone is not
 * known. RP_EDB: the zone's file is damaged or cannot be read. RP_ENOMEM: out
 * of memory.
 */
RP_API int rp_schedule_next(const char *spec, const char *zone,
			    int64_t anchor_ms, int64_t after_ms, rp_fire *ret,
			    rp_error *reterr);

/* RP_MISSED_* sets which jobs a schedule adds for the instants that it missed.
 * An instant is a time that the schedule's spec names. It is missed if no
 * worker or sweep has fired it within 60 s. The jobs are added in the order of
 * their instants. With RP_MISSED_ONCE the job stands for all due instants, also
 * for those of the last 60 s. */
#define RP_MISSED_ONCE 0 /* one job, for the newest due instant */
#define RP_MISSED_ALL 1  /* one job for each missed instant; at most 1000 */
#define RP_MISSED_SKIP 2 /* no job */

/* RP_OVERLAP_* sets whether a fire adds a job while a job of an earlier fire is
 * live. With RP_OVERLAP_SKIP the jobs have the unique key "cron:NAME". */
#define RP_OVERLAP_ALLOW 0 /* the fire adds a job anyway */
#define RP_OVERLAP_SKIP 1  /* the fire adds no job */

/*
 * A schedule. It adds a job to its queue at each instant that its spec names.
 * About once a second, the workers fire all instants that are due. rp_sweep()
 * does so, too. Each instant fires exactly once, because one transaction adds
 * the job and sets the schedule's next instant.
 *
 * The jobs have the schedule's headers and these:
 *
 *   readpast-schedule       the schedule's name
 *   readpast-scheduled-for  the instant, such as 2026-03-29T00:30:00Z
 *   readpast-missed         the number of missed instants that this job stands
 *                           for. With RP_MISSED_ALL: the number of missed
 *                           instants that got no job. The count stops at 1000
 *   readpast-manual         "true", if rp_schedule_run() added the job
 */
typedef struct rp_schedule {
	size_t size;      /* set by RP_SCHEDULE_INIT */
	const char *name; /* at most RP_MOST_NAME bytes, unique in the
			   * database */
	const char *queue;
	const char *spec;    /* see rp_schedule_next() */
	const char *zone;    /* NULL: UTC */
	const void *payload; /* any bytes */
	size_t payload_size;
	const char *kind;
	const char *headers; /* a JSON object */
	int priority;        /* -1: the queue's priority */
	int missed;          /* RP_MISSED_* */
	int overlap;         /* RP_OVERLAP_* */
	/* rp_schedule_set() ignores the following fields. Times are in
	 * milliseconds; 0: not set. */
	int64_t next_at;     /* when the schedule fires next; 0: never again. If
			      * the zone cannot be read, next_at stays in the
			      * past */
	int64_t last_at;     /* the last instant that fired */
	int64_t last_job_id; /* the job that was added for last_at; 0: no job
			      * was added */
	int last_state;      /* RP_STATE_* of the job last_job_id; 0: the job is
			      * no longer kept */
	const char *last_error; /* why the last instant has no job, or why the
				 * next instant is not known; NULL: no such
				 * error */
	int64_t paused_at, created_at;
	int64_t anchor_at; /* the time from which `every D` counts */
} rp_schedule;
#define RP_SCHEDULE_INIT                                                       \
	{                                                                      \
		sizeof(rp_schedule), NULL, NULL, NULL, NULL, NULL, 0, NULL,    \
			NULL, -1, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0              \
	}

typedef struct rp_schedules rp_schedules;

/*
 * Add a schedule. It first fires at the first time after now that its spec
 * names. If a schedule of this name exists and `replace` is 1, all its values
 * are replaced. A paused schedule stays paused. Its next_at changes only if the
 * spec or the zone has changed. In that case the new next_at is computed from
 * now, as for a new schedule. A queue that does not exist is created.
 *
 * RP_ETAKEN: a schedule of this name exists, and `replace` is 0. RP_EINVAL: a
 * value is wrong, the spec can never match a day, or the zone is not known here
 * or on the server. RP_EFBIG: the payload is too large.
 */
RP_API int rp_schedule_set(rp_conn *conn, const rp_schedule *schedule,
			   int replace);

/* Read the schedule `name`. If `name` is NULL, read all schedules, sorted by
 * name. RP_ENOENT: no schedule has this name. Free the result with
 * rp_schedules_free(). */
RP_API int rp_schedule_list(rp_conn *conn, const char *name,
			    rp_schedules **ret);
RP_API size_t rp_schedules_count(const rp_schedules *schedules);
RP_API const rp_schedule *rp_schedules_at(const rp_schedules *schedules,
					  size_t i);
RP_API void rp_schedules_free(rp_schedules *schedules);

/* Remove a schedule. Its jobs stay. RP_ENOENT: no schedule has this name. */
RP_API int rp_schedule_remove(rp_conn *conn, const char *name);

/* A paused schedule does not fire. rp_schedule_resume() lets it fire again,
 * beginning with the first instant after the call. The instants during the
 * pause do not count as missed. A resume of a schedule that is not paused
 * changes nothing. RP_ENOENT: there is no such schedule. */
RP_API int rp_schedule_pause(rp_conn *conn, const char *name);
RP_API int rp_schedule_resume(rp_conn *conn, const char *name);

/* Add a job of the schedule now, even if the schedule is paused. The schedule's
 * instants do not change. The job's header readpast-scheduled-for is the
 * current time. `ret` may be NULL. ret->outcome is RP_EXISTED if the schedule
 * has RP_OVERLAP_SKIP and one of the schedule's jobs is live. In that case no
 * job is added. RP_ENOENT: there is no such schedule. */
RP_API int rp_schedule_run(rp_conn *conn, const char *name, rp_added *ret);

/* ---- copying to another database -------------------------------------- */

/* RP_COPY_* are the phases of rp_copy(). rp_copied is the progress of a copy
 * and, at the end, its result. Start from RP_COPIED_INIT. */
#define RP_COPY_WAITING 1   /* the copy waits for running jobs to end */
#define RP_COPY_COPYING 2   /* the first pass over the source */
#define RP_COPY_VERIFYING 3 /* the copy compares the source with the target */
#define RP_COPY_REMOVING 4  /* a move compares and deletes the source's jobs */
typedef struct rp_copied {
	size_t size;           /* set by RP_COPIED_INIT */
	int doing;             /* the phase, RP_COPY_* */
	int64_t position, end; /* ids of jobs in the source: the job that the
				* phase has reached, and the last job */
	int64_t queues;
	int64_t live, kept; /* numbers of live jobs, and of kept finished jobs,
			     * that are equal in source and target, counted
			     * during the current pass over the source. In
			     * RP_COPY_REMOVING: the sum of all passes */
	int64_t written;    /* jobs written to the target */
	int64_t removed;    /* jobs deleted from the source */
	int64_t running;    /* running jobs, which stay in the source */
	int64_t shift;      /* id of a job in the target minus its id in the
			     * source; -1: the difference is not the same for
			     * all jobs */
	int64_t schedules;  /* schedules written to the target */
} rp_copied;
#define RP_COPIED_INIT                                                         \
	{                                                                      \
		sizeof(rp_copied), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0             \
	}

/* Called once when the copy has begun and then from time to time. Return 0
 * to continue. After any other number, rp_copy() stops and returns
 * RP_ECANCELLED. */
typedef int rp_copy_progress(const rp_copied *so_far, void *ctx);

/* Options of rp_copy(). In every field zero means the default. */
typedef struct rp_copy_options {
	size_t size; /* set by RP_COPY_INIT */
	/* The names of the queues, with a NULL at the end; NULL: all queues. */
	const char *const *queues;
	int move;          /* 1: when the target has the jobs, delete them from
			    * the source */
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
 * Copy queues from `from`, the source, to `to`, the target. The copy has the
 * queues' settings, their schedules, their kept jobs, their unique keys that
 * stay taken, and their live jobs with position, times, attempts, claim
 * numbers, keys and failures. Jobs keep their ids if the target has never used
 * these ids; otherwise a number is added to the ids (see rp_copied.shift).
 * Before the call returns, it compares every field of every job in the target
 * with the source. `ret` and `reterr` may be NULL.
 *
 * During the copy the queues are paused on both sides. Jobs that are enqueued
 * in the source during the copy are copied, too. After a copy, the source is
 * resumed unless it was paused before, and the target stays paused. After a
 * move, the target is resumed unless the source was paused before, and the
 * source stays paused.
 *
 * Each instant of a schedule fires once, in one of the databases. During a copy
 * and after it, schedules fire in the source, and the schedules in the target
 * are paused. When a move has moved the jobs, it deletes the schedules from the
 * source. After that they fire in the target.
 *
 * If the call fails before its first call of `progress`, the source is
 * unchanged. (After RP_ELOST this is not certain, because the outcome of a
 * commit may be unknown.) If the call fails later, or is killed, no job is lost
 * or duplicated and both sides stay paused. Then call rp_copy() again to
 * continue. You may also call rp_copy() again after it succeeded. After a copy,
 * the second call brings the target up to date, unless the target was resumed.
 * After a move, the second call moves the jobs that were enqueued in the source
 * after the first call.
 *
 * RP_EINVAL: `from` and `to` are the same database, or `ret` was not
 * initialised with RP_COPIED_INIT. RP_ENOENT: there is no such queue.
 * RP_ETAKEN: the target has a queue of that name with jobs in it, or a schedule
 * of the same name that is not from this copy.
 */
RP_API int rp_copy(rp_conn *from, rp_conn *to, const rp_copy_options *options,
		   rp_copied *ret, rp_error *reterr);

/* ---- the worker ------------------------------------------------------ */

typedef struct rp_worker rp_worker;
typedef struct rp_task rp_task;

/*
 * A handler runs one job and returns RP_DONE, RP_FAIL, RP_DEAD or RP_RELEASE;
 * any other number counts as RP_FAIL. The handler is called on one of the
 * worker's threads. The job is read-only and valid until the handler returns.
 * The worker holds at most one large payload (RP_LARGE_PAYLOAD) for each of its
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
 * counts; a NULL `bytes` with a `size` of 0 removes the result. The statement
 * that completes the job also writes the result, so a worker that has lost its
 * claim cannot overwrite it. The result is kept as long as the job is kept (see
 * rp_job_spec.keep_ms and rp_queue.keep_done_ms). If the job is not kept, the
 * result is dropped. A handler that uses rp_task_complete() must set the result
 * before that call. RP_EFBIG: the result is larger than RP_MOST_RESULT; nothing
 * has changed, and the job can still be completed. The call can also return
 * RP_EINVAL or RP_ENOMEM.
 */
RP_API int rp_task_result(rp_task *task, const void *bytes, size_t size);

/*
 * Report how far the job is, or what the next attempt needs to continue. The
 * text, such as JSON, is UTF-8 of at most RP_MOST_PROGRESS bytes. It is copied.
 * "" deletes the text that was reported before. The call does not wait. The
 * worker sends the text together with a renewal of the lease, at most once a
 * second. It sends the last text with the verdict, except with RP_DONE. If a
 * worker dies, the text that it has not sent is lost.
 *
 * `readpast show`, `why` and `top` show the text, and the job's next attempt
 * finds it in rp_job.progress. RP_EFBIG: the text is too large. RP_EINVAL: the
 * text is not UTF-8. RP_ENOMEM: out of memory. After an error the previous text
 * is still valid.
 */
RP_API int rp_task_progress(rp_task *task, const char *text);

/*
 * Threads: only the thread that runs the handler may call the functions of its
 * task. On other threads they return RP_EINVAL. The exception is
 * rp_task_state(), which any thread may call until the handler returns. A task
 * from rp_worker_next() may be used by any thread, but by one thread at a time.
 * While the task's transaction is open, only the thread that began the
 * transaction may use the task.
 */

/* Begin the lease again, now, with the length lease_ms. From then on the worker
 * renews the lease each time that a third of this length is over. Workers renew
 * leases by themselves. This call is for handlers that know that the process
 * will be stopped for a while. RP_EINVAL: the task's transaction is open.
 * RP_EGONE, RP_ECANCELLED: the claim is lost. RP_EBUSY: another transaction has
 * locked the job's row, and nothing has changed. */
RP_API int rp_task_extend(rp_task *task, int64_t lease_ms);

/* Hold the task's group (RP_HOLD_GROUP) or its queue (RP_HOLD_QUEUE) for for_ms
 * when the handler's verdict is settled, in the same commit. Example: an API
 * answers "Retry-After", so the handler calls this and returns RP_RELEASE. With
 * RP_DONE nothing is held. The last call counts. */
RP_API int rp_task_hold(rp_task *task, int hold, int64_t for_ms);

/*
 * With these calls the effects of a handler in this database happen exactly
 * once. rp_task_begin() opens a writing transaction on a connection that
 * belongs to this thread, and sets *ret to its handle. Use rp_conn_native(*ret)
 * for your SQL, and *ret for rp_enqueue() and similar calls. The task owns
 * *ret: do not close it. End the transaction only with the calls below;
 * rp_commit() and rp_rollback() return RP_EINVAL. rp_task_complete() completes
 * the job inside the transaction. rp_task_commit() commits your changes and the
 * completion together. After it, return RP_DONE from the handler. If a handler
 * returns without a commit, the transaction is rolled back, and the handler's
 * verdict counts as usual.
 *
 * If the lease was lost, rp_task_complete() fails with RP_EGONE (or
 * RP_ECANCELLED). Then rp_task_commit() fails as well and rolls back. After a
 * commit without rp_task_complete(), the handler may begin another transaction.
 *
 * While the transaction is open, other writers of a SQLite file wait. If one of
 * these calls fails, its message becomes the task's error, unless the task has
 * an error already.
 */
RP_API int rp_task_begin(rp_task *task, rp_conn **ret);
RP_API int rp_task_complete(rp_task *task);
RP_API int rp_task_commit(rp_task *task);
RP_API int rp_task_rollback(rp_task *task);

/* The state of a task. A handler that runs for long should call rp_task_state()
 * from time to time. After RP_TASK_LOST and RP_TASK_CANCELLED no verdict is
 * accepted. */
#define RP_TASK_RUNNING 0   /* the handler may go on */
#define RP_TASK_STOPPING 1  /* the worker stops: finish or release the job */
#define RP_TASK_LOST 2      /* stop: the lease ran out */
#define RP_TASK_CANCELLED 3 /* stop: the job was cancelled */
RP_API int rp_task_state(const rp_task *task);

/* The events that a worker reports to its observer. */
#define RP_EVENT_CLAIM 1     /* the worker claimed a job */
#define RP_EVENT_START 2     /* a handler starts */
#define RP_EVENT_SETTLE 3    /* the worker is about to send a verdict */
#define RP_EVENT_SETTLED 4   /* the verdict was answered; see result, state */
#define RP_EVENT_LOST 5      /* a renewal was refused; result has the reason */
#define RP_EVENT_TROUBLE 6   /* a call failed and will be repeated; see text */
#define RP_EVENT_HEARTBEAT 7 /* the worker is serving; see heartbeat_ms */
typedef struct rp_event {
	size_t size;
	int what;            /* RP_EVENT_* */
	const rp_job *job;   /* NULL for TROUBLE and HEARTBEAT. In events after
			      * the handler's return, a large payload is already
			      * freed, and job->payload is NULL */
	int verdict;         /* SETTLE, SETTLED: RP_DONE ... RP_EXTEND */
	int result;          /* SETTLED, LOST: 0 or RP_E*. TROUBLE: RP_E* */
	int state;           /* SETTLED: the job's state now; 0: unknown. If the
			      * handler settled its claim itself, result is
			      * RP_EGONE, and this is the state that the handler
			      * gave the job */
	int64_t duration_ms; /* SETTLED: how long the handler ran */
	int64_t asked_us;    /* CLAIM, SETTLED: when the request was sent, in
			      * microseconds of CLOCK_MONOTONIC */
	const char *text;    /* SETTLE, SETTLED: the job's error; TROUBLE: what
			      * failed */
} rp_event;
typedef void rp_observer(const rp_event *event, void *ctx);

/* RP_DRAIN_* sets when a worker ends by itself. RP_DRAIN_READY: the worker ends
 * when its queues have no job that is ready, due, running in any process, or
 * blocked by a limit or a rate. It does not wait for jobs of paused queues, or
 * for jobs that are blocked only by a hold. RP_DRAIN_SETTLED: the worker also
 * waits for each job that it has run, until the job is finished or another
 * worker has started a later attempt of it. */
#define RP_DRAIN_READY 1
#define RP_DRAIN_SETTLED 2

/* Options of a worker. In every field zero means the default. */
typedef struct rp_worker_options {
	size_t size;      /* set by RP_WORKER_INIT */
	int threads;      /* how many handlers run at the same time, or how many
			   * tasks a program may pull at the same time; 1 to
			   * 1024, default 1 */
	int64_t lease_ms; /* 0: each queue's setting. A lease is renewed when
			   * a third of it is over */
	int64_t max_jobs; /* end after this many jobs; 0: no limit */
	int drain;        /* RP_DRAIN_*; 0: work until rp_worker_stop() */
	const char *name; /* shown as `worker`; default HOST:PID */
	rp_observer *observer; /* called by the worker's threads, but by one
				* thread at a time */
	void *observer_ctx;
	int schema;           /* RP_SCHEMA_*, for opening the database */
	int64_t heartbeat_ms; /* interval of RP_EVENT_HEARTBEAT. The first
			       * heartbeat is sent when the worker begins to
			       * serve; with 0, no further heartbeats are sent.
			       * The thread that uses the database connection
			       * sends the heartbeats, so a worker that hangs
			       * sends none */
} rp_worker_options;
#define RP_WORKER_INIT                                                         \
	{                                                                      \
		sizeof(rp_worker_options), 0, 0, 0, 0, NULL, NULL, NULL, 0, 0  \
	}

/* How many jobs a worker has claimed, and what became of them. Start from
 * RP_WORKER_COUNTS_INIT. */
typedef struct rp_worker_counts {
	size_t size; /* set by RP_WORKER_COUNTS_INIT */
	int64_t claimed, done, failed, dead, released;
	int64_t lost;      /* jobs whose lease ran out, so that the database
			    * refused the worker's verdict or renewal */
	int64_t cancelled; /* jobs that were cancelled while the worker held
			    * them */
} rp_worker_counts;
#define RP_WORKER_COUNTS_INIT                                                  \
	{                                                                      \
		sizeof(rp_worker_counts), 0, 0, 0, 0, 0, 0, 0                  \
	}

/*
 * Create a worker on the database at `url`. The worker connects in
 * rp_worker_run() or the first rp_worker_next(). Free it with rp_worker_free().
 * After fork() the child cannot use the parent's workers and tasks: calls
 * return RP_EINVAL, and rp_worker_stop() and rp_worker_free() do nothing.
 */
RP_API int rp_worker_new(const char *url, const rp_worker_options *options,
			 rp_worker **ret, rp_error *reterr);
RP_API void rp_worker_free(rp_worker *worker);

/* Serve a queue with a handler. If several queues have jobs, the worker prefers
 * the queue whose first handler was added first. If `kind` is NULL, the handler
 * gets all jobs of the queue except those whose kind has a handler of its own.
 * RP_EINVAL: the worker is running. */
RP_API int rp_worker_handle(rp_worker *worker, const char *queue,
			    const char *kind, rp_handler *handler, void *ctx);

/*
 * Serve all queues whose names match a pattern. In a pattern, * stands for any
 * characters and ? for one character; with a backslash before them they are
 * ordinary characters. A queue that is created later is served within two
 * seconds of its creation. All queues that match are served equally. A handler
 * for a queue's name takes precedence over a handler for a pattern. If several
 * patterns match, the first one counts. This call creates no queue.
 */
RP_API int rp_worker_handle_pattern(rp_worker *worker, const char *pattern,
				    const char *kind, rp_handler *handler,
				    void *ctx);

/*
 * Work until rp_worker_stop() is called, or until the work ends because of
 * `drain` or `max_jobs`. Then the worker claims no more jobs and releases the
 * jobs whose handler has not started. The call returns when the last handler
 * has returned. Returns 0, or the error that ended the worker. RP_EINVAL: the
 * worker is already running (so a handler of the worker cannot call this).
 * RP_EREADONLY: the database was read-only at the start or, on SQLite, became
 * read-only.
 */
RP_API int rp_worker_run(rp_worker *worker, rp_error *reterr);

/* Make the worker stop: see rp_worker_run() and rp_worker_fd(). This call does
 * not wait. Any thread may call it, and so may a signal handler. */
RP_API void rp_worker_stop(rp_worker *worker);

/* Read the worker's counts. Any thread may call this at any time. Each number
 * is exact. While the worker runs, the numbers may be of slightly different
 * moments. RP_EINVAL: `ret` was not initialised with RP_WORKER_COUNTS_INIT. */
RP_API int rp_worker_counts_get(const rp_worker *worker, rp_worker_counts *ret);

/*
 * Pulling tasks: instead of handlers that the worker calls, the program has a
 * loop. It takes a task with rp_worker_next(), does the job on any thread, and
 * gives the verdict with rp_task_finish(). This suits bindings, and programs
 * with an event loop of their own. The first rp_worker_next() starts a thread
 * of the worker. That thread does everything else as in rp_worker_run(): it
 * claims, renews the leases of the pulled tasks, settles and sweeps. It calls
 * the program only through the observer. A worker can either run or be pulled,
 * not both.
 */

/* Serve a queue without a handler, for rp_worker_next(). For `kind` see
 * rp_worker_handle(). */
RP_API int rp_worker_serve(rp_worker *worker, const char *queue,
			   const char *kind);
/* Serve queues by pattern without a handler, for rp_worker_next(); see
 * rp_worker_handle_pattern(). */
RP_API int rp_worker_serve_pattern(rp_worker *worker, const char *pattern,
				   const char *kind);

/*
 * Take the next task. If there is no task, wait for up to timeout_ms (0: do not
 * wait; -1: no limit). The program holds the task (it is pulled) until
 * rp_task_finish() frees it. A program can hold at most `threads` tasks (an
 * option of the worker). If it holds that many, the call waits until one of
 * them is finished. Several threads may make this call at the same time.
 *
 * RP_NEXT_TASK: *ret is a task. RP_NEXT_NONE: there was no task within
 * timeout_ms. RP_NEXT_END: the program holds no task and will get no more,
 * because the worker was stopped, has drained or has reached max_jobs. A
 * negative number is the error that ended the worker, and every further call
 * returns it again. After such an error the jobs of pulled tasks stay claimed
 * until their leases run out.
 *
 * The worker claims jobs before the program asks for them. If the program does
 * not take these jobs within half a second, the worker releases them for other
 * workers, and claims no more jobs until the next rp_worker_next().
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
 * The program may call rp_task_error() and rp_task_delay() only before this
 * call. If a transaction of the task is open, it is rolled back.
 *
 * Returns 0 if the claim was still valid. Then the worker's thread sends the
 * verdict with its next commit. The verdict takes no effect if the process dies
 * before that commit, or if another worker has the job by then. If another
 * worker has the job, the observer and the counts report this. For an effect
 * that must be certain, use rp_task_complete() and rp_task_commit() before this
 * call.
 *
 * RP_EGONE, RP_ECANCELLED: the claim was already lost. Any other error except
 * RP_EINVAL is the error that ended the worker. The call frees the task unless
 * it returns RP_EINVAL.
 */
RP_API int rp_task_finish(rp_task *task, int verdict);

/*
 * Returns a descriptor for poll(). While it is readable, call rp_worker_next()
 * with timeout_ms 0. It is readable until the first rp_worker_next(), which
 * starts the worker. Later it is readable when a task can be pulled, when the
 * worker has released tasks that were not pulled in time, and when the worker
 * has ended. Do not read from it. The worker owns it, and it is valid until
 * rp_worker_free().
 *
 * After rp_worker_stop() the worker claims no more jobs and releases the tasks
 * that were not pulled. The program may finish its pulled tasks; after that
 * rp_worker_next() returns RP_NEXT_END. rp_worker_free() releases the tasks
 * that are still pulled and waits for the database's answer. Call
 * rp_worker_free() when no other thread has a task or is in rp_worker_next().
 */
RP_API int rp_worker_fd(const rp_worker *worker);

#ifdef __cplusplus
}
#endif
#endif
