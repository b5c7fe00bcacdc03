/*
 * ids.c - choose the ids of copied jobs, and keep the entries about a copy in
 * the table `meta` of both databases.
 *
 * In the target, a job's id is its id in the source plus a shift. The shift is
 * 0 if the target has never used that id, as is usual in a new database. The
 * shift belongs to a range of ids. All ids of a range are taken from the
 * target's sequence in one step, so no other job gets them. A copy that is run
 * again uses the same shift, so it finds the jobs that it has copied before.
 * Jobs that are enqueued in the source later extend the last range or start a
 * new one.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* On a server, the copy leaves a gap of this many ids after the target's last
 * id, and of this many positions after the target's last position in a ready
 * line. The gaps are for other clients, which may advance the target's
 * sequences while the copy reads them. */
#define CLEAR 1000

#define TAKEN_OVER "another run of this copy has taken over"

/* ---- records in `meta` ---- */

static int
take_text(void *ctx, size_t row, const struct rp_value *c)
{
	const struct rp_value *value = &c[META_GET_OUT_VALUE];
	char **text = ctx;

	(void)row;
	*text = strndup(value->data ? value->data : "", value->size);
	return *text ? RP_ROW_TAKE : RP_ENOMEM;
}

/* Read the record with this name into *ret, which the caller frees. *ret is
 * NULL if there is no such record. */
static int
read_note(struct rp_copy *c, rp_conn *conn, const char *name, char **ret)
{
	const struct rp_value params[META_GET_PARAMS] = {
		[META_GET_NAME] = rp__text(name),
	};
	char *text = NULL;
	int r = rp__copy_failed(
		c, conn,
		rp__run(conn, RP_V_META_GET, params, 1, take_text, &text));

	if (r < 0)
		free(text); /* the call may fail after it returned a row */
	else
		*ret = text;
	return r;
}

static int
write_note(struct rp_copy *c, rp_conn *conn, const char *name,
	   const char *value)
{
	const struct rp_value params[META_SET_PARAMS] = {
		[META_SET_NAME] = rp__text(name),
		[META_SET_VALUE] = rp__text(value),
	};

	return rp__copy_failed(
		c, conn, rp__run_once(conn, RP_V_META_SET, params, NULL, NULL));
}

static int
make_random(struct rp_copy *c, char to[33])
{
	uint64_t n[2];

	if (getrandom(n, sizeof(n), 0) != sizeof(n))
		return rp__fail(c->error, RP_EDB,
				"getrandom() failed: the copy needs random "
				"numbers");
	snprintf(to, 33, "%016" PRIx64 "%016" PRIx64, n[0], n[1]);
	return 0;
}

/* Fail if source and target are the same database, perhaps with different URLs.
 * To find out, write a note to the target, look for it in the source, and
 * delete it again. The note is written to the target, because the source must
 * not change if the copy is refused. */
int
rp__copy_check_different(struct rp_copy *c)
{
	char sign[33], *seen = NULL;
	int same, r = make_random(c, sign);

	if (r == 0)
		r = write_note(c, c->to, "copy check", sign);
	if (r == 0)
		r = read_note(c, c->from, "copy check", &seen);
	same = r == 0 && seen && strcmp(seen, sign) == 0;
	free(seen);
	if (r == 0)
		r = write_note(c, c->to, "copy check", NULL);
	return r == 0 && same ? rp__fail(c->error, RP_EINVAL,
					 "source and target are the same "
					 "database")
			      : r;
}

/* Make a random name for this run, and a random name for the source. The second
 * name is used only if the source has no name yet. */
int
rp__copy_make_names(struct rp_copy *c)
{
	int r = make_random(c, c->identity);

	return r < 0 ? r : make_random(c, c->run);
}

/* Store c->identity in the source as its name, in the transaction that is open
 * there. If the source has another name already, copy that name to c->identity.
 * The first call has `trial`, and its transaction is rolled back. If the second
 * call finds another name, it fails with RP_ETAKEN: another run has stored that
 * name in between. */
int
rp__copy_identify(struct rp_copy *c, int trial)
{
	const struct rp_value params[META_ADD_PARAMS] = {
		[META_ADD_NAME] = rp__text("copy identity"),
		[META_ADD_VALUE] = rp__text(c->identity),
	};
	char *known = NULL;
	int r = rp__copy_failed(
		c, c->from,
		rp__run(c->from, RP_V_META_ADD, params, 1, NULL, NULL));

	if (r == 0)
		r = read_note(c, c->from, "copy identity", &known);
	if (r == 0 && known && strcmp(known, c->identity) != 0) {
		if (!trial)
			r = rp__fail(c->error, RP_ETAKEN, TAKEN_OVER);
		snprintf(c->identity, sizeof(c->identity), "%s", known);
	}
	free(known);
	return r;
}

/* Begin a transaction on the target. Only one run at a time can have it open,
 * because each run writes the record "copy lock" in it. */
int
rp__copy_lock(struct rp_copy *c)
{
	int r = rp__copy_failed(c, c->to,
				rp__slice_begin(c->to, &c->to_slice, 0));

	if (r < 0)
		return r;
	r = write_note(c, c->to, "copy lock", c->run);
	return r < 0 ? rp__copy_end(c, c->to, r) : 0;
}

/* ---- progress: a record for each queue ---- */

static const char *const phases[] = { "never", "copying", "copied", "moving",
				      "moved" };
#define PHASES (sizeof(phases) / sizeof(*phases))

int
rp__copy_note_phase(struct rp_copy *c, const struct rp_copy_queue *q,
		    enum rp_phase phase)
{
	char name[200], value[80];

	snprintf(name, sizeof(name), "copy from %s: %s", c->identity, q->name);
	snprintf(value, sizeof(value), "%s %d %d %s", phases[phase],
		 q->source_paused, q->target_paused, c->run);
	return write_note(c, c->to, name, value);
}

/* Read a queue's progress, and the name of the run that recorded it. */
int
rp__copy_read_phase(struct rp_copy *c, struct rp_copy_queue *q, char run[40])
{
	char name[200], word[16] = "", *text;
	int r;

	*run = '\0';
	snprintf(name, sizeof(name), "copy from %s: %s", c->identity, q->name);
	r = read_note(c, c->to, name, &text);
	if (r < 0 || !text)
		return r;
	sscanf(text, "%15s %d %d %39s", word, &q->source_paused,
	       &q->target_paused, run);
	for (size_t i = 0; i < PHASES; i++)
		if (strcmp(word, phases[i]) == 0)
			q->phase = (enum rp_phase)i;
	free(text);
	return 0;
}

/* After a queue has moved away, the source is paused only for that reason. If a
 * record of an earlier move into the source remained, the queue could not come
 * back: the pause would be taken for a pause by a user. */
int
rp__copy_forget_moves(struct rp_copy *c)
{
	const struct rp_value params[MOVES_FORGET_PARAMS] = {
		[MOVES_FORGET_QUEUES] = rp__text(c->names),
	};

	return rp__copy_failed(
		c, c->from,
		rp__run_once(c->from, RP_V_MOVES_FORGET, params, NULL, NULL));
}

/* Check that no other run of this copy has taken over. If the same copy is
 * started again during a run, the new run takes over. The old run must notice
 * this before it changes the target. Otherwise it might erase jobs from the
 * target that the new run has moved there, because such jobs are no longer in
 * the source. */
int
rp__copy_under_way(struct rp_copy *c)
{
	struct rp_copy_queue q;
	char run[40];
	int r = 0;

	for (size_t i = 0; i < c->queues_count && r == 0; i++) {
		q = c->queues[i];
		r = rp__copy_read_phase(c, &q, run);
		if (r == 0 && strcmp(run, c->run) != 0)
			r = rp__fail(c->error, RP_ETAKEN, TAKEN_OVER);
	}
	return r;
}

/* Check that no other run has taken over, as rp__copy_under_way() does, but
 * faster. Each run stores its name in the record "copy lock" when it begins. If
 * that record has our name, no run has begun since this run began, so the
 * records of the queues are not read. */
int
rp__copy_still_under_way(struct rp_copy *c)
{
	char *last;
	int ours, r = read_note(c, c->to, "copy lock", &last);

	if (r < 0)
		return r;
	ours = last && strcmp(last, c->run) == 0;
	free(last);
	return ours ? 0 : rp__copy_under_way(c);
}

/* ---- ranges ---- */

static int
read_number(struct rp_copy *c, rp_conn *conn, enum rp_verb verb, int64_t *ret)
{
	return rp__copy_failed(
		c, conn, rp__run(conn, verb, NULL, 1, rp__first_int, ret));
}

int
rp__copy_last_id(struct rp_copy *c, rp_conn *conn, int64_t *ret)
{
	return read_number(c, conn, RP_V_LAST_ID, ret);
}

int
rp__copy_reserve(struct rp_copy *c, int64_t id, int64_t seq)
{
	const struct rp_value params[RESERVE_PARAMS] = {
		[RESERVE_ID] = rp__int(id),
		[RESERVE_SEQ] = rp__int(seq),
	};
	int r = rp__copy_failed(
		c, c->to, rp__run(c->to, RP_V_RESERVE, params, 1, NULL, NULL));

	if (r == 0 && seq > c->seq_end)
		c->seq_end = seq;
	return r;
}

static void
name_ranges(const struct rp_copy *c, char to[80])
{
	snprintf(to, 80, "copy from %s", c->identity);
}

static int
save_ranges(struct rp_copy *c)
{
	size_t room = 80 * (c->ranges_count + 1), used;
	char name[80], *text = malloc(room);
	int r;

	if (!text)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	used = (size_t)snprintf(text, room, "%" PRId64, c->seq_shift);
	for (size_t i = 0; i < c->ranges_count; i++)
		used += (size_t)snprintf(text + used, room - used,
					 ", %" PRId64 "..%" PRId64 " %+" PRId64,
					 c->ranges[i].first, c->ranges[i].last,
					 c->ranges[i].shift);
	name_ranges(c, name);
	r = write_note(c, c->to, name, text);
	free(text);
	return r;
}

static struct rp_range *
insert_range(struct rp_copy *c, size_t at)
{
	struct rp_range *ranges =
		realloc(c->ranges, (c->ranges_count + 1) * sizeof(*ranges));

	if (!ranges)
		return NULL;
	c->ranges = ranges;
	memmove(ranges + at + 1, ranges + at,
		(c->ranges_count++ - at) * sizeof(*ranges));
	return ranges + at;
}

/* Read the ranges of ids that earlier runs have recorded. Returns RP_ENOENT if
 * nothing was ever copied from this source. */
int
rp__copy_load_ranges(struct rp_copy *c)
{
	char name[80], *text;
	const char *next;
	struct rp_range range;
	int r;

	name_ranges(c, name);
	r = read_note(c, c->to, name, &text);
	if (r < 0 || !text)
		return r < 0 ? r : RP_ENOENT;
	c->ranges_count = 0;
	c->seq_shift = strtoll(text, NULL, 10);
	for (next = strchr(text, ','); next && r == 0;
	     next = strchr(next + 1, ',')) {
		struct rp_range *to;

		if (sscanf(next, ", %" SCNd64 "..%" SCNd64 " %" SCNd64,
			   &range.first, &range.last, &range.shift) != 3)
			r = rp__fail(
				c->error, RP_EDAMAGED,
				"the target's record of this copy is damaged");
		else if (!(to = insert_range(c, c->ranges_count)))
			r = rp__fail(c->error, RP_ENOMEM, "out of memory");
		else
			*to = range;
	}
	free(text);
	return r;
}

/* Prepare a copy that does not go on with an earlier one. The jobs get
 * positions in the ready line behind those of the jobs that the target has,
 * because an earlier move has moved these first. A source whose jobs were all
 * moved may count its positions from 1 again. */
int
rp__copy_start_ranges(struct rp_copy *c)
{
	int64_t seq = 0, source_seq = 0;
	int r = read_number(c, c->from, RP_V_LAST_SEQ, &source_seq);

	if (r == 0)
		r = read_number(c, c->to, RP_V_LAST_SEQ, &seq);
	c->seq_shift =
		seq && c->to->backend->shares_sequences ? seq + CLEAR : seq;
	if (r == 0)
		r = rp__copy_reserve(c, 0, c->seq_shift + source_seq);
	return r < 0 ? r : save_ranges(c);
}

/* Add a range for the source's ids from `id` to `last`. None of these ids is in
 * a range yet. */
static int
add_range(struct rp_copy *c, int64_t id, int64_t last)
{
	int64_t given = 0, clear, shift;
	struct rp_range *below = NULL, *to;
	size_t at = 0;
	int r = rp__copy_last_id(c, c->to, &given);

	if (r < 0)
		return r;
	clear = given && c->to->backend->shares_sequences ? CLEAR : 0;
	while (at < c->ranges_count && c->ranges[at].first < id)
		below = &c->ranges[at++];
	if (below && given == below->last + below->shift) {
		shift = below->shift;
		below->last = last;
	} else {
		shift = given < id ? 0 : given + clear + 1 - id;
		to = insert_range(c, at);
		if (!to)
			return rp__fail(c->error, RP_ENOMEM, "out of memory");
		*to = (struct rp_range){ id, last, shift };
	}
	if (given + clear < last + shift)
		clear = last + shift - given;
	r = rp__copy_reserve(c, given + clear, 0);
	return r < 0 ? r : save_ranges(c);
}

int
rp__copy_open_range(struct rp_copy *c, int64_t id, int64_t last)
{
	int r = rp__copy_lock(c);

	if (r < 0)
		return r;
	r = rp__copy_under_way(c);
	/* Read the ranges again, because another run may have added some. */
	if (r == 0)
		r = rp__copy_load_ranges(c);
	if (r == RP_ENOENT)
		r = rp__fail(c->error, RP_EDAMAGED,
			     "the target's record of this copy is missing");
	for (size_t i = 0; r == 0 && i < c->ranges_count; i++)
		if (c->ranges[i].first <= id && id <= c->ranges[i].last)
			return rp__copy_end(c, c->to, 0);
	if (r == 0)
		r = add_range(c, id, last);
	return rp__copy_end(c, c->to, r);
}

/* Schedules and taken unique keys contain ids of jobs that may be deleted. Such
 * an id can be smaller than the ids of all jobs that still exist. Later it
 * would get a range of its own, with another shift than these jobs. So, unless
 * the smallest such id has a range already, add a range that begins at the
 * smallest id of all. */
int
rp__copy_open_first(struct rp_copy *c)
{
	const struct rp_value queues[LEAST_ID_PARAMS] = {
		[LEAST_ID_QUEUES] = rp__text(c->names),
	};
	struct rp_value params[EXPORT_PARAMS] = {
		[EXPORT_QUEUES] = rp__text(c->names),
		[EXPORT_AFTER] = rp__int(0),
		[EXPORT_MAX] = rp__int(1),
		[EXPORT_SIZE] = rp__int(1),
		[EXPORT_SPARE_MS] = rp__int(0),
	};
	int64_t least = 0, job = 0, last;
	int r = rp__copy_last_id(c, c->from, &c->source_end);

	if (r == 0)
		r = rp__copy_failed(c, c->from,
				    rp__run(c->from, RP_V_LEAST_ID, queues, 1,
					    rp__first_int, &least));
	if (r < 0 || !least || rp__copy_range_of(c, least, &last))
		return r;
	params[EXPORT_UNTIL] = rp__int(least);
	r = rp__copy_failed(
		c, c->from,
		rp__run(c->from, RP_V_EXPORT, params, 1, rp__first_int, &job));
	if (job && !rp__copy_range_of(c, job, &last))
		least = job;
	rp__copy_range_of(c, least, &last);
	return r < 0 ? r : rp__copy_open_range(c, least, last);
}

/* Return the range that contains this id, or NULL. *ret_last is set to the
 * largest id for which this function returns the same result. */
const struct rp_range *
rp__copy_range_of(const struct rp_copy *c, int64_t id, int64_t *ret_last)
{
	*ret_last = c->source_end;
	for (size_t i = 0; i < c->ranges_count; i++) {
		const struct rp_range *range = &c->ranges[i];

		if (id <= range->last) {
			*ret_last = id < range->first ? range->first - 1
						      : range->last;
			return id < range->first ? NULL : range;
		}
	}
	return NULL;
}
