/*
 * model.h - a queue in memory, and the steps of a schedule.
 *
 * A job has two faces: how it is, and how it was before the open transaction
 * that changed it, which is how all other sessions see it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef MODEL_H
#define MODEL_H

#include "check.h"

#define SESSIONS 3
#define QUEUES 2
#define MOST_JOBS 256
#define MOST_CLAIMS 64

/* Leases and delays are over by the next sweep, or not within this test. */
#define SOON_MS 1
#define LONG_MS 3600000

enum { FRONT, SUSPECT, NORMAL };

struct job {
	int64_t id;
	int state; /* RP_STATE_*; 0: there is none */
	int queue, priority, class, key;
	int64_t order; /* in its lane; those with the same in either order */
	int64_t claim_no, told; /* now; and the largest that was handed out */
	int held;               /* claim_no was given to somebody */
	int attempt, most;
	size_t size; /* of its payload */
	int lost;    /* leases that ran out in a row */
	int soon;    /* its lease or its delay is over by the next sweep */
	int loose; /* a transaction left it, perhaps behind where claims start:
		      it may be handed out late */
};

struct entry {
	struct job now, before;
	int owner; /* 0, or whose open transaction has it: that session + 1 */
};

struct settings {
	const char *name;
	int max_attempts, priority, paused;
	int64_t keep_done;
};

struct model {
	int on_file; /* SQLite: writers take turns */
	unsigned began, seed;
	int s; /* the session at work */
	struct {
		rp_conn *conn;
		int open;
	} sessions[SESSIONS];
	struct settings queues[QUEUES];
	struct entry entries[MOST_JOBS];
	size_t count;
	struct claim claims[MOST_CLAIMS]; /* all that were handed out */
	size_t claims_count;
	int64_t tick;
	char said[16000];
	size_t said_size;
};

/* What is done, for who has to understand a failure. */
__attribute__((format(printf, 2, 3))) void say(struct model *m,
					       const char *format, ...);
void disagree(struct model *m, const char *file, int line, const char *what);
#define agree(m, condition)                                                    \
	((condition) ? (void)0 : disagree(m, __FILE__, __LINE__, #condition))

int chance(struct model *m, int n); /* 0..n-1 */
int any_queue(struct model *m);
rp_conn *conn_of(const struct model *m);
struct entry *find(struct model *m, int64_t id);
struct job *seen(const struct model *m, struct entry *e);
int locked(const struct model *m, const struct entry *e);
struct job *touch(struct model *m, struct entry *e);
int live(const struct job *j);
int held_up(const struct model *m);
int busy(struct model *m, int64_t r);
void into_line(struct job *j, int class, int64_t order);
void to_come(struct job *j, int class, int soon);

void enqueue(struct model *m);
void cancel(struct model *m);
void retry(struct model *m);
void claim(struct model *m);
void settle(struct model *m);
void settle_and_claim(struct model *m);

#endif
