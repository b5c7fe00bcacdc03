/*
 * grouped.c - the operations to measure, on a queue with a group limit. Each
 * job belongs to one of many groups, or all jobs belong to the same group.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "grouped.h"

#define BEHIND 10 /* waiting jobs of a saturated group */
#define FILL_BATCH 1000
#define LEASE_MS 3600000 /* no lease ends during a measurement */

static const char payload[PAYLOAD];

struct grouped {
	rp_conn *conn;
	size_t put, take, held, groups;
	unsigned int seed;
	rp_job_spec *jobs;
	char (*names)[16]; /* the group of each job */
	rp_added *added;
	rp_verdict *verdicts;
};

static void
check(const struct grouped *g, int r)
{
	if (r < 0)
		die("library: %s", rp_last_error(g->conn)->message);
}

void
grouped_limit(const struct bench *b, const char *schema, int64_t limit)
{
	rp_queue queue = RP_QUEUE_INIT;
	char *url = server_library_url(b, schema);
	rp_batch *none;
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	queue.name = QUEUE;
	queue.lease_ms = LEASE_MS;
	queue.group_limit = limit;
	/* After a change of the limit, the next claims look at all groups. So
	 * claim before there are groups. */
	if (rp_queue_set(conn, &queue) < 0 ||
	    rp_claim(conn, QUEUE, 1, NULL, &none) < 0)
		die("library: %s", rp_last_error(conn)->message);
	rp_batch_free(none);
	rp_close(conn);
	free(url);
}

static void
create(const struct bench *b, const char *schema)
{
	library_side.create(b, schema);
	grouped_limit(b, schema, 1);
}

static void *
open_groups(const struct bench *b, const char *schema, size_t put, size_t take,
	    size_t groups)
{
	struct grouped *g = allocate(sizeof(*g));
	char *url = server_library_url(b, schema);
	rp_error error;

	if (rp_open(url, NULL, &g->conn, &error) < 0)
		die("rp_open: %s", error.message);
	free(url);
	g->put = put;
	g->take = take;
	g->groups = groups;
	g->seed = (unsigned int)getpid();
	g->jobs = allocate((put + 1) * sizeof(*g->jobs));
	g->names = allocate((put + 1) * sizeof(*g->names));
	g->added = allocate((put + 1) * sizeof(*g->added));
	g->verdicts = allocate((take + 1) * sizeof(*g->verdicts));
	for (size_t i = 0; i < put; i++) {
		g->jobs[i] = (rp_job_spec)RP_JOB_SPEC_INIT;
		g->jobs[i].payload = payload;
		g->jobs[i].payload_size = sizeof(payload);
		g->jobs[i].group_key = g->names[i];
	}
	return g;
}

static void *
open_many(const struct bench *b, const char *schema, size_t put, size_t take)
{
	return open_groups(b, schema, put, take, b->groups);
}

static void *
open_one(const struct bench *b, const char *schema, size_t put, size_t take)
{
	return open_groups(b, schema, put, take, 1);
}

static void
close_grouped(void *handle)
{
	struct grouped *g = handle;

	if (g->held)
		check(g, rp_settle(g->conn, g->verdicts, g->held));
	rp_close(g->conn);
	free(g->jobs);
	free(g->names);
	free(g->added);
	free(g->verdicts);
	free(g);
}

static void *
native(void *handle)
{
	return rp_conn_native(((struct grouped *)handle)->conn);
}

static void
name_group(struct grouped *g, size_t i, size_t group)
{
	snprintf(g->names[i], sizeof(g->names[i]), "g%zu", group % 10000000);
}

static void
put(void *handle)
{
	struct grouped *g = handle;

	for (size_t i = 0; i < g->put; i++)
		name_group(g, i, (size_t)rand_r(&g->seed) % g->groups);
	check(g, rp_enqueue_many(g->conn, QUEUE, g->jobs, g->put, g->added));
}

static size_t
step(void *handle)
{
	struct grouped *g = handle;
	rp_batch *batch;

	check(g, rp_settle_and_claim(g->conn, g->verdicts, g->held, QUEUE,
				     g->take, NULL, &batch));
	for (size_t i = 0; i < g->held; i++)
		if (g->verdicts[i].result < 0)
			die("library: a verdict was refused");
	g->held = verdicts_on(batch, g->verdicts);
	return g->held;
}

static void
sweep(void *handle)
{
	struct grouped *g = handle;

	check(g, rp_sweep(g->conn, NULL));
}

/* Add a job of this group to the batch, which has `n` jobs. If the batch is
 * full now, enqueue it. */
static void
fill_one(struct grouped *g, size_t *n, size_t group)
{
	name_group(g, *n, group);
	if (++*n < g->put)
		return;
	check(g, rp_enqueue_many(g->conn, QUEUE, g->jobs, *n, g->added));
	*n = 0;
}

/* Enqueue one job for each group; `jobs` is the number of groups. Then enqueue
 * BEHIND more jobs for every second group. These jobs wait, because the group
 * limit is 1. */
static void
fill_many(const struct bench *b, const char *schema, size_t jobs)
{
	struct grouped *g = open_groups(b, schema, FILL_BATCH, 0, jobs);
	size_t n = 0;

	for (size_t i = 0; i < jobs; i++)
		fill_one(g, &n, i);
	for (size_t k = 0; k < BEHIND; k++)
		for (size_t i = 0; i < jobs; i += 2)
			fill_one(g, &n, i);
	if (n)
		check(g, rp_enqueue_many(g->conn, QUEUE, g->jobs, n, g->added));
	close_grouped(g);
}

size_t
grouped_jobs(size_t groups)
{
	return groups + (groups + 1) / 2 * BEHIND;
}

static void
fill_groups(const struct bench *b, const char *schema, size_t jobs,
	    size_t groups)
{
	struct grouped *g = open_groups(b, schema, FILL_BATCH, 0, groups);
	size_t n = 0;

	for (size_t i = 0; i < jobs; i++)
		fill_one(g, &n, i % groups);
	if (n)
		check(g, rp_enqueue_many(g->conn, QUEUE, g->jobs, n, g->added));
	close_grouped(g);
}

static void
fill_hot(const struct bench *b, const char *schema, size_t jobs)
{
	fill_groups(b, schema, jobs, 1);
}

void
grouped_few(const struct bench *b, const char *schema, size_t jobs,
	    size_t groups)
{
	fill_groups(b, schema, jobs, groups);
}

const struct side grouped_side = {
	.prefix = "groups.",
	.create = create,
	.fill = fill_many,
	.open = open_many,
	.close = close_grouped,
	.native = native,
	.put = put,
	.step = step,
	.sweep = sweep,
};
const struct side hot_side = {
	.prefix = "hot.",
	.create = create,
	.fill = fill_hot,
	.open = open_one,
	.close = close_grouped,
	.native = native,
	.put = put,
	.step = step,
	.sweep = sweep,
};
