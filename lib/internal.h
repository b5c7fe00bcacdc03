/*
 * internal.h - the struct behind a handle, and the functions that more than one
 * file of the library calls.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A verb is an operation on the database, such as enqueueing a job; sql/params
 * lists all verbs. A sweep makes due jobs ready and ends leases that ran out. A
 * tally is the number of jobs of one queue that finished in one second.
 */
#ifndef RP_INTERNAL_H
#define RP_INTERNAL_H

#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "db/backend.h"

/* How many jobs of each queue have finished since the last write to the table
 * of tallies; see tally.c. */
struct rp_tallies {
	struct rp_tally *items;
	size_t count, room;
	int64_t written_at; /* monotonic ms; 0: never */
};

struct rp_conn {
	const struct rp_database *database;
	const struct rp_backend *backend; /* the functions for this kind of
					   * database; a test may put its own
					   * functions here */
	void *db;
	pid_t pid;                   /* the process that opened the handle */
	int depth;                   /* how many calls of rp__begin() are
				      * open, one inside the other */
	_Atomic(const char *) owner; /* the thread whose transaction is open,
				      * or NULL */
	int in_transaction;          /* 1: rp_begin() was called, and its
				      * transaction is open */
	int of_task;                 /* 1: rp_task_begin() began the
				      * transaction, so rp_commit() and
				      * rp_rollback() are refused */
	int64_t worker_id;           /* 0: the handle does not belong to a
				      * worker */
	char worker[RP_MOST_WORKER + 1]; /* the worker's name, or "" */
	int lost_answer; /* 1: the answer to a claim may have been lost. Then
			  * this worker may have leases on jobs that it never
			  * received */
	struct rp_tallies tallies;
	int64_t swept_at;         /* when this handle last swept (monotonic
				   * ms) */
	int64_t rested_at;        /* when this handle last applied retention
				   * (deleted old jobs; monotonic ms) */
	int has_unswept;          /* 1: the last sweep stopped before it had
				   * done everything */
	int64_t swept_for_all_at; /* when this handle last swept all queues for
				   * all workers (monotonic ms); 0: never */
	rp_error error;
};

/* error.c */
int rp__fail(rp_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Returns `r`, which a row callback has returned. If it is RP_ENOMEM, sets the
 * message, because most callbacks cannot. */
static inline int
rp__row_result(rp_error *error, int r)
{
	return r == RP_ENOMEM ? rp__fail(error, r, "out of memory") : r;
}

/* utf8.c */
int rp__utf8(const void *text, size_t size); /* 1 if valid UTF-8 */
size_t rp__control_size(const char *text);
size_t rp__clean(char *to, size_t room, const char *text);

/* text.c */
int rp__check_name(rp_error *error, const char *what, const char *name,
		   size_t max);
int rp__check_queue(rp_error *error, const char *name);
struct rp_value rp__text(const char *text); /* NULL becomes SQL null */
struct rp_value rp__blob(const void *bytes, size_t size);
char *rp__list(const char *const *texts, char open, char close);

/* url.c */
int rp__url_parse(const char *text, struct rp_url *ret, rp_error *reterr);
void rp__url_free(struct rp_url *url);
/* In db/url_text.c. Decode %XX in place. Returns 0, or -1 if a % is not
 * followed by two hex digits, or if the text has %00, which is NUL. */
int rp__url_unescape(char *text);
/* Write a path as a database URL has it, at most three characters for each
 * byte. Returns the end of the text. */
char *rp__url_escape(char *to, const char *path);
/* Split a text of the form NAME=VALUE&NAME=VALUE in place and call `option` for
 * each pair. `text` may be NULL. */
typedef int rp_url_option_fn(struct rp_url *url, const char *name,
			     const char *value, rp_error *reterr);
int rp__url_options(struct rp_url *url, char *text, rp_url_option_fn *option,
		    rp_error *reterr);

/* clock.c: the monotonic clock of this process, which is never compared with
 * stored times */
int64_t rp__monotonic_ms(void);
int64_t rp__monotonic_us(void);
void rp__nap_us(int64_t us); /* does not sleep if `us` is 0 or less */
/* The pause after a partial claim, in which other connections can write. */
#define RP_PARTIAL_PAUSE_US 2000
/* Each commit of another client may cause a read of the database, and commits
 * may be frequent. So after a read that took `took_us`, and found nothing, some
 * calls read nothing for the time that this function returns, which is 15 times
 * as long as the read took, but at most 50 ms. */
int64_t rp__quiet_us(int64_t took_us);

/* transaction.c */
int rp__enter(rp_conn *conn); /* checks the handle; every call that uses the
			       * database first calls this */
const char *rp__thread(void); /* identifies the calling thread */
int rp__own(rp_conn *conn);   /* keeps other threads from using the handle until
			       * rp__disown() */
void rp__disown(rp_conn *conn);
/* Returns 1 if a transaction is open that the caller of the library ends. */
int rp__stays_open(rp_conn *conn);
int rp__begin(rp_conn *conn, int how); /* RP_BEGIN_* */
int rp__end(rp_conn *conn, int r);     /* commit, or roll back if r < 0 */
int rp__run(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
	    size_t rows, rp_row_fn *row, void *ctx);
int rp__run_once(rp_conn *conn, enum rp_verb verb,
		 const struct rp_value *params, rp_row_fn *row, void *ctx);
/* The same for a verb that only reads. On SQLite it does not wait for the write
 * lock. */
int rp__read_once(rp_conn *conn, enum rp_verb verb,
		  const struct rp_value *params, size_t rows, rp_row_fn *row,
		  void *ctx);
/* Run SQL that is not a verb. Returns 0, RP_TIMED_OUT, or an error whose
 * message is in rp_last_error(). */
int rp__query(rp_conn *conn, const struct rp_query *query);
void rp__measure(rp_conn *conn, struct rp_usage *ret);
/* Call `statement` with each SQL statement that rp_open() would run to create
 * the schema in this kind of database. Does not connect. */
int rp__schema_sql(const char *url, rp_sql_fn *statement, rp_error *reterr);
/* Each of these returns 0 or 1. rp__has_notifications(): does the database have
 * notifications? rp__hears(): does a notification that `other` sends arrive at
 * `conn`? rp__is_pooled(): does the connection go through a pooler? See hears()
 * and is_pooled() in struct rp_backend. */
int rp__has_notifications(const rp_conn *conn);
int rp__hears(rp_conn *conn, rp_conn *other);
int rp__is_pooled(const rp_conn *conn);
/* See is_replaced() in struct rp_backend. Returns 0 if the database is no file.
 */
int rp__is_replaced(const rp_conn *conn);
/* If the database has several writers, wait at most `most_ms` from now on when
 * another transaction has locked a row. A call that needs the row then fails
 * with RP_EBUSY. RP_LOCK_WAIT_MS is long enough for a single statement of
 * another client, and short compared to a lease. */
#define RP_LOCK_WAIT_MS 100
int rp__limit_waits(rp_conn *conn, int most_ms, rp_error *reterr);
rp_row_fn rp__first_int; /* ctx: int64_t *, set to the first column */
rp_row_fn rp__count;     /* ctx: int64_t *, incremented for each row */

static inline struct rp_value
rp__int(int64_t i)
{
	return (struct rp_value){ .type = RP_INT, .i = i };
}

static inline struct rp_value
rp__int_or_null(int64_t i, int null)
{
	return (struct rp_value){ .type = null ? RP_NULL : RP_INT, .i = i };
}

/* batch.c */
int rp__batch_new(rp_batch **ret);
int rp__batch_add(rp_batch *batch, const struct rp_value *columns, int suspect);
rp_row_fn rp__batch_add_row; /* ctx: rp_batch *, to which the job is added */
void rp__batch_passed_over(rp_batch *batch);
void rp__batch_drop_payload(rp_batch *batch, const rp_job *job);
int rp__batch_is_complete(const rp_batch *batch);
int rp__batch_set_payload(rp_batch *batch, size_t i,
			  const struct rp_value *payload);
int rp__batch_set_extra(rp_batch *batch, size_t i,
			const struct rp_value *columns);
void rp__batch_drop_incomplete(rp_batch *batch);
void rp__batch_set_partial(rp_batch *batch);
void rp__batch_payload_total(rp_batch *batch, int64_t bytes);
void rp__batch_place(rp_batch *batch, int64_t lane, int64_t seq);
void rp__batch_in_line(rp_batch *batch, size_t first);
void *rp__batch_alloc(rp_batch *batch, size_t size);
int rp__batch_text(rp_batch *batch, const char **to,
		   const struct rp_value *value);
int rp__batch_value(rp_batch *batch, struct rp_value *to,
		    const struct rp_value *value);

/* items.c: a list that a call returns, such as struct rp_queues. It begins as
 * zeros. A row callback adds an item, sets its members, and returns
 * rp__items_added(). */
struct rp_items {
	void *list; /* an array of items of one type */
	size_t count, room;
	rp_batch *texts; /* owns the texts of the items; it has no jobs */
	int has_failed;  /* 1: memory ran out for a text */
};
/* Append a zeroed item of `size` bytes. NULL: out of memory. */
void *rp__items_add(struct rp_items *items, size_t size);
/* Copy the text or the bytes of a column, and append a NUL. Returns NULL if the
 * column is null, or if memory ran out, which rp__items_added() reports. */
const char *rp__items_text(struct rp_items *items,
			   const struct rp_value *column);
int rp__items_added(const struct rp_items *items); /* RP_ROW_TAKE or
						    * RP_ENOMEM */
/* Returns the i-th item, or NULL if there are not so many. */
const void *rp__items_at(const struct rp_items *items, size_t i, size_t size);
void rp__items_clear(struct rp_items *items);

/* In change.c. Change jobs by id, in slices. A job is skipped if it no longer
 * has the given kind or state. kind: NULL for any; state: 0 for any, but a
 * purge must name a state. The counts are added to *changed. */
struct rp_changed {
	int64_t done;
	int64_t taken; /* jobs not retried, because a live job has the unique
			* key */
	int64_t large; /* jobs not changed, because the payload is too large for
			* the new queue */
	int64_t late;  /* jobs not changed, because they would expire before
			* they are due */
};
typedef int rp_change_fn(rp_conn *conn, const int64_t *ids, size_t n, int state,
			 const char *kind, struct rp_changed *changed);
rp_change_fn rp__jobs_cancel, rp__jobs_retry, rp__jobs_purge;
/* Change jobs by id as rp_job_change() does, in slices. RP_ENOENT: the new
 * queue does not exist. */
int rp__jobs_change(rp_conn *conn, const int64_t *ids, size_t n, int state,
		    const rp_change *change, struct rp_changed *changed);
/* Set how long the given jobs are kept after their end. Only jobs that are done
 * are changed. */
int rp__jobs_keep(rp_conn *conn, const int64_t *ids, size_t n, int64_t keep_ms);

/* ids.c */
int rp__last_id(rp_conn *conn, int64_t *ret);   /* the last id that was given to
						 * a job */
int rp__no_such_job(rp_conn *conn, int64_t id); /* fails with RP_ENOENT and
						 * the reason */

/* token.c: tokens of the HTTP server. `hash` is the SHA-256 of a token,
 * `scopes` a JSON array. RP_ETAKEN: another token has this name. RP_ENOENT: no
 * token has this name. */
struct rp_token {
	const char *name, *key, *scopes;
	const void *hash;
	size_t hash_size;
	int64_t created_at;
};

/* Called for each token; returns 0, or a negative number if memory ran out. */
typedef int rp_token_fn(void *ctx, const struct rp_token *token);
int rp__token_add(rp_conn *conn, const char *name, const char *key,
		  const void *hash, size_t size, const char *scopes);
int rp__token_remove(rp_conn *conn, const char *name);
int rp__token_list(rp_conn *conn, rp_token_fn *token, void *ctx);

/* An answer of the HTTP server to a request with an idempotency key. It is
 * stored, so that a repeated request gets the same answer. The caller sets
 * `hash` and `size`, and frees `text`. */
struct rp_answer {
	const void *hash; /* hash of the request */
	size_t size;
	int is_found, is_same; /* is_same: the stored request had the same
				* hash */
	char *text;
};
int rp__answer_get(rp_conn *conn, const char *name, struct rp_answer *ret);
/* RP_EBUSY: an answer with this name is stored already. */
int rp__answer_put(rp_conn *conn, const char *name, const void *hash,
		   size_t size, const char *text);
/* Deletes old answers. Returns 1 if there may be more of them, or 0. */
int rp__answers_forget(rp_conn *conn);

/* pattern.c: a pattern for names. * stands for any characters, ? for one
 * character. With a backslash before them, *, ? and \ stand for themselves. */
int rp__pattern_matches(const char *pattern, const char *name);
/* Returns 1 if the word has a * or ? without a backslash before it. */
int rp__is_pattern(const char *word);
/* Turn a word that is not a pattern into a name, in place: remove each
 * backslash that escapes a character. A word without * and ? is a name already,
 * and keeps its backslashes. */
void rp__pattern_unescape(char *word);
/* Write to `to` the word with which workers serve the queue of this name, and
 * return `to`. This is the name itself, or if the name has a * or a ?, the name
 * with backslashes. `room`: RP_PATTERN(bytes of the name). */
#define RP_PATTERN(bytes) (2 * (bytes) + 1)
const char *rp__pattern_escape(char *to, size_t room, const char *name);

/* queue.c */
int rp__queue_known(rp_conn *conn, const char *name); /* 0 or RP_ENOENT */
/* Create the queue unless it exists. ret_new: NULL, or 1 is stored if the queue
 * is new, else 0. */
int rp__queue_create(rp_conn *conn, const char *name, int64_t *ret_new);
/* Fail with RP_ENOENT, because there is no queue of this name. If the name is a
 * pattern, the message says that only workers take patterns. */
int rp__no_such_queue(rp_conn *conn, const char *name);

/* group.c */
/* Returns RP_HOLD_GROUP for "group", RP_HOLD_QUEUE for "queue", or 0. */
int rp__hold_number(const char *word);
int rp__hold_for_verdict(rp_conn *conn, const rp_verdict *verdict);

/* Returns 1 if this is the state of a job that has ended. */
static inline int
rp__is_finished(int state)
{
	return state >= RP_STATE_DONE && state <= RP_STATE_CANCELLED;
}

/* inspect.c: like rp_job_list(), but read up to `head` bytes of each payload
 * instead of up to RP_LIST_PAYLOAD bytes. With RP_WHOLE_PAYLOAD as `head`, read
 * the whole payload. `state` may include RP_LIST_ALL. */
#define RP_WHOLE_PAYLOAD INT32_MAX
int rp__list_jobs(rp_conn *conn, const char *queue, int state, size_t max,
		  size_t head, rp_batch **ret);
/* In inspect.c. Call name() with the index of each verdict whose job is live,
 * and with the job's queue, in any order. */
typedef void rp_name_fn(void *ctx, size_t i, const char *name);
int rp__live_queues(rp_conn *conn, const rp_verdict *verdicts, size_t n,
		    rp_name_fn *name, void *ctx);

/* verdict.c */
int rp__check_verdicts(const rp_verdict *verdicts, size_t n, rp_error *error);
int rp__verdict_hold(const rp_verdict *verdict);
int rp__is_failure(const rp_verdict *verdict);
struct rp_value rp__failure(const rp_verdict *verdict, char *text);
struct rp_value rp__result(const rp_verdict *verdict);
struct rp_value rp__progress(const rp_verdict *verdict);
int rp__check_result(rp_error *error, size_t size);
int rp__check_progress(rp_error *error, const char *text);
size_t rp__verdicts_in_order(rp_verdict **verdicts, size_t n);
int rp__refused(rp_error *error, const rp_verdict *verdict);

/* round_trip.c */
/* Settle and then claim as `trip` describes, in one transaction. Sets the
 * results in `trip` and returns the number of accepted verdicts. */
int rp__round_trip(rp_conn *conn, rp_verdict *verdicts, size_t n,
		   struct rp_round_trip *trip);

/* settle.c */
int rp__settle_unlocked(rp_conn *conn, rp_verdict *verdicts, size_t n);

/* db/added.c */
rp_row_fn rp__take_added; /* ctx: struct rp_enqueue */

/* Copy a struct from the caller, or to the caller. The caller may have been
 * compiled with another readpast.h, in which the struct has fewer or more
 * members. So only those are copied that both have: `size` is the caller's size
 * of the struct, `ours` is the library's. */
static inline void
rp__copy_struct(void *to, const void *from, size_t size, size_t ours)
{
	memcpy(to, from, size < ours ? size : ours);
}

/* Returns the i-th verdict of a caller's array. The caller may have been
 * compiled with a newer readpast.h, whose struct is larger. So the distance
 * between two elements is their `size`. */
static inline rp_verdict *
rp__verdict_at(rp_verdict *verdicts, size_t i)
{
	return (rp_verdict *)(void *)((char *)verdicts + i * verdicts->size);
}

/* Returns a verdict on a claim, with the default values of all other members.
 */
static inline rp_verdict
rp__verdict(int64_t id, int64_t claim_no, int verdict)
{
	rp_verdict v = RP_VERDICT_INIT;

	v.id = id;
	v.claim_no = claim_no;
	v.verdict = verdict;
	return v;
}

/* slice.c: a call that changes many jobs makes several short transactions,
 * which are called slices. */
/* The largest number of rows in a slice. The number is limited because a server
 * locks each of these rows. */
#define RP_SLICE 2000
#define RP_SLICE_US 10000 /* longest slice in us, without its commit */
struct rp_slice {
	int64_t left;      /* how many more rows this slice may change; 0: the
			    * slice ends, and the next slice changes the other
			    * rows */
	int64_t began;     /* when the slice began (monotonic us) */
	int64_t worked_us; /* duration of the last slice without its commit */
	int64_t took_us;   /* duration of the last slice with its commit; 0:
			    * this is the first slice */
};
int rp__slice_begin(rp_conn *conn, struct rp_slice *slice, int how);
int rp__slice_is_over(const struct rp_slice *slice);
int rp__slice_take(const rp_conn *conn, struct rp_slice *slice); /* returns
								  * RP_ROW_* */
int rp__slice_end(rp_conn *conn, struct rp_slice *slice, int r);
/* Run the verb `cancel`, `retry`, `purge`, `keep` or `change` for each id, in
 * as many slices (transactions) as needed. rest, width: the values of all
 * parameters of the verb, and their number. The id in `rest` is not used. ctx,
 * ctx_size: what `row` counts, at most EACH_MOST_CTX bytes. If a slice is
 * rolled back, what it has counted is taken back, too. */
#define EACH_MOST_CTX 64
int rp__each_id(rp_conn *conn, enum rp_verb verb, const int64_t *ids, size_t n,
		const struct rp_value *rest, size_t width, rp_row_fn *row,
		void *ctx, size_t ctx_size);

/* worker/row.c */
/* Returns a JSON list of the kinds `QUEUE/`: all kinds of these queues. The
 * caller frees it. NULL: out of memory. */
char *rp__all_kinds(const char *const *queues);
/* Add a row for a worker to the table of workers. kinds: a JSON list of
 * `queue/kind`, or `queue/` for all kinds. If `kinds` is NULL, the caller ran
 * out of memory, and the call fails with RP_ENOMEM. */
int rp__worker_row_add(rp_conn *conn, const char *name, const char *host,
		       const char *const *queues, const char *kinds,
		       int64_t *ret_id);
/* Write a heartbeat (`verb` is `worker_beat`), or the end of the worker
 * (`worker_stop`). With `worker_beat`, 1 is added to *ret_known if the worker's
 * row exists. */
int rp__worker_row_update(rp_conn *conn, enum rp_verb verb, int64_t id,
			  const rp_worker_counts *counts, int64_t *ret_known);
/* Change the queues and kinds of a worker's row. */
int rp__worker_row_queues(rp_conn *conn, int64_t id, const char *const *queues,
			  const char *kinds);

/* probe.c */
/* The result of a probe, which reads whether any of the given queues has
 * work. */
struct rp_probe {
	int ready, running, suspects;
	int blocked; /* 1: a job is blocked by a limit or a rate, and not only
		      * by a hold */
	int behind;  /* 1: the caller must sweep all queues itself. On SQLite it
		      * is always 1, on a server it is 1 if no worker has swept
		      * within the last second */
	int64_t due_in_ms, expires_in_ms; /* times until the next job is due,
					   * and until the next lease ends; -1:
					   * no such job */
};
int rp__probe(rp_conn *conn, const char *const *queues, struct rp_probe *ret);
/* Returns the earlier of two times; -1 means never. */
static inline int64_t
rp__sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* wait.c */
/* Probe the queues and sweep. what: flags RP_WAIT_*, as returned by the wait()
 * of the backend. Sets the time of the next probe in the waiter. If
 * `unless_ready` is 1 and the probe finds a ready job, do not sweep. */
int rp__waiter_probe(rp_conn *conn, struct rp_waiter *waiter, int what,
		     int unless_ready, struct rp_probe *ret);
/* Like rp_wait(), for a caller that waits again and again. Probes at first only
 * if `what` has flags RP_WAIT_*. If waiter->is_session is 1, the connection
 * stays registered for notifications between the calls, until rp__wait_end().
 */
int rp__wait(rp_conn *conn, struct rp_waiter *waiter, int what,
	     int64_t timeout_ms, int fd);
/* End the registration for these queues. If `pass_on` is 1, or if a
 * notification arrived that rp__wait() has not reported, the job may be for
 * another client: then the clients that wait for ready jobs are notified.
 * Returns 1 in this case, else 0, or an error. */
int rp__wait_end(rp_conn *conn, const char *const *queues, int pass_on);

/* job_wait.c */
/* The job that the calling thread is handling. A handler that waits for its own
 * job would wait forever. The handler may use a connection (rp_conn) that it
 * has opened itself, which does not know the job. Only this struct knows the
 * job, so that the wait can be refused. */
struct rp_handling {
	int64_t id, claim_no;
	const char *queue;
	/* Returns 1 if the worker that handles the job serves `queue`. NULL if
	 * this worker has more than one thread: then another thread can run the
	 * jobs for which this thread waits. */
	int (*serves)(const void *ctx, const char *queue);
	const void *ctx; /* the first argument of serves() */
};
/* Set the job that the calling thread handles. NULL: the thread handles no job.
 * The library keeps the pointer until the thread calls this function again, so
 * the struct must stay valid. */
void rp__set_handling(const struct rp_handling *handling);
/* Call this before a wait for one job of the queue (`until_empty` is 0), or for
 * all jobs of the queue (1). If the calling thread is a handler whose own job
 * must end first, the wait would never end, and RP_EINVAL is returned. */
int rp__check_wait_for_queue(rp_conn *conn, const char *queue, int until_empty);

/* sweep.c */
/* Run one slice of the verb `sweep_rest`. On SQLite it deletes rows that are no
 * longer needed: payloads of completed jobs, and if `payloads_only` is 0, also
 * rows of old workers, old tallies and unique keys whose time is over. On
 * PostgreSQL it moves the jobs that were enqueued in a queue while it was
 * dropped, admits jobs of groups, and notifies waiters. If a transaction is
 * open, this happens in that transaction. */
int rp__sweep_rest(rp_conn *conn, struct rp_slice *slice, int payloads_only);
int rp__sweep_dropped(rp_conn *conn); /* delete the jobs of dropped queues */
/* Drop a queue. If `delete_jobs` is 0, the next sweeps delete its jobs. */
int rp__queue_drop(rp_conn *conn, const char *name, int delete_jobs);
/* Sweep all queues like rp_sweep(), but stop after a fifth of a second. If
 * there is more to sweep, returns the time in ms after which to continue; else
 * 0. */
int rp__sweep_some(rp_conn *conn);
int rp__has_swept_lately(const rp_conn *conn);
/* Probe the queues: read whether they have work. Then sweep if a job is due or
 * a lease is over in these queues, or if `what` has RP_WAIT_SWEEP and no sweep
 * was made lately. If `unless_ready` is 1 and the probe finds a ready job, do
 * not sweep. */
int rp__probe_and_sweep(rp_conn *conn, const char *const *queues, int what,
			int unless_ready, struct rp_probe *ret);

/* tally.c */
void rp__tally(rp_conn *conn, int64_t queue_id, int64_t done, int64_t failed);
int64_t rp__tally_due_in(const rp_conn *conn);
void rp__tally_end(rp_conn *conn, int is_committed);
void rp__tally_move(struct rp_tallies *from, struct rp_tallies *to);
size_t rp__tally_take(rp_conn *conn, int all, struct rp_value *rows);

/* tally_write.c */
int rp__tally_write(rp_conn *conn);
int rp__tally_write_if_due(rp_conn *conn);
int rp__tally_write_open(rp_conn *conn);

#endif
