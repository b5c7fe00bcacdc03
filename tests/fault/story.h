/*
 * story.h - a client for tests that records which of its calls succeeded, and
 * which had an unknown outcome. At the end the database is compared with this
 * record. One run of the client is a story. See story.c, chapters.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef STORY_H
#define STORY_H

#include "check.h"

#define MOST_TAGS 600
#define MOST_HELD 32

/* The record of all jobs with one tag. The tag is a job's payload. */
struct known {
	int sure; /* number of jobs that were certainly enqueued */
	/* number of jobs that may have been enqueued by calls with an unknown
	 * outcome */
	int maybe;
	int group; /* number of the group of jobs that were enqueued together */
	/* not 0: a verdict that completes the job was accepted */
	int done;
	int gone; /* not 0: the job was purged, so it need not exist */
};

struct story {
	char dir[200], path[240], url[300];
	rp_conn *conn;  /* the connection whose calls fail */
	rp_conn *other; /* a connection whose calls never fail */
	int failures;   /* number of failed calls so far */
	int last;       /* error code of the last failed call */
	/* Not 0 if the last call failed in one of two ways: it lost the
	 * connection, so its outcome is unknown; or the database rolled back
	 * the story's whole transaction. */
	int lost;
	int inside; /* not 0: the story has begun a transaction */
	/* With 1, starts to count allocations. With 0, stops. One of the
	 * counted allocations is made to fail. NULL in the test that makes
	 * calls fail, and no allocations. */
	void (*arm)(int on);
	int groups;
	struct known known[MOST_TAGS];
	int next_tag;
	struct claim held[MOST_HELD];
	size_t held_count;
};

struct chapter {
	const char *name;
	/* Runs before `play`, without failures. NULL: there is nothing to
	 * prepare. */
	void (*prepare)(struct story *story);
	void (*play)(struct story *story);
	/* Runs after `play`, without failures. */
	void (*check)(struct story *story);
};
extern const struct chapter chapters[]; /* the last element has the name NULL */
const struct chapter *chapter_named(const char *name);

/* stories_start() makes the test's directory, and in it a prepared database.
 * Each story works on a copy of this database. stories_end() removes the
 * directory. */
int stories_start(int argc, char **argv);
void stories_end(void);
struct story *story_open(const struct chapter *chapter);
/* Check that the connection works, that the database has the jobs that the
 * story has recorded, and that the file is not damaged. Frees the story. */
void story_close(struct story *story, const struct chapter *chapter);

/* shaky() returns the connection, and calls arm(1), so that the next call on
 * the connection may fail. calm() and failed() call arm(0). */
rp_conn *shaky(struct story *story);
void calm(struct story *story);
/* Check the connection after a call that has returned r. Returns 1 if the call
 * failed and must be repeated, or 0 if its result is final. */
int failed(struct story *story, int64_t r);
/* Check that a failed call has not written to its result. */
void expect_untouched(const void *where, size_t size);
#define UNTOUCHED 0x5a
#define until_answered(story, r, call)                                         \
	do                                                                     \
		(r) = (call);                                                  \
	while (failed((story), (r)))

/* Enqueue jobs and record them. Each job's payload is its tag, a number that no
 * other job has. Returns the tag of the first job. The other jobs get the next
 * numbers. */
int enter(struct story *story, const char *queue, rp_job_spec model, size_t n,
	  rp_added *ret);
int tag_of(const rp_job *job);
/* Record that the client holds the claimed jobs. Asserts that the client did
 * not hold any of these jobs before. */
void hold(struct story *story, const rp_batch *batch);
void let_go(struct story *story, int64_t id);
/* Claim jobs until no job is left. The plan returns the verdict for each
 * job. */
typedef int plan_fn(const rp_job *job);
void work_off(struct story *story, const char *queue, plan_fn *plan);
void settle(struct story *story, const rp_job *job, int verdict);

#endif
