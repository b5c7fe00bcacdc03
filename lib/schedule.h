/*
 * schedule.h - functions for schedules that several files of the library call.
 * A schedule adds jobs at set times, which are called its instants. It fires
 * when it adds the job of an instant.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SCHEDULE_H
#define RP_SCHEDULE_H

#include "internal.h"

#include "cron/cron.h"

struct rp_stored {
	rp_schedule schedule;
	int64_t id;
	int has_fired; /* 1: the job for the time next_at is already enqueued */
};
struct rp_schedules {
	struct rp_items items; /* of the type struct rp_stored */
};

/* schedule.c */
/* The words for RP_MISSED_* and RP_OVERLAP_*, in the order of the numbers, with
 * a NULL at the end. */
extern const char *const rp__missed_words[], *const rp__overlap_words[];
/* Returns the index of a word in one of these lists, or -1. */
int rp__word_index(const char *const *words, const char *word);
/* Check a schedule's names, payload and numbers. The database checks the
 * headers. The spec and the zone are checked when the next instant is
 * computed. */
int rp__schedule_check(const rp_schedule *schedule, rp_error *reterr);
/* Write a parsed spec as the text of an SQL array. PostgreSQL's routines
 * compute the instants of a schedule from this array. */
#define RP_SETS_SIZE 160
void rp__schedule_sets(const struct rp_spec *spec, char to[RP_SETS_SIZE]);
/* Like rp_schedule_set() and rp_schedule_resume(). They also set *ret_next to
 * the schedule's next instant, or to 0 if it never fires again. */
int rp__schedule_set(rp_conn *conn, const rp_schedule *schedule, int replace,
		     int64_t *ret_next);
int rp__schedule_resume(rp_conn *conn, const char *name, int64_t *ret_next);
/* Lock the schedule `name` until the open transaction ends. Returns 1, 0 if
 * there is no such schedule, or RP_E*. */
int rp__schedule_lock(rp_conn *conn, const char *name);

/* schedule_list.c */
/* Add a schedule with the columns `c`, which the verbs `schedule_list` and
 * `schedule_due` return. NULL: out of memory. */
struct rp_stored *rp__schedules_add(struct rp_schedules *list,
				    const struct rp_value *c);
/* Returns the i-th schedule, or NULL if there are not so many. */
const struct rp_stored *rp__schedules_at(const struct rp_schedules *list,
					 size_t i);
/* Read the schedule `name`, or all schedules if `name` is NULL. */
int rp__schedules_read(rp_conn *conn, const char *name,
		       struct rp_schedules *list);
/* Fail with RP_ENOENT and the message that no schedule has this name. */
int rp__schedule_missing(rp_conn *conn, const char *name);

/* schedule_fire.c */
/* Enqueue the job of one instant. `manual`: 1 if rp_schedule_run() calls this
 * function, 0 if the instant fires. */
int rp__schedule_put(rp_conn *conn, const rp_schedule *schedule, int64_t at,
		     int64_t missed, int manual, rp_added *ret);
/* Fire the schedules that are due, several in each transaction. stop_at: when
 * to stop (monotonic us); 0: never. Adds the number of new jobs to *jobs.
 * Returns 1 if more schedules are due. */
int rp__schedules_fire(rp_conn *conn, int64_t stop_at, int64_t *jobs);

#endif
