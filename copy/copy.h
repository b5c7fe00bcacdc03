/*
 * copy.h - declarations that the files of rp_copy() share. rp_copy() copies
 * queues to another database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_COPY_H
#define RP_COPY_H

#include "internal.h"

/* A range of ids in the source, from `first` to `last`. In the target, the ids
 * of these jobs are larger by `shift`. */
struct rp_range {
	int64_t first, last, shift;
};

/* The progress of the copy of a queue, as it is recorded in the target. */
enum rp_phase { NEVER, COPYING, COPIED, MOVING, MOVED };

struct rp_copy_queue {
	const char *name;
	enum rp_phase phase;              /* how far the copy was when this
					   * run began */
	int source_paused, target_paused; /* not 0: the queue will be paused on
					   * that side when the copy ends */
};

/* A slice (a short transaction) has at most RP_COPY_ROWS jobs. If the database
 * allows only one writer at a time, slices are smaller, because each slice
 * keeps other writers out. On such a database RP_COPY_ROWS is divided into
 * RP_COPY_PARTS parts. The first slice has RP_COPY_PARTS_FIRST of these parts.
 * The number of parts of later slices is adjusted to the speed of the database,
 * but stays between RP_COPY_PARTS_LEAST and RP_COPY_PARTS_MOST. If slices were
 * even smaller, their fixed cost would take most of the time. */
#define RP_COPY_ROWS 4000
#define RP_COPY_PARTS 64
#define RP_COPY_PARTS_FIRST 8
#define RP_COPY_PARTS_LEAST 4
#define RP_COPY_PARTS_MOST 16

/* The jobs of one side, sorted by id. */
struct rp_jobs {
	rp_batch *memory; /* owns the memory to which the rows point */
	struct rp_value *rows;
	size_t count, size;
	/* limits of the last read: number of jobs, and bytes of payload */
	size_t most_rows, most_size;
	/* the last read has returned all jobs with ids up to this one */
	int64_t until;
};

/* Schedules of the source. Each row has the parameters with which the verb
 * schedule_import writes one schedule. */
struct rp_copy_schedules {
	rp_batch *memory; /* owns the memory to which the rows point */
	struct rp_value *rows;
	size_t count;
};

struct rp_copy {
	rp_conn *from, *to;
	rp_copy_options options;
	rp_copied counts;
	rp_error *error;
	char identity[40]; /* random name of the source; this name never
			    * changes */
	char run[40];      /* random name of this run */
	rp_queues *settings;
	struct rp_copy_queue *queues;
	size_t queues_count;
	const char **list;       /* the queues' names, with a NULL at the end */
	char *names;             /* the queues' names as a JSON array */
	struct rp_range *ranges; /* sorted by id */
	size_t ranges_count;
	/* number that is added to a job's position in the ready line */
	int64_t seq_shift;
	/* the last position that was reserved in the target */
	int64_t seq_end;
	int64_t source_end; /* last id that the source has assigned */
	/* A walk goes through all ids of the source once. Ids up to
	 * `checked_to` were read by an earlier walk. */
	int64_t checked_to;
	/* The number of changes since the earlier walk: jobs that this walk
	 * erased from the target, and jobs with ids up to checked_to that it
	 * wrote. Jobs with larger ids are not changes, but new. */
	int64_t changed;
	int mirror;   /* not 0: erase from the target the jobs that are
		       * missing from the source */
	int removing; /* not 0: when jobs are found in the target, erase
		       * them from the source (a move) */
	size_t parts; /* size of a slice, see RP_COPY_PARTS */
	struct rp_copy_schedules schedules;   /* the schedules of the source, as
					       * they were last read */
	struct rp_slice from_slice, to_slice; /* the last slice on each side */
};

/* copy.c */
int rp__copy_failed(struct rp_copy *c, const rp_conn *conn, int r);
int rp__copy_end(struct rp_copy *c, rp_conn *conn, int r);
int rp__copy_progress(struct rp_copy *c, int what);

/* begin.c: if rp__copy_begin() fails, the source is unchanged, unless the
 * outcome of a commit is unknown */
int rp__copy_begin(struct rp_copy *c);

/* ids.c */
int rp__copy_check_different(struct rp_copy *c);
int rp__copy_make_names(struct rp_copy *c);
int rp__copy_identify(struct rp_copy *c, int trial);
/* begins a transaction on the target; only one run at a time can have such a
 * transaction open */
int rp__copy_lock(struct rp_copy *c);
int rp__copy_note_phase(struct rp_copy *c, const struct rp_copy_queue *q,
			enum rp_phase phase);
int rp__copy_read_phase(struct rp_copy *c, struct rp_copy_queue *q,
			char ret_run[40]);
/* deletes from the source the records of finished moves into it */
int rp__copy_forget_moves(struct rp_copy *c);
/* fails if a newer run of the same copy has taken over */
int rp__copy_under_way(struct rp_copy *c);
/* the same check as rp__copy_under_way(), for callers that do not hold the lock
 * of rp__copy_lock() */
int rp__copy_still_under_way(struct rp_copy *c);
int rp__copy_load_ranges(struct rp_copy *c);
int rp__copy_start_ranges(struct rp_copy *c);
int rp__copy_open_range(struct rp_copy *c, int64_t id, int64_t last);
int rp__copy_open_first(struct rp_copy *c); /* add a range for the smallest
					     * ids, if they have none */
const struct rp_range *rp__copy_range_of(const struct rp_copy *c, int64_t id,
					 int64_t *ret_last);
int rp__copy_last_id(struct rp_copy *c, rp_conn *conn, int64_t *ret);
int rp__copy_reserve(struct rp_copy *c, int64_t id, int64_t seq);

/* jobs.c */
/* Read the jobs with ids larger than `after` and at most `until`. The call
 * stops at the limits of one slice (jobs->most_rows and most_size). Then
 * jobs->until is the id up to which all jobs were read. */
int rp__copy_read(struct rp_copy *c, rp_conn *conn, struct rp_jobs *jobs,
		  int64_t after, int64_t until);
int rp__copy_equal(const struct rp_value *a, const struct rp_value *b);

static inline struct rp_value *
rp__copy_row(const struct rp_jobs *jobs, size_t i)
{
	return jobs->rows + i * ROW_COLUMNS;
}

static inline int64_t
rp__copy_id(const struct rp_jobs *jobs, size_t i)
{
	return rp__copy_row(jobs, i)[ROW_ID].i;
}

static inline int
rp__copy_is_kept(const struct rp_value *row)
{
	return rp__is_finished((int)row[ROW_STATE].i);
}

/* keys.c */
int rp__copy_keys(struct rp_copy *c);

/* schedules.c */
/* rp__copy_read_schedules() reads schedules of the source into c->schedules. If
 * `leaving` is 1, it reads the schedules that were stopped for a move. If
 * `leaving` is 0, it reads all other schedules. rp__copy_write_schedules()
 * writes c->schedules to the target, where the schedules are paused. */
int rp__copy_read_schedules(struct rp_copy *c, int leaving);
int rp__copy_write_schedules(struct rp_copy *c, int moving);
/* Do both: read the schedules of the source, and write them to the target. */
int rp__copy_put_schedules(struct rp_copy *c, int moving);
/* The other steps of a move of schedules. If a transaction is open, a step runs
 * in that transaction. If none is open, the step is a transaction of its own.
 */
int rp__copy_leave_schedules(struct rp_copy *c);
int rp__copy_remove_schedules(struct rp_copy *c);
/* Do all steps except the last one, rp__copy_start_schedules(). */
int rp__copy_hand_over_schedules(struct rp_copy *c);
int rp__copy_start_schedules(struct rp_copy *c);
void rp__copy_clear_schedules(struct rp_copy *c);

/* slice.c: one walk, which goes through all ids of the source */
int rp__copy_walk(struct rp_copy *c);

#endif
