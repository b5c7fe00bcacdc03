/*
 * schedules.c - copy schedules to another database, or move them there.
 *
 * A schedule fires in only one of the two databases, so each of its instants
 * fires once. After a copy, the schedule fires in the source and is paused in
 * the target.
 *
 * A move transfers a schedule after all jobs, in four transactions:
 *   1. It stops the schedule in the source.
 *   2. It writes the schedule to the target, with its last and next instants.
 *      There the schedule is stopped, too.
 *   3. It deletes the schedule from the source.
 *   4. It starts the schedule in the target.
 * If the move is killed after one of the steps 1 to 3, the schedule does not
 * fire in any database, and the next run of the move continues. The column
 * `standby` records the last step that was done.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

/* The fields of a schedule that are copied. The verb `schedule_export` returns
 * each field as a column, and the verb `schedule_import` takes it as a
 * parameter. */
#define FIELDS(X)                                                              \
	X(NAME)                                                                \
	X(QUEUE)                                                               \
	X(SPEC)                                                                \
	X(ZONE)                                                                \
	X(CONTENT)                                                             \
	X(KIND)                                                                \
	X(HEADERS)                                                             \
	X(PRIORITY)                                                            \
	X(MISSED)                                                              \
	X(OVERLAP)                                                             \
	X(ANCHOR)                                                              \
	X(NEXT_AT)                                                             \
	X(LAST_AT)                                                             \
	X(LAST_JOB_ID)                                                         \
	X(LAST_ERROR)                                                          \
	X(PAUSED_AT)                                                           \
	X(CREATED_AT)
#define FIELD(NAME) { SCHEDULE_IMPORT_##NAME, SCHEDULE_EXPORT_OUT_##NAME },
static const struct {
	int param, column;
} fields[] = { FIELDS(FIELD) };
#define FIELDS_COUNT (sizeof(fields) / sizeof(*fields))

/* ---- reading ---- */

static int
take_schedule(void *ctx, size_t number, const struct rp_value *columns)
{
	struct rp_copy_schedules *s = ctx;
	struct rp_value *row =
		realloc(s->rows,
			(s->count + 1) * SCHEDULE_IMPORT_PARAMS * sizeof(*row));

	(void)number;
	if (!row)
		return RP_ENOMEM;
	s->rows = row;
	row += s->count * SCHEDULE_IMPORT_PARAMS;
	for (size_t i = 0; i < FIELDS_COUNT; i++)
		if (rp__batch_value(s->memory, &row[fields[i].param],
				    &columns[fields[i].column]) < 0)
			return RP_ENOMEM;
	s->count++;
	return RP_ROW_TAKE;
}

void
rp__copy_clear_schedules(struct rp_copy *c)
{
	rp_batch_free(c->schedules.memory);
	free(c->schedules.rows);
	c->schedules = (struct rp_copy_schedules){ NULL, NULL, 0 };
}

/* Return the names of the queues whose schedules are copied. Null means all
 * schedules, even those whose queue does not exist yet. */
static struct rp_value
which_queues(const struct rp_copy *c)
{
	return rp__text(c->options.queues ? c->names : NULL);
}

int
rp__copy_read_schedules(struct rp_copy *c, int leaving)
{
	const struct rp_value params[SCHEDULE_EXPORT_PARAMS] = {
		[SCHEDULE_EXPORT_QUEUES] = which_queues(c),
		[SCHEDULE_EXPORT_LEAVING] = rp__int(leaving),
	};
	int r;

	rp__copy_clear_schedules(c);
	if (rp__batch_new(&c->schedules.memory) < 0)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	r = rp__run(c->from, RP_V_SCHEDULE_EXPORT, params, 1, take_schedule,
		    &c->schedules);
	return rp__copy_failed(c, c->from, r);
}

/* ---- writing ---- */

static int
run_on_standbys(struct rp_copy *c, rp_conn *conn, enum rp_verb verb,
		const char *standby)
{
	const struct rp_value params[SCHEDULE_ERASE_PARAMS] = {
		[STANDBYS_QUEUES] = which_queues(c),
		[STANDBYS_STANDBY] = rp__text(standby),
	};

	return rp__copy_failed(c, conn,
			       rp__run_once(conn, verb, params, NULL, NULL));
}

static void
name_standby(const struct rp_copy *c, const char *word, char to[80])
{
	snprintf(to, 80, "%s %s", word, c->identity);
}

/* Return the id that the schedule's last job has in the target, or null if the
 * target does not have this job. */
static struct rp_value
last_job(const struct rp_copy *c, const struct rp_value *id)
{
	int64_t last;
	const struct rp_range *range =
		id->type == RP_INT ? rp__copy_range_of(c, id->i, &last) : NULL;

	return range ? rp__int(id->i + range->shift) : rp__text(NULL);
}

static int
write_one(struct rp_copy *c, const struct rp_value *schedule,
	  const char *standby)
{
	struct rp_value row[SCHEDULE_IMPORT_PARAMS];
	struct rp_spec spec;
	char sets[RP_SETS_SIZE], text[RP_MOST_SPEC + 1];
	int64_t id = 0;
	int r;

	memcpy(row, schedule, sizeof(row));
	snprintf(text, sizeof(text), "%.*s",
		 (int)row[SCHEDULE_IMPORT_SPEC].size,
		 (const char *)row[SCHEDULE_IMPORT_SPEC].data);
	r = rp__spec_parse(text, &spec, c->error);
	if (r < 0)
		return r;
	rp__schedule_sets(&spec, sets);
	row[SCHEDULE_IMPORT_LAST_JOB_ID] =
		last_job(c, &row[SCHEDULE_IMPORT_LAST_JOB_ID]);
	row[SCHEDULE_IMPORT_SETS] = rp__text(sets);
	row[SCHEDULE_IMPORT_STANDBY] = rp__text(standby);
	row[SCHEDULE_IMPORT_ORIGIN] = rp__text(c->identity);
	r = rp__copy_failed(c, c->to,
			    rp__run(c->to, RP_V_SCHEDULE_IMPORT, row, 1,
				    rp__first_int, &id));
	return r == 0 && !id
		       ? rp__fail(c->error, RP_ETAKEN,
				  "the target has a schedule named %.*s, which "
				  "is not from this copy or was resumed: "
				  "remove it there, or do not copy its queue",
				  (int)row[SCHEDULE_IMPORT_NAME].size,
				  (const char *)row[SCHEDULE_IMPORT_NAME].data)
		       : r;
}

int
rp__copy_write_schedules(struct rp_copy *c, int moving)
{
	char copied[80], standby[80];
	int r;

	name_standby(c, "copied", copied);
	name_standby(c, moving ? "moved" : "copied", standby);
	/* Delete the schedules that were copied earlier, because some of them
	 * may have been removed from the source since then. */
	r = run_on_standbys(c, c->to, RP_V_SCHEDULE_ERASE, copied);
	for (size_t i = 0; i < c->schedules.count && r == 0; i++)
		r = write_one(c, c->schedules.rows + i * SCHEDULE_IMPORT_PARAMS,
			      standby);
	if (r == 0)
		c->counts.schedules = (int64_t)c->schedules.count;
	return r;
}

/* ---- handing over ---- */

int
rp__copy_leave_schedules(struct rp_copy *c)
{
	const struct rp_value params[SCHEDULE_LEAVE_PARAMS] = {
		[SCHEDULE_LEAVE_QUEUES] = which_queues(c),
	};

	return rp__copy_failed(
		c, c->from,
		rp__run_once(c->from, RP_V_SCHEDULE_LEAVE, params, NULL, NULL));
}

int
rp__copy_remove_schedules(struct rp_copy *c)
{
	return run_on_standbys(c, c->from, RP_V_SCHEDULE_ERASE, "leaving");
}

/* Read schedules from the source, and write them to the target in one
 * transaction. */
int
rp__copy_put_schedules(struct rp_copy *c, int moving)
{
	int r = rp__copy_read_schedules(c, moving);

	if (r == 0)
		r = rp__copy_lock(c);
	if (r < 0)
		return r;
	r = rp__copy_under_way(c);
	if (r == 0)
		r = rp__copy_write_schedules(c, moving);
	return rp__copy_end(c, c->to, r);
}

int
rp__copy_hand_over_schedules(struct rp_copy *c)
{
	int r = rp__copy_leave_schedules(c);

	if (r == 0)
		r = rp__copy_put_schedules(c, 1);
	return r < 0 ? r : rp__copy_remove_schedules(c);
}

int
rp__copy_start_schedules(struct rp_copy *c)
{
	char moved[80];

	name_standby(c, "moved", moved);
	return run_on_standbys(c, c->to, RP_V_SCHEDULE_ARRIVE, moved);
}
