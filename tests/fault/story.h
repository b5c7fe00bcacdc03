/*
 * story.h - a client that keeps book: what it was told is so, and what it
 * cannot know; and whether the database agrees. See story.c, chapters.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef STORY_H
#define STORY_H

#include "check.h"

#define MOST_TAGS 600
#define MOST_HELD 32

/* What is known of the jobs whose payload is one tag, a number. */
struct known {
	int sure;  /* so many were enqueued */
	int maybe; /* so many more may have been: the outcome is unknown */
	int group; /* the call that enqueued it: all of its jobs or none */
	int done;  /* its completion was accepted */
	int gone;  /* purged: it need not be there any more */
};

struct story {
	char dir[200], path[240], url[300];
	rp_conn *conn;  /* the one that fails */
	rp_conn *other; /* one that does not */
	int failures;   /* that were seen */
	int last;       /* the code of the last one */
	int lost;       /* it was: outcome unknown, or the transaction gone */
	int inside;     /* in a transaction of its own */
	void (*arm)(int on); /* failures are to happen now, or not; or NULL */
	int groups;
	struct known known[MOST_TAGS];
	int next_tag;
	struct claim held[MOST_HELD];
	size_t held_count;
};

struct chapter {
	const char *name;
	void (*prepare)(struct story *story); /* nothing fails yet; or NULL */
	void (*play)(struct story *story);
	void (*check)(struct story *story); /* nothing fails any more */
};
extern const struct chapter chapters[]; /* ended by a NULL name */
const struct chapter *chapter_named(const char *name);

/* A place for databases, and one to copy from. */
int stories_start(int argc, char **argv);
void stories_end(void);
struct story *story_open(const struct chapter *chapter);
/* Is the handle of use, the book right, the database whole? Frees it. */
void story_close(struct story *story, const struct chapter *chapter);

/* The handle, for a call that may fail; and no more of that, which failed()
 * says, too. */
rp_conn *shaky(struct story *story);
void calm(struct story *story);
/* The call failed, and is to be made again: what may be said of any failure is
 * checked. False: it was answered. */
int failed(struct story *story, int64_t r);
/* Nothing was written where an answer was to be. */
void expect_untouched(const void *where, size_t size);
#define UNTOUCHED 0x5a
#define until_answered(story, r, call)                                         \
	do                                                                     \
		(r) = (call);                                                  \
	while (failed((story), (r)))

/* Enqueue jobs, each with the next tag as its payload, and write it down.
 * Returns the first tag. */
int enter(struct story *story, const char *queue, rp_job_spec model, size_t n,
	  rp_added *ret);
int tag_of(const rp_job *job);
/* What was claimed is held, and had not been before. */
void hold(struct story *story, const rp_batch *batch);
void let_go(struct story *story, int64_t id);
/* Claim what there is and give verdicts by the plan, until all is finished. */
typedef int plan_fn(const rp_job *job);
void work_off(struct story *story, const char *queue, plan_fn *plan);
void settle(struct story *story, const rp_job *job, int verdict);

#endif
