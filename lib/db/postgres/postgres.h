/*
 * postgres.h - what the files of the PostgreSQL backend share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_POSTGRES_H
#define RP_POSTGRES_H

#include "internal.h"
#include "libpq.h"
#include "db/sql.h"

/* Made of sql/postgres/: the verbs; the steps of the schema, and the number of
 * their text, which a database notes. */
extern const struct rp_call rp__calls_postgres[RP_VERBS];
extern const char *const *const rp__schema_postgres[];
extern const char rp__build_postgres[];

#define CHANNEL 100 /* bytes of a channel's name */

/* Long enough for what others do in one statement, and short beside a lease. */
#define RP_LIMIT "lock_timeout = '100ms'"

struct postgres {
	PGconn *pg;
	char *schema; /* its name, where the SQL says `readpast` */
	int attached; /* the connection is the caller's */
	int depth;    /* of our transactions: savepoints from the second on */
	/* What the first of them is: begun by us, a savepoint of the caller's,
	 * or nothing but the one statement that it is about. */
	enum { OWN, JOINED, ALONE } base;
	int pooled;          /* nothing is prepared, nobody listens */
	int other_level;     /* `read committed` is not the session's default */
	int limits_waits;    /* a call fails rather than wait for a lock */
	int lost_answer;     /* ... to a claim, as it may be: see begin() */
	int64_t asked_us;    /* when we asked last, monotonic; 0: never */
	int64_t statements;  /* of query(), since measure() was asked last */
	int unsure;          /* a commit may not be where it was to be */
	char *sql[RP_VERBS]; /* with the schema's name; NULL: not used yet */
	char prepared[RP_VERBS];
	char sign[24]; /* in the names of statements prepared for this handle:
			  several may share a connection. "": it has its own */
	/* Waiting: how long the last nap was; when we were registered as a
	 * waiter (monotonic, 0: we are not), and the channel on which we are
	 * notified; when we did not hear ourselves there; how many settlements
	 * had work since. */
	int64_t nap_ms, registered_at, deaf_at;
	char channel[CHANNEL];
	int listening, busy_turns;
	int64_t waiter; /* the worker's id, and its queues */
	char *queues;
	int64_t rest_ms; /* a registered waiter need not poll for so long */
};

/* backend.c */
int rp__postgres_failed(struct postgres *s, const PGresult *res,
			rp_error *error);
int rp__postgres_check_sure(struct postgres *s, rp_error *error);
int rp__postgres_execute(struct postgres *s, const char *sql, rp_error *error);
int rp__postgres_begin(void *db, int how, rp_error *error);
int rp__postgres_commit(void *db, rp_error *error);
void rp__postgres_rollback(void *db);
/* Fail with the first line of libpq's words. */
int rp__postgres_say(rp_error *error, int code, const char *text);

/* connect.c */
int rp__postgres_connect(struct postgres *s, const char *url, rp_error *error);
/* If the connection is lost, make it anew. */
int rp__postgres_connect_again(struct postgres *s, rp_error *error);
/* What kind of session is it? One that is ours becomes read committed. */
int rp__postgres_look_at_session(struct postgres *s, rp_error *error);
int rp__postgres_limit_waits(void *db, rp_error *error);

/* wait.c */
int rp__postgres_wait(void *db, const struct rp_waiter *waiter,
		      int64_t timeout_ms, int fd, rp_error *error);
void rp__postgres_unregister(struct postgres *s);

/* hear.c */
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
	char *text; /* with $1, $2, ... ; to be freed */
	size_t count;
	struct {
		const char *at; /* in the SQL, without its : or @ */
		size_t size;
	} names[RP_MOST_NAMES];
};
/* Take the next statement off *sql, which then points behind it. 1; 0 at the
 * end of the text; or a failure. */
int rp__postgres_next_statement(const char **sql, struct rp_named *ret,
				rp_error *error);

/* run.c */
int rp__postgres_run(void *db, enum rp_verb which,
		     const struct rp_value *params, size_t rows, rp_row_fn *fn,
		     void *ctx, rp_error *error);

/* Choose a sign of its own. */
void rp__postgres_sign(struct postgres *s);
/* Take the prepared statements off the caller's connection. */
void rp__postgres_forget(struct postgres *s);

/* schema.c */
int rp__postgres_check_schema(struct postgres *s, int schema, rp_error *error);
/* SQL with the schema's name for `readpast`; to be freed. NULL: no memory. */
char *rp__postgres_named(const struct postgres *s, const char *sql);

#endif
