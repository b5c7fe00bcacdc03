/*
 * serve.h - the HTTP server of `readpast serve`: the types that its files
 * share.
 *
 * One thread, the loop, handles the connections, and never waits for the
 * database. A few threads, each with a handle of its own, work on the database.
 * Only one thread at a time uses a request. Usually this is the loop. While the
 * request's connection is suspended, it is the thread that has taken the
 * request from a list.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef SERVE_H
#define SERVE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "cmd.h"
#include "mhd.h"
#include "tokens.h"

/* Bytes of memory that libmicrohttpd reserves for each connection. The headers
 * of a request must fit into it. */
#define CONNECTION_BYTES 8192
#define MOST_JOBS 1000     /* jobs in one request */
#define MOST_WAIT_MS 60000 /* longest wait that a request may ask for */
#define MOST_SEGMENTS 6    /* parts of a path */
#define MOST_PARAMETERS 16 /* parameters of a query */
#define MOST_QUEUES 100    /* queues in one claim */
#define MOST_HOST 255      /* bytes of the name in a header Host */
#define MOST_LISTENERS 16  /* addresses to listen on */
#define READERS 3          /* threads for requests that are not batched */
#define ID_TEXT 24         /* bytes for a number as text, with its NUL byte */

struct options {
	const char *url;
	struct texts listen, hosts;
	const char *prefix; /* "" or a path such as "/queue" */
	const char *cert, *key;
	const char *log; /* file of the access log; NULL: no log is written */
	int tokens, insecure, read_only, hide_payloads;
	int64_t most_body, most_connections, time_ms;
};

struct request;
struct server;

/* A list of requests, first in, first out. */
struct list {
	struct request *first, *last;
	size_t count;
};
void list_add(struct list *list, struct request *request);
struct request *list_take(struct list *list); /* NULL: the list is empty */
/* Remove the request from the list. Returns 1, or 0 if the list does not have
 * the request. */
int list_remove(struct list *list, struct request *request);

/* ---- requests ---- */

struct parameter {
	const char *name, *value;
};

struct answer {
	int status;
	const char *type; /* the content type */
	char *bytes;      /* owned by the answer, unless is_static is 1 */
	size_t size;
	int is_static;
	int is_gzip;
	/* The values of the following headers. 0, NULL or "": the answer does
	 * not have the header. The answer owns `cookie`. */
	int retry_after_s;    /* Retry-After */
	const char *location; /* Location, for a redirect */
	const char *etag;     /* ETag */
	char *cookie;         /* Set-Cookie */
	char allow[40];       /* Allow: the methods, for status 405 */
	const char *policy;   /* Content-Security-Policy */
};

/* The stage says what a request waits for, or what is being done with it. */
enum stage {
	STAGE_READ,  /* the loop reads the request's headers and body */
	STAGE_TOKEN, /* a thread of the pool reads the list of tokens again */
	STAGE_PREPARED, /* a thread of the pool has checked a large body */
	STAGE_ASKED,   /* a thread of the pool runs the request, or soon will */
	STAGE_POLL,    /* the request's claim waits for a job */
	STAGE_OUTCOME, /* the request waits until a job has ended */
	STAGE_EVENTS,  /* the answer is a stream of events */
	STAGE_ANSWER   /* the answer is ready */
};

/* A claim that an answer contains. If the answer cannot be sent, the claim is
 * released. */
struct answered_claim {
	int64_t id, claim_no;
};

struct route;
struct writes;

struct request {
	struct server *server;
	struct MHD_Connection *connection; /* NULL: the server's own request */
	struct connection *client;         /* may be NULL, if memory ran out */
	struct request *next; /* the next request in the same list */
	int fd;               /* the connection's socket */
	int64_t number;
	int64_t began_us; /* when the request line was read (monotonic us) */
	enum stage stage;
	int is_checked;   /* 1: the headers were checked */
	int is_suspended; /* 1: the connection is suspended, or soon will be */
	struct request *next_to_suspend; /* see server_suspend_soon() */
	int is_closed; /* 1: the client has closed the connection */

	char *target;  /* as the client sent it: path and query, or the
			* absolute form, with scheme and authority before them
			* (RFC 9112, 3.2.2) */
	char *decoded; /* the text into which segments and parameters point */
	const char *method;
	const struct route *route;
	void (*run)(struct request *request, rp_conn *conn);
	/* Only for a request that the server itself made. The loop calls this
	 * function when the request is done. NULL: there is nothing to call. */
	void (*back)(struct request *request);
	const char *segments[MOST_SEGMENTS];
	size_t depth;
	struct parameter parameters[MOST_PARAMETERS];
	size_t parameters_count;
	struct token *token;  /* NULL: the request has no token, or needs
			       * none */
	int is_token_unknown; /* 1: the token's key is not in the list of
			       * tokens, so read the list again */

	char *body; /* followed by a NUL byte */
	size_t body_size, body_room;
	json_t *json;
	struct writes *writes; /* what the request writes; NULL: nothing */
	const char *worker;    /* the name that a claimer gives itself, or
				* NULL */
	int64_t limit;         /* most items in a page of a list */
	int is_dry;            /* 1: a dry run, which only answers what would be
				* changed */
	int64_t id;            /* the job that the path names */
	int may_read_job;      /* 1: before the request waited for the end of
				* this job, the token was allowed to read it */
	int ended_state;       /* how the job that the request waited for ended,
				* or 0 */
	int64_t until_ms;      /* when the request's wait ends (monotonic ms) */
	int64_t heard_at;      /* for a claim that waits, with the name of a
				* worker: when it was last tried (monotonic ms) */
	int64_t wait_ms;       /* how long the request may wait; 0: it may not
				* wait */
	int is_counted;        /* 1: the request is counted in struct awaited */
	struct awaited *wave;  /* the queue from which the request claims as a
				* part of a wave (see poll.c), or NULL */
	struct answered_claim *claims; /* the claims that the answer contains */
	size_t claims_count;
	struct answer answer;
	struct stream *stream; /* for STAGE_EVENTS; else NULL */
};

/* ---- routes ---- */

/* Which thread calls a route's run(). */
enum thread {
	THREAD_LOOP,   /* the loop; run() does not use the database */
	THREAD_READER, /* one of the pool's readers */
	THREAD_WRITER  /* there is no run(): the pool's writer joins the writes
			* of many requests */
};

struct route {
	const char *method, *path; /* a * in the path stands for any segment */
	enum thread thread;
	enum may may; /* the permission that the token must give */
	/* 1: the third segment of the path is a queue, and the token must give
	 * the permission `may` for this queue */
	int names_queue;
	/* Checks the input. The loop calls this function, or a reader if the
	 * body is large. Returns 0, or -1 after answering the request. NULL:
	 * there is no input to check. */
	int (*prepare)(struct request *request);
	/* Does the work and answers. NULL for THREAD_WRITER: the pool's writer
	 * does what request->writes says, and writes->finish() answers. */
	void (*run)(struct request *request, rp_conn *conn);
};
/* Find the request's route. Returns 0, or -1 after answering. */
int route_find(struct request *request);
extern const struct route routes[]; /* ended by a NULL method */

/* head.c: check the request line and the headers. *ret_has_body is set in any
 * case. Returns 0, or -1 after answering; then close the connection. */
int head_check(struct request *request, int *ret_has_body);
/* Returns the value of a header, or NULL if the request does not have it. */
const char *head_value(const struct request *request, const char *name);

/* target.c: split the target into decoded segments and parameters. Returns 0,
 * or -1 after answering. */
int target_parse(struct request *request);
/* Returns what follows http:// or https:// in a URL, or NULL if the text begins
 * with neither. */
const char *after_scheme(const char *url);
/* Returns the authority in a target of the absolute form, which is not followed
 * by a NUL byte, or NULL if the target has another form. */
const char *target_authority(const struct request *request, size_t *ret_size);
/* Returns the value of a parameter of the query, or NULL if the query does not
 * have it. */
const char *parameter(const struct request *request, const char *name);
/* Check that the query has only parameters that `names` lists. A NULL ends
 * `names`. Returns 0, or -1 after answering. */
int check_parameters(struct request *request, const char *const *names);

/* guard.c: check the headers Host and Origin, and the token. Returns 0, or -1
 * after answering. */
int guard_check(struct request *request);
/* Check that the request's token was not removed while the request waited.
 * Returns 0, or -1 after answering. */
int guard_again(struct request *request);
/* Check that the route's method and the request's token are allowed. Returns 0,
 * or -1 after answering. */
int guard_route(struct request *request);
/* Answer that the token does not allow the request. Returns -1. */
int refuse_scope(struct request *request);
/* Check that the token gives the right `may` for the queue, or for all queues
 * if `queue` is NULL. Returns 0, or -1 after answering. */
int guard_queue(struct request *request, enum may may, const char *queue);
/* Check that a parameter of the query is the name of a queue, and that the
 * token may read this queue. Returns 0, or -1 after answering. */
int guard_named_queue(struct request *request, const char *parameter,
		      const char *queue);
/* Returns whether only this machine can connect to the address. */
int is_loopback(const struct sockaddr *address);
/* Returns the text of the token that the request contains, or NULL. */
const char *guard_token_text(const struct request *request);
/* Returns a value for the header Set-Cookie. The header makes the browser keep
 * this token or, if `token` is NULL, forget its token. The caller frees the
 * value. NULL: out of memory. */
char *guard_cookie(const struct request *request, const char *token);
/* Returns whether the token gives the right `may` for a queue. queue: NULL for
 * all queues. Without --tokens, everything is allowed. */
int may(const struct request *request, enum may may, const char *queue);

/* answer.c */
void answer_json(struct request *request, int status, json_t *object);
/* Answer with bytes, which the answer then owns. If `bytes` is NULL, answer
 * that memory ran out. */
void answer_bytes(struct request *request, int status, const char *type,
		  char *bytes, size_t size);
/* Answer with a text and a newline. The answer then owns the text. */
void answer_text(struct request *request, int status, const char *type,
		 char *text);
/* Answer with an error. `code` is RP_E*, `field` is the wrong field or NULL.
 * Returns -1. */
int refuse(struct request *request, int code, const char *field,
	   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Answer that memory ran out. Returns -1. */
int refuse_memory(struct request *request);
/* Answer that the client has closed its side of the connection. Returns -1. */
int refuse_gone(struct request *request);
/* Answer with an error for which the library has no code. Returns -1. */
int refuse_status(struct request *request, int status, const char *type,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Answer with the error of a call of the library. Returns -1. */
int refuse_error(struct request *request, int code, const rp_error *error);
/* Returns whether a call failed because another transaction has locked a row
 * for too long (see rp__limit_waits()). Then nothing was done. */
int is_lock_timeout(int code, const rp_error *error);
/* Like refuse_error(), for a call in a transaction that was rolled back. So the
 * call has certainly had no effect. `field` names the wrong field; NULL: it is
 * not known. */
int refuse_undone(struct request *request, int code, const rp_error *error,
		  const char *field);
/* Like refuse_error(), for a call that may have changed up to `most` jobs
 * before it failed. */
int refuse_partly(struct request *request, int code, const rp_error *error,
		  int64_t most);
void answer_clear(struct answer *answer);

/* request.c: the callbacks of libmicrohttpd */
struct request *request_new(struct server *server);
void request_free(struct request *request);
enum MHD_Result request_handle(void *ctx, struct MHD_Connection *connection,
			       const char *url, const char *method,
			       const char *version, const char *data,
			       size_t *size, void **state);
void *request_begin(void *ctx, const char *target,
		    struct MHD_Connection *connection);
void request_end(void *ctx, struct MHD_Connection *connection, void **state,
		 enum MHD_RequestTerminationCode how);
/* Returns whether the client has closed the connection. */
int request_is_gone(struct request *request);

/* ---- the rest of the server ---- */

/* pool.c: the threads that use the database */
#define THREADS (1 + READERS)
struct member_of_pool {
	struct server *server;
	rp_conn *conn;
	pthread_t thread;
	int runs;
	int waits; /* for `given`, until there is a request for this thread */
	pthread_cond_t given;
};
struct pool {
	pthread_mutex_t lock;
	struct list reads, writes;
	size_t given; /* requests that the loop has not got back yet; only the
		       * loop uses it */
	int is_made, stops;
	struct member_of_pool members[THREADS]; /* the first is the writer */
};
int pool_start(struct server *server);
/* If another database file has replaced the file that this handle has open, let
 * *conn be a handle of the new file, and return 1. Call this before each
 * request. */
int pool_renew(const struct server *server, rp_conn **conn);
void pool_stop(struct server *server); /* ends the threads */
void pool_close(struct server *server);
void pool_give(struct server *server, struct request *request,
	       enum thread thread);
/* Give all requests of a list to the pool. If they are writes with small bodies
 * and there are at most MOST_IN_COMMIT of them, they are done in the same
 * commit. */
void pool_give_all(struct server *server, struct list *requests,
		   enum thread thread);

/* clients.c: clients that are registered as workers. The pool's writer and the
 * waiter use the table. */
struct clients {
	pthread_mutex_t lock;
	json_t *table;      /* the clients; NULL: there was no write yet */
	json_t *claims;     /* the jobs that they have got from this server */
	char host[256];     /* the name of this host */
	rp_workers *before; /* the workers that were listed at the first write,
			     * or NULL */
	int64_t forgot_at; /* when clients were last forgotten (monotonic ms) */
};
/* A worker without a heartbeat for 30 s counts as silent, and doctor reports
 * it. A client that has ended must not be reported. So it is unregistered when
 * the server has not heard from it for this time. */
#define CLIENT_GONE_MS 28000
/* How often the server tries the claim of a client with a name while it waits.
 * So it hears from the client in time. */
#define CLIENT_WAITS_MS (CLIENT_GONE_MS - 8000)
/* Unregister the clients that the server has not heard from for half a minute,
 * and store the heartbeats and counts of the others, until the first error. The
 * next call tries again. */
void clients_forget(struct clients *clients, rp_conn *conn);
/* Forget all clients, because their rows are in a database that was replaced.
 */
void clients_clear(struct clients *clients);
/* Unregister all clients, until the first error, and free the table. */
void clients_end(struct clients *clients, rp_conn *conn);

/* poll.c: requests that wait for jobs to claim. Only the loop uses the fields
 * before `conn`, but the waiter also reads queues and found_at. */
struct awaited;
struct polls {
	struct list waiting;
	int64_t check_at;  /* when the next wait may be over (monotonic ms) */
	int64_t forget_at; /* when to remove the queues for which no request
			    * waits (monotonic ms) */
	struct awaited *queues;   /* the loop changes it with the lock */
	_Atomic int64_t found_at; /* when a request of a wave last got a job
				   * (monotonic ms) */
	/* The following fields are for the waiter, the thread of waiter.c.
	 * `lock` protects queues, is_changed, ready and stops. */
	rp_conn *conn;
	pthread_mutex_t lock;
	pthread_t thread;
	int runs, stops;
	int64_t answers_at; /* when to delete old stored answers next
			     * (monotonic ms) */
	int fd;             /* an eventfd that ends the waiter's wait */
	int is_changed;     /* 1: requests wait for other queues than before */
	char **ready; /* queues that may have jobs, with NULL at the end */
};
/* waiter.c */
int polls_start(struct server *server);
void polls_stop(struct server *server);
void polls_remove(struct server *server, struct request *request);
/* Answer a claim whose client has ended its side of the connection: with the
 * results of its verdicts if it has any, and without jobs. If it has claimed
 * jobs, request_end() releases them. */
void polls_answer_gone(struct request *request);
/* Try again the claims that wait for this queue, because the queue may have new
 * jobs. jobs: how many; 0: not known. */
void polls_wake(struct server *server, const char *queue, size_t jobs);
void polls_back(struct server *server, struct request *request);
void polls_take_ready(struct server *server);
void polls_tick(struct server *server, int64_t now);
void polls_end(struct server *server); /* answer all waiting requests */
void polls_free(struct server *server);
/* Returns the names of the queues for which requests wait, with NULL at the
 * end; NULL: out of memory. The caller has the lock. */
char **polls_names(const struct polls *polls);
void names_free(char **names); /* a list with NULL at the end */

/* outcome.c: requests that wait for the end of a job */
struct outcomes {
	struct list waiting;
	/* The following members are for the thread of outcome.c, which waits
	 * for the jobs. `lock` protects the members after `lock`. */
	rp_conn *conn;
	pthread_t thread;
	int runs, fd;
	pthread_mutex_t lock;
	int is_changed, stops;
	int64_t *ids;
	size_t count;
	rp_outcome *ended; /* state 0: read the job to see its error */
	size_t ended_count;
};
int outcomes_start(struct server *server);
void outcomes_stop(struct server *server);
void outcomes_add(struct server *server, struct request *request);
void outcomes_remove(struct server *server, struct request *request);
void outcomes_take_ended(struct server *server);
void outcomes_tick(struct server *server, int64_t now);
void outcomes_end(struct server *server);

/* events.c: streams of events */
struct events {
	struct list listeners;
	int64_t next_at; /* when to read the statistics of the queues next
			  * (monotonic ms) */
	int is_asked;    /* 1: a thread is reading the statistics */
	json_t *last;    /* the statistics that were read last; NULL: there are
			  * none */
};
struct MHD_Response *events_response(struct request *request);
void events_tick(struct server *server, int64_t now);
void events_remove(struct server *server, struct request *request);
void events_end(struct server *server);
void stream_free(struct stream *stream);

/* metrics.c: counts of what this process did */
#define BUCKETS 12
enum {
	MET_ENQUEUED,
	MET_CLAIMED,
	MET_SETTLED,
	MET_REFUSED,
	MET_RELEASED, /* jobs whose answer could not be sent */
	MET_KINDS
};
struct metrics {
	_Atomic int64_t requests[6]; /* how many requests were answered, by the
				      * first digit of the status */
	_Atomic int64_t buckets[BUCKETS + 1];
	_Atomic int64_t us;
	_Atomic int64_t commits, commit_requests;
	_Atomic int64_t jobs[MET_KINDS];
	_Atomic int64_t verdicts[RP_EXTEND + 1]; /* accepted, by verdict */
	_Atomic int64_t lines_lost;              /* of the access log */
};
void metrics_answered(struct server *server, int status, int64_t us);

/* verdicts.c: the words for RP_DONE to RP_EXTEND */
extern const char *const verdict_words[RP_EXTEND + 1];

/* access_log.c: the access log */
int access_log_open(struct server *server);
void access_log(struct server *server, const struct request *request, int sent);

/* connection.c */
enum phase {
	PHASE_IDLE, /* the client has sent no byte of the next request */
	PHASE_READ, /* the client sends a request */
	PHASE_BUSY, /* the server works on the request */
	PHASE_SEND  /* the client reads the answer */
};
struct connection {
	struct connection *next, *before;
	int fd;
	enum phase phase;
	int64_t since_ms; /* when the phase began (monotonic ms); except in
			   * PHASE_BUSY, it may last as long as --time */
	int is_ended;     /* 1: the client sends nothing more */
	struct request *waiting; /* a request that ends when the client closes
				  * the connection, or NULL */
};
struct connection *connection_of(struct MHD_Connection *connection);
/* A callback of libmicrohttpd: a connection begins or ends. */
void connection_changed(void *ctx, struct MHD_Connection *connection,
			void **context,
			enum MHD_ConnectionNotificationCode code);
void connections_accept(struct server *server, int listener);
/* A phase of the connection begins. c: NULL if memory ran out for it. */
void connection_is(struct connection *c, enum phase phase);
/* Called when epoll reports events of the connection. */
void connection_event(struct server *server, struct connection *c,
		      uint32_t events);
/* End connections whose clients take too long to send a request or to read an
 * answer, and those whose clients do not send the rest of a request. */
void connections_tick(const struct server *server, int64_t now);
/* Until connection_unwatch(), the request's wait ends when its client closes
 * the connection. */
void connection_watch(struct request *request);
void connection_unwatch(struct request *request);

struct listener {
	int fd;
	const char *path; /* path of a socket in the file system, or NULL */
	dev_t device;     /* of this socket file */
	ino_t inode;
	char name[64]; /* ADDRESS:PORT */
};

struct server {
	const struct options *options;
	struct MHD_Daemon *mhd;
	rp_conn *first; /* the handle that opened the database first; later the
			 * writer's handle */
	int epoll_fd, wake_fd, signal_fd;
	struct listener listeners[MOST_LISTENERS];
	size_t listeners_count;
	int64_t requests, connections_count;
	struct connection *connections;
	struct request *to_suspend;
	int64_t ticked_at;
	int accept_is_paused;
	atomic_int drains; /* 1: the server ends; the threads of the pool read
			    * it, too */
	int64_t drain_until;
	char *cert, *key;
	int log_fd;               /* the access log, or -1 */
	int log_is_cut;           /* 1: the last line of the log is not whole */
	_Atomic int64_t swept_at; /* monotonic ms of the last sweep, or 0 */
	pthread_mutex_t lock;
	struct list done; /* requests that other threads give back to the
			   * loop */
	struct pool pool;
	struct clients clients;
	struct polls polls;
	struct outcomes outcomes;
	struct events events;
	struct tokens tokens;
	struct metrics metrics;
};

int serve(const struct options *options);
/* loop.c */
void server_done(struct server *server, struct request **requests, size_t n);
void server_wake(struct server *server);
/* Accept no connections until the next tick. */
void server_pause_accept(struct server *server);
void server_resume(struct request *request);
void server_suspend(struct request *request);
/* Suspend the connection of a request that was read, when libmicrohttpd has
 * done what it can do now. Until then its callbacks must do nothing. If a
 * callback suspended the connection at once, libmicrohttpd would not notice
 * that it has read the whole request. When the connection is resumed, it would
 * then read again. If the client has ended its side by then, it would close the
 * connection without sending the answer. */
void server_suspend_soon(struct request *request);

/* listen.c */
/* Resolve ADDRESS:PORT. `option` names the command and the option with this
 * value, for error messages. Returns NULL after printing an error. The caller
 * frees the result with freeaddrinfo(). */
struct addrinfo *listen_resolve(const char *option, const char *text);
int listen_all(struct server *server);
void listen_say(const struct server *server); /* print the addresses */
void listen_close(struct server *server);
/* Check the addresses. Returns 0, or an exit status after printing an error. */
int listen_check(const struct options *options);

int64_t now_ms(void); /* the monotonic clock */

#endif
