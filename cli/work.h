/*
 * work.h - declarations that the files of the command `work` share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef WORK_H
#define WORK_H

#include <pthread.h>
#include <stdatomic.h>

#include "child.h"
#include "cmd.h"

#define LIVE_LINE 200

/* The status line on the terminal. `lock` guards all members and all writing to
 * the terminal. A thread that holds this lock takes no other lock. */
struct live {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int on;         /* 1: draw a status line, because standard error is a
			 * terminal */
	int has_output; /* 1: standard output is a terminal, too */
	int ended;
	int mid_line;         /* 1: other output has begun a line and not ended
			       * it */
	char line[LIVE_LINE]; /* the status line on the screen; "": there is
			       * none */
	int64_t began_us;
};

struct work {
	struct cmd *cmd;
	char **queues;
	int queues_count;
	int *is_pattern; /* for each queue: 1 if its name is a pattern */
	char *alone;     /* with -j 1: the queues as the user wrote them, one a
			  * line. A `wait` in a handler refuses to wait for jobs
			  * of these queues, because only this worker would run
			  * them */
	char **command;  /* the command and its arguments, with a NULL at the
			  * end */
	int in_argument; /* 1: an argument of `command` has {}, which is
			  * replaced by the job's payload */
	char *file;      /* path of the command */
	char url[4200];  /* READPAST_DB for handlers, with an absolute path.
			  * There is room for the user's URL (1024 bytes) and
			  * for the working directory (1024 bytes; escaping may
			  * turn each byte into 3) */
	int64_t threads, lease_ms, release_delay_ms, max_jobs;
	int64_t timeout_ms; /* longest time of a handler; 0: no limit; -1: the
			     * job's own time-out */
	int64_t grace_ms;
	const char *result; /* value of --result: "stdout"; NULL: descriptor 3
			     * has the result */
	const char *drain;  /* value of --drain: "" or "settled"; NULL: no
			     * --drain */
	const char *post;   /* URL of --post; NULL: run `command` */
	struct posts *posts;
	const char *metrics_at; /* address of --metrics; NULL: no metrics */
	struct work_metrics *metrics;
	int quiet, output_sync;
	const char *log;
	struct history *log_json;
	struct warden *warden;
	rp_worker *worker;
	struct live live;

	/* The following members change while handlers run, in several
	 * threads. */
	_Atomic int64_t running;
	atomic_int told_to_end; /* 1: after a signal, the message "waiting for
				 * N handlers" was printed */
	/* The worker stops if it cannot write the output of handlers.
	 * output_errnum: the errno of writing to standard output.
	 * collect_errnum: the errno of writing to the temporary files that
	 * collect the output. 0: no error. */
	atomic_int output_errnum, collect_errnum;
};

/* serving.c: check that the database and the queues exist, and print their
 * names. Returns an exit status. */
int look_at_queues(struct work *work);

/* handler.c: a function of type rp_handler; ctx is the struct work */
int handle_job(rp_task *task, const rp_job *job, void *ctx);
/* Returns whether a running handler must be stopped now. After a signal, the
 * call also prints, but only once, that the worker waits for its handlers. */
int must_stop(struct work *work, rp_task *task);
/* Returns the time-out of a handler in ms, or 0 for none. It is the value of
 * --timeout or, if that option is not given, the job's own time-out. */
int64_t timeout_of(const struct work *work, const rp_job *job);

/* post.c: handlers that send the payload to a URL. The worker's threads share
 * the connections. posts_new() returns 0, or an exit status after printing an
 * error. */
int posts_new(const char *url, struct posts **ret);
void posts_free(struct posts *posts);
/* Returns the verdict on the job. */
int post_job(struct work *work, rp_task *task, const rp_job *job);
/* Returns whether the URL begins with http:// or https:// and a host.
 * posts_new() checks the rest of the URL. */
int post_check(const char *url);

/* work_metrics.c: check the address of --metrics. Returns an exit status. */
int work_metrics_check(const char *address);
/* Start a thread that answers requests for the metrics. work_metrics_start()
 * returns NULL after printing an error. If `metrics` is NULL, the functions
 * below do nothing. */
struct work_metrics *work_metrics_start(struct work *work, const char *address);
/* Print the address, unless the worker is quiet. */
void work_metrics_say(const struct work_metrics *metrics);
void work_metrics_count(struct work_metrics *metrics, const rp_event *e);
void work_metrics_stop(struct work_metrics *metrics);

/* observe.c: a function of type rp_observer; ctx is the struct work */
void observe_work(const rp_event *e, void *ctx);

/* live.c */
/* live_write() calls a function of this type while a write blocks. If the
 * function does not return 0, live_write() gives up. */
typedef int live_stop_fn(void *ctx);
#define COUNTS 140
/* Write "3 done, 0 failed, 0 dead, 0 released" and so on. */
void format_counts(char *to, size_t room, const rp_worker_counts *counts);
void live_begin(struct work *work);
void live_end(struct work *work);
int live_write(struct work *work, int fd, const char *text, size_t n,
	       live_stop_fn *stop, void *ctx);
void live_say(struct work *work, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* collect.c: the descriptors of two files that collect the standard output and
 * the standard error of a handler. 0: there is no file yet. (No file gets the
 * descriptor 0, which is our standard input.) collect() and collect_hand_on()
 * return 0 or an errno. */
struct collected {
	int output, error;
};
int collect(struct collected *c, int from, const char *text, size_t n);
int collect_hand_on(struct work *work, const struct collected *c,
		    live_stop_fn *stop, void *ctx);
void collect_free(struct collected *c);

/* notify.c: messages to the service manager, if there is one. notify_open()
 * returns the interval, in ms, at which notify_alive() must be called, or 0 if
 * it must be called only once. The first notify_alive() also reports that the
 * worker is ready. notify_ending() reports that the worker ends, and that its
 * handlers have grace_ms left to end. A signal handler may call
 * notify_ending(). */
int64_t notify_open(int64_t grace_ms);
void notify_alive(void);
void notify_ending(void);

/* cmd_work.c: the number of signals so far, the first signal, and its time
 * in microseconds. All are 0 if no signal has come. */
int signals_seen(void);
int first_signal(void);
int64_t first_signal_us(void);

#endif
