/*
 * internal.h - what the files of the library share: the handle, and the calls
 * that more than one of them makes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_INTERNAL_H
#define RP_INTERNAL_H

#include <stdatomic.h>
#include <sys/types.h>

#include "db/backend.h"

/* Jobs finished since the tally was last written: see tally.c. */
struct rp_tally {
	int64_t queue_id, done, failed;
};
#define RP_TALLIES 16

struct rp_conn {
	const struct rp_database *database;
	const struct rp_backend *backend; /* its own, or a test's */
	void *db;
	pid_t pid;                       /* of the process that opened it */
	int depth;                       /* of begun transactions */
	_Atomic(const char *) owner;     /* the thread that began, or NULL */
	int in_transaction;              /* of the caller's, rp_begin() */
	int64_t worker_id;               /* 0: a client that is no worker */
	char worker[RP_MOST_WORKER + 1]; /* its name, "" if none */
	int lost_answer; /* what was claimed may be more than we know of */
	struct rp_tally tallies[RP_TALLIES];
	size_t tallies_count;
	int64_t tallied_at;       /* monotonic ms */
	int64_t swept_at;         /* likewise */
	int64_t rested_at;        /* likewise: retention, too */
	int has_unswept;          /* the last sweep stopped before its end */
	int64_t swept_for_all_at; /* when it last did so for all; 0: never */
	rp_error error;
};

/* error.c */
int rp__fail(rp_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* utf8.c */
int rp__utf8(const void *text, size_t size); /* is it? */
size_t rp__clean(char *to, size_t room, const char *text);

/* text.c */
int rp__check_name(rp_error *error, const char *what, const char *name,
		   size_t max);
struct rp_value rp__text(const char *text); /* NULL: null */
char *rp__list(const char *const *texts, char open, char close);

/* url.c */
int rp__url_parse(const char *text, struct rp_url *ret, rp_error *reterr);
void rp__url_free(struct rp_url *url);
/* db/url_text.c. Undo %XX in place: 0, or -1: not two hex digits, or a NUL. */
int rp__url_unescape(char *text);
/* NAME=VALUE&NAME=VALUE, cut up in place; NULL: none. */
typedef int rp_url_option_fn(struct rp_url *url, const char *name,
			     const char *value, rp_error *reterr);
int rp__url_options(struct rp_url *url, char *text, rp_url_option_fn *option,
		    rp_error *reterr);

/* clock.c: this process's own pace; never compared with stored times */
int64_t rp__monotonic_ms(void);
int64_t rp__monotonic_us(void);
void rp__nap_us(int64_t us); /* 0 or less: not at all */

/* transaction.c */
int rp__enter(rp_conn *conn); /* every public call: is the handle usable? */
const char *rp__thread(void); /* the one that calls; to compare */
int rp__own(rp_conn *conn);   /* let no other thread in */
void rp__disown(rp_conn *conn);
int rp__begin(rp_conn *conn, int how); /* RP_BEGIN_* */
int rp__end(rp_conn *conn, int r);     /* commit, or roll back if r < 0 */
int rp__run(rp_conn *conn, enum rp_verb verb, const struct rp_value *params,
	    size_t rows, rp_row_fn *row, void *ctx);
int rp__run_once(rp_conn *conn, enum rp_verb verb,
		 const struct rp_value *params, rp_row_fn *row, void *ctx);
/* The database's name: that of its folder in sql/. */
/* Of any handle, for SQL that is no verb: 0, RP_TIMED_OUT, or a failure that
 * rp_last_error() tells. */
int rp__query(rp_conn *conn, const struct rp_query *query);
void rp__measure(rp_conn *conn, struct rp_usage *ret);
/* See struct rp_backend. */
int rp__has_notifications(const rp_conn *conn);
int rp__hears(rp_conn *conn, rp_conn *other); /* of the same database */
int rp__is_pooled(const rp_conn *conn);
rp_row_fn rp__first_int; /* ctx: int64_t, gets the row's first column */
rp_row_fn rp__count;     /* ctx: int64_t, counts the rows */

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
void rp__batch_passed_over(rp_batch *batch);
void rp__batch_drop_payload(rp_batch *batch, const rp_job *job);
int rp__batch_is_complete(const rp_batch *batch);
int rp__batch_set_payload(rp_batch *batch, size_t i,
			  const struct rp_value *payload);
void rp__batch_drop_incomplete(rp_batch *batch);
void rp__batch_payload_total(rp_batch *batch, int64_t bytes);
void rp__batch_place(rp_batch *batch, int64_t seq);
void rp__batch_in_line(rp_batch *batch, size_t first);
void *rp__batch_alloc(rp_batch *batch, size_t size);
char *rp__batch_text(rp_batch *batch, const struct rp_value *value);

/* queue.c */
int rp__queue_known(rp_conn *conn, const char *name); /* 0, RP_ENOENT */
int rp__queue_create(rp_conn *conn, const char *name);

/* inspect.c: rp_job_list(), with the first `head` bytes of each payload */
#define RP_WHOLE_PAYLOAD INT32_MAX /* of `head`; every payload is shorter */
int rp__list_jobs(rp_conn *conn, const char *queue, int state, size_t max,
		  size_t head, rp_batch **ret);

/* verdict.c */
int rp__check_verdicts(const rp_verdict *verdicts, size_t n, rp_error *error);
int rp__is_failure(const rp_verdict *verdict);
struct rp_value rp__failure(const rp_verdict *verdict, char *text);
size_t rp__verdicts_in_order(rp_verdict **verdicts, size_t n);
int rp__refused(rp_error *error, const rp_verdict *verdict);

/* round_trip.c */
/* Settle, then claim what `trip` asks for, in a transaction: fills in the rest
 * of `trip`. How many verdicts were accepted. */
int rp__round_trip(rp_conn *conn, rp_verdict *verdicts, size_t n,
		   struct rp_round_trip *trip);

/* settle.c */
int rp__settle_unblocked(rp_conn *conn, rp_verdict *verdicts, size_t n);

/* db/added.c */
rp_row_fn rp__take_added; /* ctx: struct rp_enqueue */

/* The i-th of `n` verdicts of the caller's, whose struct may be larger. */
static inline rp_verdict *
rp__verdict_at(rp_verdict *verdicts, size_t i)
{
	return (rp_verdict *)(void *)((char *)verdicts + i * verdicts->size);
}

/* slice.c: a transaction of a call that makes several of them */
#define RP_SLICE 2000     /* rows at the most: a server locks each */
#define RP_SLICE_US 10000 /* and a commit that follows */
struct rp_slice {
	int64_t left;      /* rows it may still take; 0: there may be more */
	int64_t began;     /* monotonic us */
	int64_t worked_us; /* the last one, before its commit */
	int64_t took_us;   /* ... and with it; 0: this is the first */
};
int rp__slice_begin(rp_conn *conn, struct rp_slice *slice, int how);
int rp__slice_is_over(const struct rp_slice *slice);
int rp__slice_take(const rp_conn *conn, struct rp_slice *slice); /* RP_ROW_* */
int rp__slice_end(rp_conn *conn, struct rp_slice *slice, int r);
/* Run retry or purge for each of the ids, in slices. The verb's other
 * parameters are those of `rest`. */
int rp__each_id(rp_conn *conn, enum rp_verb verb, const int64_t *ids, size_t n,
		const struct rp_value *rest, size_t width, rp_row_fn *row,
		void *ctx);

/* worker/row.c */
/* `kinds` is a list of `queue/kind`, or `queue/` for any; NULL: no memory. */
int rp__worker_row_add(rp_conn *conn, const char *name, const char *host,
		       const char *const *queues, const char *kinds,
		       int64_t *ret_id);
/* The verb is worker_beat or worker_stop. *ret_known grows by 1 if worker_beat
 * finds the row. */
int rp__worker_row_update(rp_conn *conn, enum rp_verb verb, int64_t id,
			  const rp_worker_counts *counts, int64_t *ret_known);

/* probe.c */
/* The answer of a probe, over all its queues. */
struct rp_probe {
	int ready, running, suspects;
	int behind;                       /* no worker has swept for a second */
	int64_t due_in_ms, expires_in_ms; /* -1: never */
};
int rp__probe(rp_conn *conn, const char *const *queues, struct rp_probe *ret);
/* The earlier of two times; -1 is never. */
static inline int64_t
rp__sooner(int64_t a, int64_t b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* wait.c */
/* Probe the queues and sweep, as wait() said (RP_WAIT_*), and note in the
 * waiter when to do so again. */
int rp__waiter_probe(rp_conn *conn, struct rp_waiter *waiter, int what,
		     int unless_ready, struct rp_probe *ret);

/* sweep.c */
/* One slice of what no queue has: payloads of completed jobs, old workers and
 * tallies. In a transaction that is open, it is a part of that. */
int rp__sweep_rest(rp_conn *conn, struct rp_slice *slice);
int rp__sweep_dropped(rp_conn *conn); /* what dropped queues still have */
int rp__has_swept_lately(const rp_conn *conn);
/* Probe the queues, and sweep what is due in them, or if `what` has
 * RP_WAIT_SWEEP what is due in any; but not if a job is ready and that is all
 * the caller waits for. */
int rp__probe_and_sweep(rp_conn *conn, const char *const *queues, int what,
			int unless_ready, struct rp_probe *ret);

/* tally.c */
void rp__tally(rp_conn *conn, int64_t queue_id, int64_t done, int64_t failed);
int rp__tally_is_due(const rp_conn *conn);
int rp__tally_write(rp_conn *conn);

#endif
