/*
 * limits.c - measure queues with limits. A job of a group is compared with a
 * job in a queue that has neither groups nor limits.
 *
 * In the queue with groups, each group has one ready job. Every second group is
 * saturated: its limit is reached, and further jobs of this group wait. The
 * other queue has the same number of jobs, because the trees of a larger table
 * are deeper.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "grouped.h"

#include <stdlib.h>

#define PLAIN "readpast"
#define MANY "grouped"
#define FEW "few"
#define FEW_GROUPS 10
/* the limit of each group, if there are FEW_GROUPS groups; it is so large that
 * each measured claim finds enough jobs */
#define FEW_LIMIT 1000
#define BATCH 100
#define SETTLE_AT_A_TIME 1000

/* ---- claims ---- */

static rp_conn *
open_schema(const struct bench *b, const char *schema)
{
	char *url = server_library_url(b, schema);
	rp_conn *conn;
	rp_error error;

	if (rp_open(url, NULL, &conn, &error) < 0)
		die("rp_open: %s", error.message);
	free(url);
	return conn;
}

static void
settle(rp_conn *conn, rp_verdict *verdicts, size_t count)
{
	for (size_t i = 0, n; i < count; i += n) {
		n = count - i < SETTLE_AT_A_TIME ? count - i : SETTLE_AT_A_TIME;
		if (rp_settle(conn, &verdicts[i], n) < 0)
			die("library: %s", rp_last_error(conn)->message);
	}
}

/* Claim a batch. Returns the number of jobs. */
static size_t
claim_batch(rp_conn *conn, rp_verdict *verdicts)
{
	rp_batch *batch;

	if (rp_claim(conn, QUEUE, BATCH, NULL, &batch) < 0)
		die("library: %s", rp_last_error(conn)->message);
	return verdicts_on(batch, verdicts);
}

/* Claim up to `most` jobs, and complete them after the measurement. Returns the
 * claimed jobs per second. The first claim is not measured, because in it the
 * server plans the statements of this session. */
static double
claim(const struct bench *b, const char *schema, size_t most, size_t *ret_jobs)
{
	rp_conn *conn = open_schema(b, schema);
	rp_verdict *verdicts = allocate((most + BATCH) * sizeof(*verdicts));
	size_t first = claim_batch(conn, verdicts), jobs = first, n;
	double from = seconds_now(), spent;

	do {
		n = claim_batch(conn, &verdicts[jobs]);
		jobs += n;
		spent = seconds_now() - from;
	} while (n && jobs < most && spent < b->seconds);
	settle(conn, verdicts, jobs);
	rp_close(conn);
	free(verdicts);
	*ret_jobs = jobs;
	return (double)(jobs - first) / spent;
}

static void
claims(const struct bench *b)
{
	size_t most = b->groups / 8 + BATCH, jobs;

	report_sample(b->report, "groups.claims", claim(b, MANY, most, &jobs));
	report_sample(b->report, "plain.claims", claim(b, PLAIN, most, &jobs));
	library_side.fill(b, PLAIN, jobs);
	report_sample(b->report, "groups.claim.10", buffers_per_claim(b, FEW));
	report_sample(b->report, "groups.claim", buffers_per_claim(b, MANY));
}

/* ---- the whole life of a job ---- */

/* Enqueue, claim and complete `batch` jobs in each transaction. */
static void
life(const struct bench *b, const struct side *side, const char *schema,
     size_t batch, const char *row)
{
	struct load load = steady_load(side, schema, 2 * b->seconds);
	struct outcome outcome;

	load.put = load.take = batch;
	clients_run(b, &load, &outcome);
	report_sample(b->report, row, outcome.finished);
}

/* Measure another queue system for comparison: first without queue names, then
 * with a named queue in place of each group. */
static void
peers(const struct bench *b)
{
	double rate = peer_rate(b, "graphile-worker", b->groups, 0);

	if (rate <= 0)
		return;
	row_add(b, "graphile-worker.plain", "jobs/s", NULL, NULL, 0);
	report_sample(b->report, "graphile-worker.plain", rate);
	row_add(b, "graphile-worker.groups", "jobs/s", "graphile-worker.plain",
		NULL, 0);
	report_sample(b->report, "graphile-worker.groups",
		      peer_rate(b, "graphile-worker", b->groups, 1));
}

/* ---- the part ---- */

static void
rows(const struct bench *b)
{
	row_add(b, "groups", "-", NULL, NULL, 0);
	report_sample(b->report, "groups", (double)b->groups);
	row_add(b, "plain.claims", "jobs/s", NULL, NULL, 0);
	row_add(b, "groups.claims", "jobs/s", "plain.claims", ">=", 0.9);
	row_add(b, "groups.claim.10", "buffers", NULL, NULL, 0);
	row_add(b, "groups.claim", "buffers", "groups.claim.10", "<=", 1.1);
	row_add(b, "plain.life", "jobs/s", NULL, NULL, 0);
	row_add(b, "groups.life", "jobs/s", "plain.life", ">=", 0.5);
	row_add(b, "plain.life.1", "jobs/s", NULL, NULL, 0);
	row_add(b, "groups.life.1", "jobs/s", "plain.life.1", ">=", 0.5);
	hot_rows(b);
}

/* Make the queues. Vacuum them, because autovacuum would do so during the
 * measurement. */
static void
make(const struct bench *b)
{
	size_t jobs = grouped_jobs(b->groups);
	rp_conn *conn = server_connect(b, "public");

	progress("making the groups", -1, 0);
	library_side.create(b, PLAIN);
	library_side.fill(b, PLAIN, jobs);
	grouped_side.create(b, MANY);
	grouped_side.fill(b, MANY, b->groups);
	grouped_side.create(b, FEW);
	grouped_limit(b, FEW, FEW_LIMIT);
	grouped_few(b, FEW, jobs, FEW_GROUPS);
	server_execute(conn, "vacuum analyze");
	rp_close(conn);
}

void
limits_part(const struct bench *b)
{
	plain_measure(b);
	rows(b);
	make(b);
	/* The claims are measured first, while the next jobs of the ready line
	 * are side by side in the file, as in the queue without groups. */
	for (int round = 0; round < b->rounds; round++) {
		progress("claims", round, b->rounds);
		claims(b);
	}
	for (int round = 0; round < b->rounds; round++) {
		progress("groups", round, b->rounds);
		life(b, &library_side, PLAIN, BATCH, "plain.life");
		life(b, &grouped_side, MANY, BATCH, "groups.life");
		life(b, &library_side, PLAIN, 1, "plain.life.1");
		life(b, &grouped_side, MANY, 1, "groups.life.1");
	}
	for (int round = 0; round < b->rounds; round++)
		hot_round(b, round);
	producers_measure(b);
	if (b->peers > 0)
		peers(b);
}
