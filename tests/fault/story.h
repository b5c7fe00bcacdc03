/*
 * story.h - a client that records what it was told and what it cannot know, and
 * checks the database against that. See story.c, chapters.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef STORY_H
#define STORY_H

#include "check.h"

#define MOST_TAGS 600
#define MOST_HELD 32

/* what is known about the jobs with one tag */
struct known {
	int sure;  /* number of jobs that are certainly enqueued */
	int maybe; /* number of jobs that are perhaps enqueued: the outcome
		    * is unknown */
	int group; /* jobs of one group were enqueued together, all or none */
	int done;  /* not 0: the completion was accepted */
	int gone;  /* not 0: the job was purged, and need not exist any more */
};

struct story {
	char dir[200], path[240], url[300];
	rp_conn *conn;  /* the handle whose calls fail */
	rp_conn *other; /* a handle that always works */
	int failures;   /* number of failures seen */
	int last;       /* error code of the last failure */
	int lost;   /* not 0: after the last failure the outcome was unknown,
		     * or the transaction lost */
	int inside; /* not 0: a transaction of the story is open */
	void (*arm)(int on); /* turns failures on or off; or NULL */
	int groups;
	struct known known[MOST_TAGS];
	int next_tag;
	struct claim held[MOST_HELD];
	size_t held_count;
};

struct chapter {
	const char *name;
	void (*prepare)(struct story *story); /* runs first, without
					       * failures; or NULL */
	void (*play)(struct story *story);
	void (*check)(struct story *story); /* nothing fails */
};
extern const struct chapter chapters[]; /* the last chapter has a NULL name */
const struct chapter *chapter_named(const char *name);

/* Create and remove the directory and the database that stories are copied
 * from. */
int stories_start(int argc, char **argv);
void stories_end(void);
struct story *story_open(const struct chapter *chapter);
/* Check that the handle works, the record is right and the database intact.
 * Frees the story. */
void story_close(struct story *story, const struct chapter *chapter);

/* Enable failures for a call on the handle, and disable them. failed() disables
 * them, too. */
rp_conn *shaky(struct story *story);
void calm(struct story *story);
/* Returns true if the call failed and must be repeated, after checks that any
 * failure must pass. False: the answer is final. */
int failed(struct story *story, int64_t r);
/* Check that nothing was written to the result. */
void expect_untouched(const void *where, size_t size);
#define UNTOUCHED 0x5a
#define until_answered(story, r, call)                                         \
	do                                                                     \
		(r) = (call);                                                  \
	while (failed((story), (r)))

/* Enqueue and record jobs, each with the next tag as its payload. Returns the
 * first tag. */
int enter(struct story *story, const char *queue, rp_job_spec model, size_t n,
	  rp_added *ret);
int tag_of(const rp_job *job);
/* Record claimed jobs as held. They must not have been held before. */
void hold(struct story *story, const rp_batch *batch);
void let_go(struct story *story, int64_t id);
/* Claim jobs, and settle them as the plan says, until all are finished. */
typedef int plan_fn(const rp_job *job);
void work_off(struct story *story, const char *queue, plan_fn *plan);
void settle(struct story *story, const rp_job *job, int verdict);

#endif
