/*
 * jobs.c - read the jobs of the source or of the target of a copy, a slice at a
 * time.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "copy.h"

#include <string.h>

/* A read stops after this many bytes of payload. The last job of the read may
 * exceed this limit. */
#define MOST_SIZE (8 << 20)
/* Kept jobs that a sweep will delete within this time, in ms, are not
 * copied. */
#define SPARE_MS 60000

static int
take_row(void *ctx, size_t number, const struct rp_value *columns)
{
	struct rp_jobs *jobs = ctx;
	struct rp_value *row = rp__copy_row(jobs, jobs->count);

	(void)number;
	if (jobs->size >= jobs->most_size || jobs->count == jobs->most_rows)
		return RP_ROW_STOP;
	for (int i = 0; i < ROW_COLUMNS; i++)
		if (rp__batch_value(jobs->memory, &row[i], &columns[i]) < 0)
			return RP_ENOMEM;
	jobs->size += row[ROW_PAYLOAD].size;
	jobs->count++;
	return RP_ROW_TAKE;
}

int
rp__copy_read(struct rp_copy *c, rp_conn *conn, struct rp_jobs *jobs,
	      int64_t after, int64_t until)
{
	struct rp_value params[EXPORT_PARAMS];
	int r;

	jobs->most_rows = RP_COPY_ROWS * c->parts / RP_COPY_PARTS;
	jobs->most_size = MOST_SIZE * c->parts / RP_COPY_PARTS;
	params[EXPORT_QUEUES] = rp__text(c->names);
	params[EXPORT_AFTER] = rp__int(after);
	params[EXPORT_UNTIL] = rp__int(until);
	params[EXPORT_MAX] = rp__int((int64_t)jobs->most_rows);
	params[EXPORT_SIZE] = rp__int((int64_t)jobs->most_size);
	params[EXPORT_SPARE_MS] = rp__int(conn == c->from ? SPARE_MS : 0);
	rp_batch_free(jobs->memory);
	jobs->memory = NULL;
	jobs->count = jobs->size = 0;
	if (rp__batch_new(&jobs->memory) < 0)
		return rp__fail(c->error, RP_ENOMEM, "out of memory");
	r = rp__run(conn, RP_V_EXPORT, params, 1, take_row, jobs);
	jobs->until = until;
	if (jobs->count == jobs->most_rows || jobs->size >= jobs->most_size)
		jobs->until = rp__copy_id(jobs, jobs->count - 1);
	return rp__copy_failed(c, conn, r);
}

/* ---- comparing jobs ---- */

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

int
rp__copy_equal(const struct rp_value *a, const struct rp_value *b)
{
	int i = 0;

	while (i < ROW_COLUMNS && equal(&a[i], &b[i]))
		i++;
	return i == ROW_COLUMNS;
}
