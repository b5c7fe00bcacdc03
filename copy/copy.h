/*
 * copy.h - what the files of rp_copy() share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_COPY_H
#define RP_COPY_H

#include "internal.h"

/* A job of the source has the id + shift in the target. */
struct rp_range {
	int64_t first, last, shift;
};

/* How far the copy of a queue has come, as the target notes it. */
enum rp_phase { NEVER, COPYING, COPIED, MOVING, MOVED };

struct rp_copy_queue {
	const char *name;
	enum rp_phase phase;              /* when this run began */
	int source_paused, target_paused; /* and shall be again */
};

/* So many jobs are read at once at the most, or a part of that. With few parts
 * most of the time would go into what is done once for each slice. */
#define RP_COPY_ROWS 4000
#define RP_COPY_PARTS 64
#define RP_COPY_PARTS_FIRST 8
#define RP_COPY_PARTS_LEAST 4
#define RP_COPY_PARTS_MOST 16 /* where one transaction writes at a time */

/* Jobs of one side, ascending. */
struct rp_jobs {
	rp_batch *memory; /* what the rows point to */
	struct rp_value *rows;
	size_t count, size;
	size_t most_rows, most_size; /* ... that were wanted at once */
	int64_t until;               /* ids up to it were looked at */
};

struct rp_copy {
	rp_conn *from, *to;
	rp_copy_options options;
	rp_copied counts;
	rp_error *error;
	char identity[40]; /* the source's, for good */
	char run[40];      /* this run's */
	rp_queues *settings;
	struct rp_copy_queue *queues;
	size_t queues_count;
	const char **list;       /* their names, */
	char *names;             /* of all queues, a JSON array */
	struct rp_range *ranges; /* ascending */
	size_t ranges_count;
	int64_t seq_shift;  /* of the numbers in line */
	int64_t seq_end;    /* the line has come so far in the target */
	int64_t source_end; /* the last id that the source has given */
	int64_t checked_to; /* ids up to it were looked at before */
	int64_t changed;    /* of those, that were not the same */
	int mirror;         /* what left the source leaves the target */
	int removing;       /* what is in the target leaves the source */
	size_t parts;       /* of RP_COPY_PARTS: how much is read at once */
	struct rp_slice from_slice, to_slice; /* the last of each side */
};

/* copy.c */
int rp__copy_failed(struct rp_copy *c, const rp_conn *conn, int r);
int rp__copy_end(struct rp_copy *c, rp_conn *conn, int r);
int rp__copy_progress(struct rp_copy *c, int what);

/* begin.c: until it returns 0 the source is as it was, unless a commit's
 * outcome is unknown */
int rp__copy_begin(struct rp_copy *c);

/* ids.c */
int rp__copy_check_different(struct rp_copy *c);
int rp__copy_make_names(struct rp_copy *c);
int rp__copy_identify(struct rp_copy *c, int trial);
int rp__copy_lock(struct rp_copy *c); /* begin in the target, alone there */
int rp__copy_note_phase(struct rp_copy *c, const struct rp_copy_queue *q,
			enum rp_phase phase);
int rp__copy_read_phase(struct rp_copy *c, struct rp_copy_queue *q,
			char ret_run[40]);
int rp__copy_under_way(struct rp_copy *c);       /* ... and ours still? */
int rp__copy_still_under_way(struct rp_copy *c); /* not behind our lock */
int rp__copy_load_ranges(struct rp_copy *c);
int rp__copy_start_ranges(struct rp_copy *c);
int rp__copy_open_range(struct rp_copy *c, int64_t id, int64_t last);
const struct rp_range *rp__copy_range_of(const struct rp_copy *c, int64_t id,
					 int64_t *ret_last);
int rp__copy_ends(struct rp_copy *c, rp_conn *conn, int64_t *ret_id,
		  int64_t *ret_seq);
int rp__copy_reserve(struct rp_copy *c, int64_t id, int64_t seq);

/* jobs.c */
/* The jobs behind `after`, up to `until` or as many as are wanted at once. */
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
	return row[ROW_STATE].i >= RP_STATE_DONE;
}

/* slice.c: one walk over all ids of the source */
int rp__copy_walk(struct rp_copy *c);

#endif
