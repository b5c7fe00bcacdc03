/*
 * copy_slice.c - the walk of a copy: a slice of the source's jobs at a time, in
 * the order of their ids, is made the same in the target.
 *
 * The first walk and the last are one and the same: what is missing is put
 * there, what differs is replaced, what is the same in every field is left
 * alone and counted. So a copy that was interrupted just begins anew, and a
 * walk that finds all the same is the proof. Each slice is read in one short
 * statement and written in one commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 4000
#define MOST_SIZE (8 << 20)   /* bytes of payload, and one job more */
#define NARROW INT64_C(20000) /* ids that are looked at at once: */
#define WIDE INT64_C(1000000) /* more where there are few jobs */
#define FIRST_KEPT RP_STATE_DONE

#define SPARE_MS 60000 /* what will be dropped so soon is not copied */

/* Jobs of one side, ascending. */
struct jobs {
	rp_batch *memory; /* what the rows point to */
	struct rp_value *rows;
	size_t count, size;
	int64_t until; /* ids up to it were looked at */
};

/* What is to become of a job. */
enum { WANTED, UNKNOWN, SAME, RUNNING };

struct slice {
	struct jobs ours, theirs;
	unsigned char *fate;   /* of ours */
	struct rp_value *some; /* rows for one verb, */
	size_t *which;         /* and where they are in ours */
	size_t some_count;
	struct rp_value *gone; /* rows of `erase` */
	size_t gone_count;
};

static struct rp_value *
row_at(const struct jobs *jobs, size_t i)
{
	return jobs->rows + i * ROW_COLUMNS;
}

static int64_t
id_at(const struct jobs *jobs, size_t i)
{
	return row_at(jobs, i)[ROW_ID].i;
}

static int
is_kept(const struct rp_value *row)
{
	return row[ROW_STATE].i >= FIRST_KEPT;
}

/* ---- reading ---- */

static int
take_row(void *ctx, size_t number, const struct rp_value *columns)
{
	struct jobs *jobs = ctx;
	struct rp_value *row = row_at(jobs, jobs->count);

	(void)number;
	if (jobs->size >= MOST_SIZE || jobs->count == MOST_ROWS)
		return RP_ROW_STOP;
	for (int i = 0; i < ROW_COLUMNS; i++) {
		row[i] = columns[i];
		if (row[i].type != RP_TEXT && row[i].type != RP_BLOB)
			continue;
		row[i].data = rp__batch_text(jobs->memory, &columns[i]);
		if (!row[i].data)
			return RP_ENOMEM;
	}
	jobs->size += row[ROW_PAYLOAD].size;
	jobs->count++;
	return RP_ROW_TAKE;
}

/* The jobs behind `after`, up to `until` or as many as are wanted at once. */
static int
read_jobs(struct rp_copy *c, rp_conn *conn, struct jobs *jobs, int64_t after,
	  int64_t until)
{
	struct rp_value params[EXPORT_PARAMS] = {
		[EXPORT_QUEUES] = rp__text(c->names),
		[EXPORT_AFTER] = rp__int(after),
		[EXPORT_UNTIL] = rp__int(until),
		[EXPORT_MAX] = rp__int(MOST_ROWS),
		[EXPORT_SIZE] = rp__int(MOST_SIZE),
		[EXPORT_SPARE_MS] = rp__int(conn == c->from ? SPARE_MS : 0),
	};
	int r;

	rp_batch_free(jobs->memory);
	jobs->memory = NULL;
	jobs->count = jobs->size = 0;
	r = rp__batch_new(&jobs->memory);
	if (r == 0)
		r = rp__run(conn, RP_V_EXPORT, params, 1, take_row, jobs);
	if (r == RP_ENOMEM)
		rp__fail(&conn->error, r, "out of memory");
	jobs->until = until;
	if (jobs->count == MOST_ROWS || jobs->size >= MOST_SIZE)
		jobs->until = id_at(jobs, jobs->count - 1);
	return rp__copy_failed(c, conn, r);
}

/* ---- are they the same? ---- */

static int
equal(const struct rp_value *a, const struct rp_value *b)
{
	if (a->type != b->type)
		return 0;
	if (a->type == RP_INT)
		return a->i == b->i;
	return a->type == RP_NULL ||
	       (a->size == b->size && memcmp(a->data, b->data, a->size) == 0);
}

static int
all_equal(const struct rp_value *a, const struct rp_value *b)
{
	int i = 0;

	while (i < ROW_COLUMNS && equal(&a[i], &b[i]))
		i++;
	return i == ROW_COLUMNS;
}

static void
add_gone(struct slice *s, const struct rp_value *row, int64_t shift)
{
	struct rp_value *p = s->gone + ERASE_PARAMS * s->gone_count++;

	p[ERASE_ID] = rp__int(row[ROW_ID].i - shift);
	p[ERASE_CLAIM_NO] = row[ROW_CLAIM_NO];
	p[ERASE_KEPT] = rp__int(is_kept(row));
}

/* A job that the target has: the same here? What is spelled in another way may
 * yet be; the database says. Gone from here, it goes there too. */
static void
match(struct rp_copy *c, struct slice *s)
{
	size_t i = 0;

	for (size_t t = 0; t < s->theirs.count; t++) {
		const struct rp_value *there = row_at(&s->theirs, t);

		while (i < s->ours.count &&
		       id_at(&s->ours, i) < there[ROW_ID].i)
			i++;
		if (i == s->ours.count ||
		    id_at(&s->ours, i) != there[ROW_ID].i) {
			if (c->mirror)
				add_gone(s, there, 0);
		} else if (s->fate[i] == WANTED) {
			s->fate[i] = all_equal(row_at(&s->ours, i), there)
					     ? SAME
					     : UNKNOWN;
		}
	}
}

/* What is there and not the same, or runs in the source, is erased. */
static void
match_again(struct slice *s)
{
	size_t i = 0;

	for (size_t t = 0; t < s->theirs.count; t++) {
		const struct rp_value *there = row_at(&s->theirs, t);

		while (i < s->ours.count &&
		       id_at(&s->ours, i) < there[ROW_ID].i)
			i++;
		if (i == s->ours.count)
			return;
		if (id_at(&s->ours, i) != there->i || s->fate[i] == SAME)
			continue;
		add_gone(s, there, 0);
		if (s->fate[i] == UNKNOWN)
			s->fate[i] = WANTED;
	}
}

/* ---- some of the rows to a verb ---- */

static void
choose(struct slice *s, int fate, int kept)
{
	s->some_count = 0;
	for (size_t i = 0; i < s->ours.count; i++) {
		const struct rp_value *row = row_at(&s->ours, i);

		if (s->fate[i] != fate || is_kept(row) != kept)
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

/* Numbers in line are drawn behind what stands there. */
static int
reserve_line(struct rp_copy *c, const struct slice *s)
{
	int64_t largest = 0;

	for (size_t i = 0; i < s->ours.count; i++) {
		int64_t seq = row_at(&s->ours, i)[ROW_SEQ].i;

		if (s->fate[i] == WANTED && seq > largest)
			largest = seq;
	}
	return largest > c->seq_end ? rp__copy_reserve(c, 0, largest) : 0;
}

/* All is free there, but for what somebody put in meanwhile. */
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
			     "a job that was put into the target meanwhile has "
			     "the unique key of one that is to come: cancel "
			     "one of them, and run this again");
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

/* What was put there is read again, unless another walk will. */
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
				     "job %lld is not in the target as it was "
				     "put there",
				     (long long)id_at(&s->ours, i));
	return r;
}

/* If the target has more there than is read at once, the slice ends there. */
static int
read_theirs(struct rp_copy *c, struct slice *s, int64_t after, int64_t shift)
{
	int64_t until = s->ours.until + shift;
	int r = read_jobs(c, c->to, &s->theirs, after + shift, until);

	if (r < 0 || s->theirs.until == until)
		return r;
	s->ours.until = s->theirs.until - shift;
	while (s->ours.count &&
	       id_at(&s->ours, s->ours.count - 1) > s->theirs.until)
		s->ours.count--;
	return 0;
}

static int
put_slice(struct rp_copy *c, struct slice *s, int64_t after, int64_t shift)
{
	int r = rp__copy_under_way(c);

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
		c->changed += id_at(&s->ours, i) - shift <= c->checked_to;
	}
	return r == 0 && c->checked_to ? prove(c, s) : r;
}

/* What is in the target now leaves the source. */
static int
remove_slice(struct rp_copy *c, struct slice *s, int64_t shift)
{
	int r = rp__copy_failed(c, c->from, rp__begin(c->from, RP_BEGIN_WRITE));

	if (r < 0)
		return r;
	for (size_t i = 0; i < s->ours.count; i++)
		if (s->fate[i] != RUNNING)
			add_gone(s, row_at(&s->ours, i), shift);
	return rp__copy_end(c, c->from,
			    erase(c, c->from, s, &c->counts.removed));
}

static void
count_slice(struct rp_copy *c, const struct slice *s)
{
	for (size_t i = 0; i < s->ours.count; i++) {
		if (s->fate[i] == RUNNING)
			c->counts.running++;
		else if (is_kept(row_at(&s->ours, i)))
			c->counts.kept++;
		else
			c->counts.live++;
	}
}

/* Our jobs as they are to be there. */
static void
shift_jobs(const struct rp_copy *c, struct slice *s, int64_t shift)
{
	for (size_t i = 0; i < s->ours.count; i++) {
		struct rp_value *row = row_at(&s->ours, i);

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
	int r = rp__copy_failed(c, c->to, rp__begin(c->to, RP_BEGIN_WRITE));

	if (r < 0)
		return r;
	shift_jobs(c, s, shift);
	r = put_slice(c, s, after, shift);
	r = rp__copy_end(c, c->to, r);
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
	r = read_jobs(c, c->from, &s->ours, *at, last);
	if (r < 0)
		return r;
	if (!range && s->ours.count) {
		rp__copy_range_of(c, *at + 1, &last);
		return rp__copy_open_range(c, id_at(&s->ours, 0), last);
	}
	if (range)
		r = copy_slice(c, s, range->shift, *at);
	*at = s->ours.until;
	*width = s->ours.count > MOST_ROWS / 4 ? NARROW
		 : *width < WIDE               ? *width * 2
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
		r = rp__copy_ends(c, c->from, &c->source_end, NULL);
		c->counts.end = c->source_end;
		while (r == 0 && at < c->source_end)
			r = step(c, s, &at, &width);
		if (r == 0)
			r = rp__copy_ends(c, c->from, &c->source_end, NULL);
	} while (r == 0 && at < c->source_end);
	return r;
}

int
rp__copy_walk(struct rp_copy *c)
{
	size_t rows = MOST_ROWS * ROW_COLUMNS * sizeof(struct rp_value);
	struct slice s = {
		.ours.rows = malloc(rows),
		.theirs.rows = malloc(rows),
		.some = malloc(rows),
		.fate = malloc(MOST_ROWS),
		.which = malloc(MOST_ROWS * sizeof(size_t)),
		.gone = malloc(2 * MOST_ROWS * ERASE_PARAMS *
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
