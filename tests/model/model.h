/*
 * model.h - the model, a queue in memory with which the tests compare the
 * library. This file also declares the steps of a schedule. (In these tests a
 * schedule is a random sequence of calls.)
 *
 * A job has two versions: the current version, and the version before the open
 * transaction changed the job. Only the session with this transaction sees the
 * current version.
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

/* A lease or delay ends before the next sweep (SOON_MS), or lasts longer than
 * the test (LONG_MS). */
#define SOON_MS 1
#define LONG_MS 3600000

enum { FRONT, SUSPECT, NORMAL };

struct job {
	int64_t id;
	int state; /* one of RP_STATE_*; 0: the job does not exist */
	int queue, priority, class, key;
	/* Position in its lane, the ready jobs of one priority and class. Jobs
	 * with the same number may be claimed in any order. */
	int64_t order;
	/* The current claim number, and the largest claim number that a client
	 * has received. */
	int64_t claim_no, told;
	int held; /* not 0: a client has received claim_no */
	int attempt, most;
	size_t size; /* size of the payload */
	int lost;    /* number of leases that ran out in a row */
	/* not 0: the job's lease or delay ends before the next sweep */
	int soon;
	/* Not 0: a transaction that has enqueued or changed the job has ended.
	 * Claims may already start after the job's position, and skip the job
	 * until a sweep moves it. */
	int loose;
	int replaced; /* not 0: an open transaction has replaced the job */
};

struct entry {
	struct job now, before;
	/* 0, or 1 + the number of the session whose open transaction has
	 * changed the job */
	int owner;
};

struct settings {
	const char *name;
	int max_attempts, priority, paused;
	int64_t keep_done;
};

struct model {
	/* not 0: the database is a SQLite file, which has one writer at a
	 * time */
	int on_file;
	unsigned began, seed;
	int s; /* the current session */
	struct {
		rp_conn *conn;
		int open;
	} sessions[SESSIONS];
	struct settings queues[QUEUES];
	struct entry entries[MOST_JOBS];
	size_t count;
	/* the claims that sessions have received */
	struct claim claims[MOST_CLAIMS];
	size_t claims_count;
	int64_t tick;
	char said[16000];
	size_t said_size;
};

/* Log a step of the schedule. The log is printed if the schedule fails. */
__attribute__((format(printf, 2, 3))) void say(struct model *m,
					       const char *format, ...);
void disagree(struct model *m, const char *file, int line, const char *what);
#define agree(m, condition)                                                    \
	((condition) ? (void)0 : disagree(m, __FILE__, __LINE__, #condition))

int chance(struct model *m, int n); /* random, 0..n-1 */
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
void delay_job(struct job *j, int class, int soon);

void enqueue(struct model *m);
void cancel(struct model *m);
void retry(struct model *m);
void claim(struct model *m);
void settle(struct model *m);
void settle_and_claim(struct model *m);

#endif
