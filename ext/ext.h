/*
 * ext.h - types and functions that the files of the loadable SQLite extension
 * share. The host is the program that loads the extension.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef EXT_H
#define EXT_H

#include <sys/types.h>

#include "internal.h"
#include "job_fields.h"
#include "readpast.h"
#include "db/sqlite/sqlite_api.h"

/* ---- the connections ---- */

/* The worker that this connection is registered as; see ext_worker.c. */
struct ext_worker {
	int64_t id; /* 0: the connection is not a worker */
	char name[RP_MOST_WORKER + 1], host[256];
	char **queues;   /* names of its queues, with a NULL at the end */
	int64_t seen_at; /* when the last heartbeat was sent (monotonic ms) */
	rp_worker_counts counts;
};

/* The state of the extension on one connection of the host program. */
struct ext {
	sqlite3 *db;       /* the host's connection */
	rp_conn *attached; /* a handle on the host's connection; NULL: there is
			    * no such handle now */
	rp_conn *own;      /* a second connection to the same file, or NULL */
	int64_t own_synchronous;
	sqlite3 *scratch; /* a database in memory, see
			   * ext_scratch() */
	/* mode_settled: 1 if WAL mode is set. mode_waited: 1 if a call could
	 * not set WAL mode, because it waited for a lock in vain. In that case
	 * later calls try without waiting. */
	int mode_settled, mode_waited;
	int anchored; /* how many of our virtual tables are connected */
	int called;   /* 1: a call is between ext_enter() and ext_leave() */
	pid_t pid;    /* the process that loaded the extension; calls in a
		       * forked child are refused */
	int uses;     /* reference count; functions, modules and tables hold
		       * references */
	struct ext_worker worker;
};

/* In ext_connect.c. Returns the handle for this call. Returns NULL on failure,
 * with the message in `error`. */
rp_conn *ext_enter(struct ext *ext, rp_error *error);
/* Returns a handle on a second connection to the same database, whose
 * transactions end while a statement of the host is reading. NULL: the host has
 * a transaction open or a statement that writes, or the database allows no
 * second connection. */
rp_conn *ext_own(struct ext *ext);
/* Call this at the end of each SQL function for which ext_enter() succeeded. */
void ext_leave(struct ext *ext);
/* Returns 1 if the host has neither an open transaction nor a running statement
 * that writes. */
int ext_is_outside(const struct ext *ext);
/* Record that one of our virtual tables was connected, or disconnected; see
 * ext_table.c. */
void ext_add_anchor(struct ext *ext);
void ext_lose_anchor(struct ext *ext);
void ext_release(void *ext);

/* Returns a database in memory, for SQL that needs none of the host's tables,
 * for example a select from json_each(). On the host's connection such a select
 * would begin to read the host's database. A later write could then fail
 * without waiting, because SQLite calls no busy handler when a connection that
 * is reading requests the write lock. NULL: out of memory. */
sqlite3 *ext_scratch(struct ext *ext);

/* Create a temporary virtual table that has the name of its module. A select
 * from a temporary table does not begin to read the host's database. If the
 * table cannot be created, the name still works in SQL, because SQLite then
 * uses the module itself as a table. But then each select begins to read the
 * host's database. */
void ext_make_temporary(sqlite3 *db, const char *module);

/* ---- arguments ---- */

/* All arguments of all functions. ext_arguments.c has their names and
 * ranges. */
enum ext_param {
	NO_PARAM,
	P_QUEUE,
	P_PAYLOAD,
	P_PRIORITY,
	P_DELAY,
	P_RUN_AT,
	P_MAX_ATTEMPTS,
	P_KIND,
	P_HEADERS,
	P_UNIQUE_KEY,
	P_REPLACE,
	P_PAYLOADS,
	P_DELAYS,
	P_KINDS,
	P_HEADERS_OF_EACH,
	P_N,
	P_LEASE,
	P_WORKER,
	P_WORKER_ID,
	P_HOLDING,
	P_ID,
	P_CLAIM_NO,
	P_ERROR,
	P_FOR_GOOD,
	P_IDS,
	P_CLAIM_NOS,
	P_BACKOFF,
	P_BACKOFF_MAX,
	P_KEEP_DONE,
	P_KEEP_DEAD,
	P_MAX_PAYLOAD,
	P_STATE,
	P_JOB_ID,
	P_QUEUES,
	P_WAITED,
	P_TIMEOUT,
	P_REASON,
	P_QUEUE_TIMEOUT,
	P_KEEP,
	P_JOB_TIMEOUT,
	P_EXPIRE,
	P_BACKOFF_LIST,
	P_UNIQUE_FOR,
	P_GROUP_KEY,
	P_RESULT,
	P_RESULTS,
	P_PROGRESS,
	P_NEW_QUEUE,
	P_DEAD_TO,
	P_RUN_LIMIT,
	P_GROUP_LIMIT,
	P_GROUP_ON_FAILURE,
	P_RATE,
	P_PER,
	P_HOLD,
	P_HOLD_FOR,
	P_DURATION,
	P_BLOCKED,
	P_AFTER,
	P_MOST,
	P_SCHEDULE,
	P_SPEC,
	P_ZONE,
	P_MISSED,
	P_OVERLAP,
	PARAMS
};
#define EXT_MOST_ARGUMENTS 16

/* The value of an argument. `given` is 0 if the argument is absent or null. */
struct ext_argument {
	int given;
	int64_t number; /* durations and times are in milliseconds */
	const void
		*text; /* followed by a NUL; only a payload may contain NULs */
	size_t size;
};

/* One call of a function. */
struct ext_call {
	struct ext *ext;
	rp_conn *conn;
	const struct ext_function *function;
	struct ext_argument arguments[PARAMS];
	sqlite3_value *named[EXT_MOST_ARGUMENTS]; /* values from a JSON object;
						   * ext_forget() frees them */
	rp_error error;
};

/* The rows that a call returns. All rows are made before the first row is
 * read. */
struct ext_rows {
	size_t count;
	void *data;
	void (*free)(void *data);
	/* Sets the columns of a row. The texts of the columns are valid as
	 * long as `data`. */
	void (*read)(const void *data, size_t row, struct rp_value *columns);
};
#define EXT_MOST_COLUMNS 32

/*
 * An SQL function of the extension. If the schema on PostgreSQL has a routine
 * of this name, both have the same arguments in the same order. Only
 * readpast_sweep(), readpast_why() and readpast_worker_stop() have fewer.
 *
 * `answer` returns one value, for statements such as `select
 * readpast_enqueue(...)`. `fetch` returns the rows of a table, for statements
 * such as `select outcome from readpast_enqueue(...)`. A function has `answer`,
 * `fetch` or both. On failure `answer` and `fetch` return a negative number,
 * and the message is in call->error or in the handle's error.
 */
struct ext_function {
	const char *name;
	int least; /* number of required arguments */
	unsigned char params[EXT_MOST_ARGUMENTS + 1];
	int (*answer)(struct ext_call *call, struct rp_value *ret);
	const char *columns;
	int (*fetch)(struct ext_call *call, struct ext_rows *ret);
	int outside; /* 1: refuse the call if a transaction is open or a
		      * statement is reading */
};

/* Returns the argument's name as messages print it. */
const char *ext_words(enum ext_param param);
/* Returns 1 if a JSON text contains \u0000. */
int ext_has_nul_escape(const char *json, size_t size);

/* Write the function's arguments to `to`: "queue, payload [, priority]". */
void ext_signature(const struct ext_function *function, char *to, size_t room);
int ext_arguments(const struct ext_function *function);

/* Read the arguments. A value of NULL means that the argument is absent. Call
 * ext_forget() afterwards, also after a failure. */
int ext_read(struct ext_call *call, sqlite3_value **argv);
void ext_forget(struct ext_call *call);
int ext_no_memory(struct ext_call *call); /* fails with RP_ENOMEM */

/* In ext_call.c. Begin a call: read the arguments, and set call->conn to a
 * handle on the database. Call ext_end() afterwards, also after a failure. */
int ext_begin(struct ext_call *call, struct ext *ext,
	      const struct ext_function *function, sqlite3_value **argv);
void ext_end(struct ext_call *call);
const rp_error *ext_error(const struct ext_call *call);
void ext_result(sqlite3_context *context, const struct rp_value *value);
void ext_result_error(sqlite3_context *context, const rp_error *error);

/* An element of a JSON array. The text of a string is its value, the text of
 * any other element is its JSON. The text has no NUL at its end. */
struct ext_element {
	int null, is_number, is_string;
	int stays; /* 1: the text is valid until the call ends */
	int64_t number;
	const char *text;
	size_t size;
};
typedef int ext_element_fn(void *ctx, struct ext_call *call, size_t i,
			   const struct ext_element *element);
int ext_each(struct ext_call *call, enum ext_param param, ext_element_fn *fn,
	     void *ctx);

/* Read the argument `queues`, a JSON array of names or a single name. *ret has
 * a NULL at its end. Free it with ext_free_names(). */
int ext_queues(struct ext_call *call, char ***ret);
void ext_free_names(char **names);

/* ---- the functions ---- */

extern const struct ext_function ext_functions[];

#define EXT_ANSWERS(X)                                                         \
	X(enqueue)                                                             \
	X(complete)                                                            \
	X(fail)                                                                \
	X(release)                                                             \
	X(extend)                                                              \
	X(queue_create)                                                        \
	X(queue_set)                                                           \
	X(pause)                                                               \
	X(resume)                                                              \
	X(hold)                                                                \
	X(clear_hold)                                                          \
	X(drop_queue)                                                          \
	X(cancel)                                                              \
	X(retry)                                                               \
	X(change)                                                              \
	X(retry_dead)                                                          \
	X(purge)                                                               \
	X(sweep)                                                               \
	X(wait)                                                                \
	X(schedule_set)                                                        \
	X(schedule_pause)                                                      \
	X(schedule_resume)                                                     \
	X(schedule_run)                                                        \
	X(schedule_remove)                                                     \
	X(worker_start)                                                        \
	X(worker_beat)                                                         \
	X(worker_stop)
#define EXT_TABLES(X)                                                          \
	X(enqueue)                                                             \
	X(enqueue_many)                                                        \
	X(claim)                                                               \
	X(complete)                                                            \
	X(sweep)                                                               \
	X(get)                                                                 \
	X(list)                                                                \
	X(stats)                                                               \
	X(why)                                                                 \
	X(probe)                                                               \
	X(groups)                                                              \
	X(queue_list)                                                          \
	X(worker_list)                                                         \
	X(schedules)                                                           \
	X(functions)

#define EXT_DECLARE_ANSWER(name)                                               \
	int ext_do_##name(struct ext_call *call, struct rp_value *ret);
#define EXT_DECLARE_TABLE(name)                                                \
	int ext_##name##_rows(struct ext_call *call, struct ext_rows *ret);
EXT_ANSWERS(EXT_DECLARE_ANSWER)
EXT_TABLES(EXT_DECLARE_TABLE)
#undef EXT_DECLARE_ANSWER
#undef EXT_DECLARE_TABLE

/* In ext_group.c. Copy the values of the arguments hold and hold_for to the
 * verdict. */
int ext_take_hold(struct ext_call *call, rp_verdict *verdict);

/* In ext_worker.c. ext_worker_claims() finds the worker for which this call
 * claims jobs: the worker that the call names or, if it names none, the
 * connection's own worker (ext->worker). ext_worker_seen() sends a heartbeat if
 * one is due. */
int ext_worker_claims(struct ext_call *call);
int ext_worker_seen(struct ext_call *call);

/* In ext_look.c. Returns the bytes of a payload or a result as the value of a
 * column. If `bytes` is NULL, the value is null. */
struct rp_value ext_bytes(const void *bytes, size_t size);

/* The macros EXT_VALUE_... make the value of a column from a job's field. There
 * is one macro for each type in sql/params. */
static inline struct rp_value
ext_time(int64_t ms)
{
	return rp__int_or_null(ms, ms == 0);
}
#define EXT_VALUE_number(job, field) rp__int((job)->field)
#define EXT_VALUE_small EXT_VALUE_number
#define EXT_VALUE_claim EXT_VALUE_number
#define EXT_VALUE_time(job, field) ext_time((job)->field)
#define EXT_VALUE_span EXT_VALUE_time
#define EXT_VALUE_state(job, field) rp__text(rp_state_text((job)->field))
#define EXT_VALUE_text(job, field) rp__text((job)->field)
#define EXT_VALUE_json EXT_VALUE_text
#define EXT_VALUE_list EXT_VALUE_text
#define EXT_VALUE_failures EXT_VALUE_text
#define EXT_VALUE_payload(job, field)                                          \
	ext_bytes((job)->field, (job)->payload_size)
#define EXT_VALUE_result(job, field) ext_bytes((job)->field, (job)->result_size)

/* The columns of readpast_claim(), in the order of readpast.claim() on
 * PostgreSQL. A job's other fields are left out, because the caller knows them:
 * for example, the state is `running`. */
#define EXT_CLAIM_FIELDS(X)                                                    \
	X(id, ID, number)                                                      \
	X(claim_no, CLAIM_NO, claim)                                           \
	X(payload, PAYLOAD, payload)                                           \
	X(kind, KIND, text)                                                    \
	X(headers, HEADERS, json)                                              \
	X(priority, PRIORITY, small)                                           \
	X(attempt, ATTEMPT, number)                                            \
	X(max_attempts, MAX_ATTEMPTS, number)                                  \
	X(lease_until, LEASE_UNTIL, time)                                      \
	X(run_at, RUN_AT, time)                                                \
	X(created_at, CREATED_AT, time)                                        \
	X(unique_key, UNIQUE_KEY, text)                                        \
	X(last_error, LAST_ERROR, text)                                        \
	X(failures, FAILURES, failures)                                        \
	X(keep_ms, KEEP_MS, span)                                              \
	X(timeout_ms, TIMEOUT_MS, span)                                        \
	X(expire_at, EXPIRE_AT, time)                                          \
	X(backoff, BACKOFF, list)                                              \
	X(unique_for_ms, UNIQUE_FOR_MS, span)                                  \
	X(group_key, GROUP_KEY, text)                                          \
	X(progress, PROGRESS, text)                                            \
	X(queue, QUEUE, text)                                                  \
	X(suspect, SUSPECT, small)
void ext_free_batch(void *batch);
int ext_state(struct ext_call *call, int *ret);

/* ext_table.c */
int ext_table_module(sqlite3 *db, struct ext *ext,
		     const struct ext_function *function);

#endif
