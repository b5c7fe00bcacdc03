/*
 * postgres.h - the state of a connection, and the functions that the files of
 * the PostgreSQL backend share. In these comments, "we" is the library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_POSTGRES_H
#define RP_POSTGRES_H

#include "internal.h"
#include "libpq.h"
#include "db/sql.h"

/* Tables generated from sql/postgres/: the verbs, the statements that create
 * the schema, and a checksum of the schema's text. The checksum is stored in
 * the database. */
extern const struct rp_call rp__calls_postgres[RP_VERBS];
extern const char *const *const rp__schema_postgres[];
extern const char rp__build_postgres[];

/* The OIDs of the server's types. */
enum {
	OID_BOOL = 16,
	OID_BYTEA = 17,
	OID_INT8 = 20,
	OID_INT2 = 21,
	OID_INT4 = 23,
	OID_TEXT = 25,
	OID_TIMESTAMPTZ = 1184
};

#define CHANNEL 100 /* room for a channel's name, in bytes */

struct postgres {
	PGconn *pg;
	char *schema; /* the schema's name, which replaces `readpast` in the
		       * SQL */
	int attached; /* 1: the connection is the caller's */
	int is_new;   /* 1: opening this handle created the schema */
	int is_open;  /* 0: the handle is being opened, so it has not been used
		       * for a call of the caller's */
	int depth;    /* how many transactions of ours are open, one inside the
		       * other; all except the outermost are savepoints */
	/* The kind of the outermost transaction. OWN: a transaction of ours.
	 * JOINED: a savepoint in the caller's transaction. ALONE: a single
	 * statement, which needs no `begin`. */
	enum { OWN, JOINED, ALONE } base;
	int pooled;          /* 1: the connection goes through a pooler, so we
			      * use no prepared statements and no LISTEN */
	int other_level;     /* 1: the session's default isolation level is not
			      * `read committed` */
	int most_wait_ms;    /* how long a call waits for a lock; 0: no limit */
	int lost_answer;     /* 1: the answer to a call may have been lost. The
			      * next begin() reports this to its caller, and
			      * sets lost_answer to 0 */
	int leaves_host;     /* 1: the next call connects again, although the
			      * connection is not lost */
	int64_t asked_us;    /* when the last call was made (monotonic us); 0:
			      * never */
	int64_t statements;  /* statements that query() ran since the last
			      * measure() */
	int unsure;          /* 1: a commit may exist only on this server, and
			      * not on its synchronous standby */
	char *sql[RP_VERBS]; /* the SQL of the verbs with the schema's name;
			      * NULL: the verb was not used yet */
	char prepared[RP_VERBS]; /* 1: the verb's statement is prepared */
	char sign[24]; /* the handle puts this text into the names of its
			* prepared statements. If it is attached, the text is
			* different from that of other handles, which may be
			* attached to the same connection */
	/* The state of waiting:
	 * - nap_ms: length of the last pause between polls.
	 * - registered_at: when we registered as a waiter (monotonic ms); 0: we
	 *   are not registered.
	 * - deaf_at: when we sent ourselves a notification that did not arrive
	 *   (monotonic ms); 0: our last notification to ourselves arrived, or
	 *   none was sent yet.
	 * - channel: where we are notified while we are registered.
	 * - busy_turns: how many round trips have returned rows since we
	 *   registered. */
	int64_t nap_ms, registered_at, deaf_at;
	char channel[CHANNEL];
	int listening, busy_turns;
	int64_t waiter; /* id of the worker that is registered, or minus the
			 * process id of the registered session; `queues` are
			 * its queues */
	char *queues;
	int64_t version;      /* version of the queues, see struct rp_waiter */
	int is_queue_missing; /* 1: when we registered, one of the queues did
			       * not exist */
	int64_t rest_ms; /* time between two probes while we are registered; 0:
			  * we are not registered */
	/* The channel on which this session listens for the ends of jobs, or
	 * "". */
	char job_channel[CHANNEL];
};

/* backend.c */
int rp__postgres_failed(struct postgres *s, const PGresult *res,
			rp_error *error);
/* Returns 1 if a statement failed because it was prepared for tables that were
 * dropped and created again. */
int rp__postgres_is_stale(const PGresult *res);
int rp__postgres_check_sure(struct postgres *s, rp_error *error);
int rp__postgres_execute(struct postgres *s, const char *sql, rp_error *error);
int rp__postgres_begin(void *db, int how, rp_error *error);
int rp__postgres_commit(void *db, rp_error *error);
void rp__postgres_rollback(void *db);
/* Fail with `code` and the first line of a message of libpq. */
int rp__postgres_say(rp_error *error, int code, const char *text);

/* connect.c */
int rp__postgres_connect(struct postgres *s, const char *url, rp_error *error);
/* If the connection is lost, or after rp__postgres_leave_host(), make a new
 * one. */
int rp__postgres_connect_again(struct postgres *s, rp_error *error);
void rp__postgres_leave_host(void *db);
/* Find out whether there is a pooler between client and server, and which
 * isolation level is the default. If the session belongs neither to the caller
 * nor to a pooler, make `read committed` the default. */
int rp__postgres_check_session(struct postgres *s, rp_error *error);
int rp__postgres_limit_waits(void *db, int most_ms, rp_error *error);

/* wait.c */
int rp__postgres_wait(void *db, const struct rp_waiter *waiter,
		      int64_t timeout_ms, int fd, rp_error *error);
void rp__postgres_unregister(struct postgres *s);
int rp__postgres_leave(void *db, const char *const *queues);

/* job_wait.c */
int rp__postgres_wait_for_jobs(void *db, struct rp_job_waiter *waiter,
			       int64_t timeout_ms, int fd, rp_error *error);
void rp__postgres_leave_jobs(void *db, struct rp_job_waiter *waiter);

/* hear.c */
/* LISTEN on the channel, and send a notification to this session there. */
int rp__postgres_listen(struct postgres *s, const char *channel,
			rp_error *error);
/* Read all notifications, and discard those on other channels. Returns 1 if
 * there was one that rp__postgres_listen() did not send. Sets *ret_alive, which
 * may be NULL, to 1 if there was one that it sent. */
int rp__postgres_take_notices(struct postgres *s, const char *channel,
			      int *ret_alive);
int rp__postgres_hears(void *db, void *other);

/* url.c */
int rp__postgres_read_url(struct rp_url *url, const char *text,
			  rp_error *reterr);
int rp__postgres_names(const char *text);
int rp__postgres_check_name(const char *name, rp_error *reterr);

/* query.c */
int rp__postgres_query(void *db, const struct rp_query *query, rp_error *error);
void rp__postgres_measure(void *db, struct rp_usage *ret);

/* names.c */
#define RP_MOST_NAMES 32
struct rp_named {
	char *text; /* the SQL with $1, $2, ...; the caller frees it */
	size_t count;
	struct {
		const char *at; /* position in the SQL, after the : or @ */
		size_t size;
	} names[RP_MOST_NAMES];
};
/* Read the next statement of *sql, and advance *sql past it. Returns 1; 0 at
 * the end of the text; or an error. */
int rp__postgres_next_statement(const char **sql, struct rp_named *ret,
				rp_error *error);

/* run.c */
void rp__postgres_fields(const struct rp_value *composite, struct rp_value *ret,
			 size_t count);
int rp__postgres_run(void *db, enum rp_verb which,
		     const struct rp_value *params, size_t rows, rp_row_fn *fn,
		     void *ctx, rp_error *error);

/* Set s->sign to a value that no other handle has. */
void rp__postgres_sign(struct postgres *s);
/* Deallocate our prepared statements on the caller's connection. */
void rp__postgres_forget(struct postgres *s);

/* schema.c */
int rp__postgres_check_schema(struct postgres *s, int schema, rp_error *error);
int rp__postgres_schema_sql(const struct rp_url *url, rp_sql_fn *statement,
			    rp_error *reterr);
/* Returns a copy of the SQL with the schema's name in place of `readpast`; the
 * caller frees it. NULL: out of memory. */
char *rp__postgres_named(const char *schema, const char *sql);

#endif
