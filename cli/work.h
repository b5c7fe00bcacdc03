/*
 * work.h - declarations shared by the files of the command `work`.
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

/* The terminal. `lock` guards all members and the writing; it is a leaf lock:
 * its holder takes no other. */
struct live {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	int on;         /* draw a status line: standard error is a terminal */
	int has_output; /* standard output is the same terminal */
	int ended;
	int mid_line;         /* other output has begun a line */
	char line[LIVE_LINE]; /* as drawn; "": not drawn */
	int64_t began_us;
};

struct work {
	struct cmd *cmd;
	char **queues;
	int queues_count;
	char **command;  /* NULL-terminated */
	int in_argument; /* an argument has {} */
	char *file;      /* path of the command */
	char url[4200]; /* READPAST_DB for handlers, with an absolute path; room
			   for two names of 1024 bytes, one of them escaped */
	int64_t threads, lease_ms, release_delay_ms, max_jobs;
	int64_t timeout_ms; /* of all handlers; 0: none; -1: the job's own */
	int64_t grace_ms;
	const char *drain; /* "", "settled"; NULL: without --drain */
	int quiet, output_sync;
	const char *log;
	struct history *log_json;
	struct warden *warden;
	rp_worker *worker;
	struct live live;

	/* updated by the threads that run handlers */
	_Atomic int64_t running;
	atomic_int
		told_to_end; /* the user was told that handlers are awaited */
	/* The error that stopped the worker: of standard output, or of the
	 * temporary files that hold handlers' output. */
	atomic_int output_errnum, collect_errnum;
};

/* handler.c: an rp_handler; ctx is the struct work */
int handle_job(rp_task *task, const rp_job *job, void *ctx);

/* observe.c: an rp_observer; ctx is the struct work */
void observe_work(const rp_event *e, void *ctx);

/* live.c */
typedef int live_stop_fn(void *ctx); /* not 0: stop waiting */
void live_begin(struct work *work);
void live_end(struct work *work);
int live_write(struct work *work, int fd, const char *text, size_t n,
	       live_stop_fn *stop, void *ctx);
void live_say(struct work *work, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* collect.c: what a handler has written to standard output and standard error;
 * 0, which is never free: nothing. Both calls answer 0 or an errno. */
struct collected {
	int output, error;
};
int collect(struct collected *c, int from, const char *text, size_t n);
int collect_hand_on(struct work *work, const struct collected *c,
		    live_stop_fn *stop, void *ctx);
void collect_free(struct collected *c);

/* output.c: 0, or why handlers cannot write to standard output; and the line
 * that says so. FAILED */
int output_error(void);
int complain_of_output(int errnum, const char *consequence);

/* notify.c: to the service manager, if there is one. How often it wants to hear
 * notify_alive(), in ms, of which the first says that the worker serves; 0:
 * once. notify_ending() may be called by a signal handler: handlers get
 * grace_ms from then on. */
int64_t notify_open(int64_t grace_ms);
void notify_alive(void);
void notify_ending(void);

/* cmd_work.c: how many signals there were, which one was the first, and when
 * it came; 0: there was none */
int signals_seen(void);
int first_signal(void);
int64_t first_signal_us(void);

#endif
