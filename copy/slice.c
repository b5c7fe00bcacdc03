/*
 * slice.c - do one walk of a copy: make the target's jobs equal to the source's
 * jobs, slice by slice, in the order of their ids.
 *
 * Each walk inserts missing jobs, replaces jobs that differ, and counts jobs
 * that are equal in every field. So an interrupted copy just starts again, and
 * a walk that finds all jobs equal proves that the copy is complete. Each slice
 * is read by one short statement and written in one commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#define NARROW INT64_C(20000) /* largest range of ids in one read */
/* the largest range of ids in one read, if only few of the ids are in use */
#define WIDE INT64_C(1000000)

/* The state of a job of the source. WANTED: the job will be inserted into the
 * target. UNKNOWN: the job is in the target, and perhaps not equal. SAME: the
 * job is in the target, and equal. RUNNING: the job is not copied. */
enum { WANTED, UNKNOWN, SAME, RUNNING };

struct slice {
	struct rp_jobs ours, theirs;
	/* WANTED, UNKNOWN, SAME or RUNNING, for each job of `ours` */
	unsigned char *fate;
	struct rp_value *some; /* rows of `ours`, chosen for one statement */
	size_t *which;         /* the index in `ours` of each row of `some` */
	size_t some_count;
	/* parameters for erase.sql, one row for each job */
	struct rp_value *gone;
	size_t gone_count;
};

static void
add_gone(struct slice *s, const struct rp_value *row, int64_t shift)
{
	struct rp_value *p = s->gone + ERASE_PARAMS * s->gone_count++;

	p[ERASE_ID] = rp__int(row[ROW_ID].i - shift);
	p[ERASE_CLAIM_NO] = row[ROW_CLAIM_NO];
	p[ERASE_KEPT] = rp__int(rp__copy_is_kept(row));
}

/* Move *i to the source's first job whose id is at least `id`. Returns 1 if
 * this job has the id. */
static int
find_ours(const struct slice *s, size_t *i, int64_t id)
{
	while (*i < s->ours.count && rp__copy_id(&s->ours, *i) < id)
		++*i;
	return *i < s->ours.count && rp__copy_id(&s->ours, *i) == id;
}

/* Compare the source's jobs (`ours`) with the target's (`theirs`). Jobs may be
 * equal although their values are written differently; the database compares
 * such jobs later. If c->mirror is set, jobs of the target that are missing
 * from the source are marked to be erased. */
static void
match(struct rp_copy *c, struct slice *s)
{
	size_t i = 0;

	for (size_t t = 0; t < s->theirs.count; t++) {
		const struct rp_value *there = rp__copy_row(&s->theirs, t);

		if (!find_ours(s, &i, there[ROW_ID].i)) {
			if (c->mirror)
				add_gone(s, there, 0);
		} else if (s->fate[i] == WANTED) {
			s->fate[i] =
				rp__copy_equal(rp__copy_row(&s->ours, i), there)
					? SAME
					: UNKNOWN;
		}
	}
}

/* Choose the target's jobs that must be erased. A job must be erased if it
 * differs from the source's job with the same id, or if that job is running in
 * the source. */
static void
match_again(struct slice *s)
{
	size_t i = 0;

	for (size_t t = 0; t < s->theirs.count; t++) {
		const struct rp_value *there = rp__copy_row(&s->theirs, t);

		if (!find_ours(s, &i, there[ROW_ID].i) || s->fate[i] == SAME)
			continue;
		add_gone(s, there, 0);
		if (s->fate[i] == UNKNOWN)
			s->fate[i] = WANTED;
	}
}

/* ---- running a statement for some of the rows ---- */

static void
choose(struct slice *s, int fate, int kept)
{
	s->some_count = 0;
	for (size_t i = 0; i < s->ours.count; i++) {
		const struct rp_value *row = rp__copy_row(&s->ours, i);

		if (s->fate[i] != fate || rp__copy_is_kept(row) != kept)
			continue;
		memcpy(s->some + s->some_count * ROW_COLUMNS, row,
		       ROW_COLUMNS * sizeof(*s->some));
		s->which[s->some_count++] = i;
	}
}

static int
take_same(void *ctx, size_t number, const struct rp_value *columns)
{
	struct slice *s = ctx;

	(void)columns;
	s->fate[s->which[number]] = SAME;
	return RP_ROW_TAKE;
}

static int
run_on(struct rp_copy *c, struct slice *s, int fate, int kept,
       enum rp_verb verb, rp_row_fn *row)
{
	choose(s, fate, kept);
	return s->some_count == 0
		       ? 0
		       : rp__copy_failed(c, c->to,
					 rp__run(c->to, verb, s->some,
						 s->some_count, row, s));
}

static int
compare(struct rp_copy *c, struct slice *s)
{
	int r = run_on(c, s, UNKNOWN, 0, RP_V_SAME_LIVE, take_same);

	return r < 0 ? r : run_on(c, s, UNKNOWN, 1, RP_V_SAME_KEPT, take_same);
}

/* Reserve the positions that the inserted jobs will have in the target's ready
 * line. Then the jobs that clients enqueue in the target get later
 * positions. */
static int
reserve_line(struct rp_copy *c, const struct slice *s)
{
	int64_t largest = 0;

	for (size_t i = 0; i < s->ours.count; i++) {
		int64_t seq = rp__copy_row(&s->ours, i)[ROW_SEQ].i;

		if (s->fate[i] == WANTED && seq > largest)
			largest = seq;
	}
	return largest > c->seq_end ? rp__copy_reserve(c, 0, largest) : 0;
}

/* Insert the WANTED jobs. Their ids are free. A unique key can conflict with a
 * job that an earlier move brought, or that a client has enqueued in the
 * target. */
static int
insert(struct rp_copy *c, struct slice *s)
{
	int r = reserve_line(c, s);

	if (r == 0)
		r = run_on(c, s, WANTED, 0, RP_V_IMPORT_LIVE, NULL);
	if (r == 0)
		r = run_on(c, s, WANTED, 1, RP_V_IMPORT_KEPT, NULL);
	if (r == RP_EDB && (strcmp(c->error->sqlstate, "23505") == 0 ||
			    (c->error->native & 0xff) == 19))
		r = rp__fail(c->error, RP_ETAKEN,
			     "a job in the target has the unique key of a job "
			     "of the source: cancel one of them, and run the "
			     "command again");
	return r;
}

static int
erase(struct rp_copy *c, rp_conn *conn, struct slice *s, int64_t *count)
{
	int r = 0;

	if (s->gone_count)
		r = rp__run(conn, RP_V_ERASE, s->gone, s->gone_count, rp__count,
			    count);
	s->gone_count = 0;
	return rp__copy_failed(c, conn, r);
}

/* ---- a slice ---- */

/* Read the inserted jobs back from the target, and check that they are equal to
 * the source's jobs. This is not needed in a walk that is followed by another
 * walk, because the next walk compares all jobs anyway. */
static int
prove(struct rp_copy *c, struct slice *s)
{
	int r;

	for (size_t i = 0; i < s->ours.count; i++)
		if (s->fate[i] == WANTED)
			s->fate[i] = UNKNOWN;
	r = compare(c, s);
	for (size_t i = 0; i < s->ours.count && r == 0; i++)
		if (s->fate[i] == UNKNOWN)
			r = rp__fail(c->error, RP_EDB,
				     "job %lld in the target differs from the "
				     "job that was written there",
				     (long long)rp__copy_id(&s->ours, i));
	return r;
}

/* Read the target's jobs. If one read does not return all of them, end the
 * slice at the last job that was read. */
static int
read_theirs(struct rp_copy *c, struct slice *s, int64_t after, int64_t shift)
{
	int64_t until = s->ours.until + shift;
	int r = rp__copy_read(c, c->to, &s->theirs, after + shift, until);

	if (r < 0 || s->theirs.until == until)
		return r;
	s->ours.until = s->theirs.until - shift;
	while (s->ours.count &&
	       rp__copy_id(&s->ours, s->ours.count - 1) > s->theirs.until)
		s->ours.count--;
	return 0;
}

static int
put_slice(struct rp_copy *c, struct slice *s, int64_t after, int64_t shift)
{
	int r = rp__copy_still_under_way(c);

	if (r == 0)
		r = read_theirs(c, s, after, shift);
	if (r < 0)
		return r;
	match(c, s);
	r = compare(c, s);
	if (r < 0)
		return r;
	match_again(s);
	r = erase(c, c->to, s, &c->changed);
	if (r == 0)
		r = insert(c, s);
	for (size_t i = 0; i < s->ours.count; i++) {
		if (s->fate[i] != WANTED)
			continue;
		c->counts.written++;
		c->changed += rp__copy_id(&s->ours, i) - shift <= c->checked_to;
	}
	return r == 0 && c->checked_to ? prove(c, s) : r;
}

static int
begin(struct rp_copy *c, rp_conn *conn, struct rp_slice *slice)
{
	return rp__copy_failed(c, conn, rp__slice_begin(conn, slice, 0));
}

/* End a slice, that is, one of the copy's transactions. If `r` is negative,
 * c->error is already set. If the database allows only one writer at a time, a
 * slice keeps other writers out. So the next slice gets fewer jobs if this
 * slice worked longer than RP_SLICE_US, and more jobs if this slice worked for
 * a much shorter time. */
static int
end(struct rp_copy *c, rp_conn *conn, struct rp_slice *slice, int r)
{
	int ended = rp__slice_end(conn, slice, r);
	int alone = conn->backend->one_writer;

	if (alone && slice->worked_us > RP_SLICE_US &&
	    c->parts > RP_COPY_PARTS_LEAST)
		c->parts /= 2;
	else if (alone && slice->worked_us < RP_SLICE_US / 4 &&
		 c->parts < RP_COPY_PARTS_MOST)
		c->parts *= 2;
	return r < 0 ? r : rp__copy_failed(c, conn, ended);
}

/* Erase from the source the jobs of this slice, which the target has now.
 * Running jobs stay. */
static int
remove_slice(struct rp_copy *c, struct slice *s, int64_t shift)
{
	int r = begin(c, c->from, &c->from_slice);

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->ours.count; i++)
		if (s->fate[i] != RUNNING)
			add_gone(s, rp__copy_row(&s->ours, i), shift);
	r = erase(c, c->from, s, &c->counts.removed);
	return end(c, c->from, &c->from_slice, r);
}

static void
count_slice(struct rp_copy *c, const struct slice *s)
{
	for (size_t i = 0; i < s->ours.count; i++) {
		if (s->fate[i] == RUNNING)
			c->counts.running++;
		else if (rp__copy_is_kept(rp__copy_row(&s->ours, i)))
			c->counts.kept++;
		else
			c->counts.live++;
	}
}

/* Change the rows that were read from the source, in memory: give them the ids
 * and positions that their jobs must have in the target. */
static void
shift_jobs(const struct rp_copy *c, struct slice *s, int64_t shift)
{
	for (size_t i = 0; i < s->ours.count; i++) {
		struct rp_value *row = rp__copy_row(&s->ours, i);

		row[ROW_ID].i += shift;
		if (row[ROW_SEQ].type == RP_INT)
			row[ROW_SEQ].i += c->seq_shift;
		s->fate[i] =
			row[ROW_STATE].i == RP_STATE_RUNNING ? RUNNING : WANTED;
	}
}

static int
copy_slice(struct rp_copy *c, struct slice *s, int64_t shift, int64_t after)
{
	int r = begin(c, c->to, &c->to_slice);

	if (r < 0)
		return r;
	shift_jobs(c, s, shift);
	r = put_slice(c, s, after, shift);
	r = end(c, c->to, &c->to_slice, r);
	if (r == 0 && c->removing && s->ours.count)
		r = remove_slice(c, s, shift);
	if (r == 0)
		count_slice(c, s);
	return r;
}

/* ---- the walk ---- */

static int
step(struct rp_copy *c, struct slice *s, int64_t *at, int64_t *width)
{
	int64_t last;
	const struct rp_range *range = rp__copy_range_of(c, *at + 1, &last);
	int r;

	if (last > c->source_end)
		last = c->source_end;
	if (last - *at > *width)
		last = *at + *width;
	r = rp__copy_read(c, c->from, &s->ours, *at, last);
	if (r < 0)
		return r;
	if (!range && s->ours.count) {
		rp__copy_range_of(c, *at + 1, &last);
		return rp__copy_open_range(c, rp__copy_id(&s->ours, 0), last);
	}
	if (range)
		r = copy_slice(c, s, range->shift, *at);
	*at = s->ours.until;
	*width = s->ours.count > s->ours.most_rows / 4 ? NARROW
		 : *width < WIDE                       ? *width * 2
						       : WIDE;
	c->counts.position = *at;
	return r < 0 ? r : rp__copy_progress(c, -1);
}

static int
walk(struct rp_copy *c, struct slice *s)
{
	int64_t at = 0, width = NARROW;
	int r = 0;

	c->changed = c->counts.running = 0;
	do {
		r = rp__copy_last_id(c, c->from, &c->source_end);
		c->counts.end = c->source_end;
		while (r == 0 && at < c->source_end)
			r = step(c, s, &at, &width);
		if (r == 0)
			r = rp__copy_last_id(c, c->from, &c->source_end);
	} while (r == 0 && at < c->source_end);
	return r;
}

int
rp__copy_walk(struct rp_copy *c)
{
	size_t rows = RP_COPY_ROWS * ROW_COLUMNS * sizeof(struct rp_value);
	struct slice s = {
		.ours.rows = malloc(rows),
		.theirs.rows = malloc(rows),
		.some = malloc(rows),
		.fate = malloc(RP_COPY_ROWS),
		.which = malloc(RP_COPY_ROWS * sizeof(size_t)),
		.gone = malloc(2 * RP_COPY_ROWS * ERASE_PARAMS *
			       sizeof(struct rp_value)),
	};
	int r = s.ours.rows && s.theirs.rows && s.some && s.fate && s.which &&
				s.gone
			? walk(c, &s)
			: rp__fail(c->error, RP_ENOMEM, "out of memory");

	rp_batch_free(s.ours.memory);
	rp_batch_free(s.theirs.memory);
	free(s.ours.rows);
	free(s.theirs.rows);
	free(s.some);
	free(s.fate);
	free(s.which);
	free(s.gone);
	return r;
}
