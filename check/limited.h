/*
 * limited.h - collect from a history the limits of queues and the claims that
 * they concern, and check that no limit was exceeded.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LIMITED_H
#define LIMITED_H

#include "life.h"
#include "names.h"

/* The limits of a queue, from one event `limits` of the history. These limits
 * were surely in force for each call that was sent after `from` and answered
 * before `until`. A limit of 0 means no limit. */
struct setting {
	uint32_t queue;
	int64_t asked, from, until;
	int64_t limit, group_limit, rate, window_us;
	int pass; /* not 0: a failed job does not stop its group */
};

/* A claim. The job surely ran from `from` to `until`. */
struct run {
	uint32_t name; /* number of the job's group, or of the job's queue if
			* the job has no group */
	int64_t id, claim, asked, from, until;
};

/* A job of a group, whose place in the order of the group is checked. The job
 * was enqueued without a delay, and not changed, replaced or retried later. */
struct turn {
	uint32_t name;
	int priority;
	int64_t id, asked, at; /* `asked`: when the job's enqueue was sent.
				* `at`: when the enqueue was answered */
	/* `first_at`: when the job's first claim was answered. `last_asked`:
	 * when the job's last claim was sent */
	int64_t first_at, last_asked;
	/* when the claim of the job's first attempt was sent; 0: the history
	 * does not contain this claim */
	int64_t began_asked;
};

struct limits {
	struct names names;
	struct setting *settings;
	struct run *runs;
	struct turn *turns;
	size_t settings_count, settings_room, runs_count, runs_room;
	size_t turns_count, turns_room;
};

/* The following functions return -1 if memory ran out. limits_take() collects
 * the claims of one job. Call life_check() for this job first. */
int limits_add(struct limits *limits, const struct line *line);
int limits_take(struct limits *limits, const struct life *life);
int limits_check(struct limits *limits, const struct findings *findings);
void limits_clear(struct limits *limits);

/* Check the order of the groups of a queue with a group limit of 1 (order.c).
 * Returns -1 if memory ran out. */
int order_check(const struct limits *limits, const struct setting *setting,
		const struct findings *findings);

#endif
