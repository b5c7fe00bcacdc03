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
#include "bench.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#define BATCH 100
#define BEHIND 10 /* waiting jobs of a saturated group */
#define FILL_BATCH 1000
#define LEASE_MS 3600000 /* no lease ends during a measurement */
#define FEW_GROUPS 10
/* the limit of each group, if there are FEW_GROUPS groups; it is so large that
 * each measured claim finds enough jobs */
#define FEW_LIMIT 1000
#define CLAIMS 20 /* number of claims whose pages are counted */
#define WORKERS 4 /* number of workers that serve one group */
#define HOT_PER_SECOND 30000
#define NAP_US 500 /* pause of a worker that has found no job */

/* A queue in a database of its own. */
struct client {
	rp_conn *conn;
	size_t groups; /* 0: the jobs have no group */
	unsigned int seed;
	size_t held;
	rp_job_spec jobs[FILL_BATCH];
	char names[FILL_BATCH][16];
	rp_added added[FILL_BATCH];
	rp_verdict verdicts[BATCH];
};

static const char payload[PAYLOAD];

static void
check(const struct client *c, int r)
{
	if (r < 0)
		die("library: %s", rp_last_error(c->conn)->message);
}

static struct client *
connect_to(const struct bench *b, const char *name, size_t groups)
{
	struct client *c = allocate(sizeof(*c));
	char *path = database_path(b, name);
	char *url = text("sqlite:%s?synchronous=normal", path);
	rp_error error;

	if (rp_open(url, NULL, &c->conn, &error) < 0)
		die("rp_open: %s", error.message);
	c->groups = groups;
	c->seed = (unsigned int)getpid();
	for (size_t i = 0; i < FILL_BATCH; i++) {
		c->jobs[i] = (rp_job_spec)RP_JOB_SPEC_INIT;
		c->jobs[i].payload = payload;
		c->jobs[i].payload_size = sizeof(payload);
		c->jobs[i].group_key = groups ? c->names[i] : NULL;
	}
	free(path);
	free(url);
	return c;
}

static void
disconnect(struct client *c)
{
	rp_close(c->conn);
	free(c);
}

static void
name_group(struct client *c, size_t i, size_t group)
{
	snprintf(c->names[i], sizeof(c->names[i]), "g%zu", group % 10000000);
}

static void
enqueue(struct client *c, size_t n)
{
	check(c, rp_enqueue_many(c->conn, QUEUE, c->jobs, n, c->added));
}

/* Claim up to `most` jobs. Returns the number of jobs. */
static size_t
claim(struct client *c, size_t most)
{
	rp_batch *batch;

	check(c, rp_claim(c->conn, QUEUE, most, NULL, &batch));
	c->held = verdicts_on(batch, c->verdicts);
	return c->held;
}

static void
complete(struct client *c)
{
	check(c, rp_settle(c->conn, c->verdicts, c->held));
	c->held = 0;
}

/* ---- filling ---- */

static void
set_limit(const struct client *c, int64_t limit)
{
	rp_queue queue = RP_QUEUE_INIT;

	queue.name = QUEUE;
	queue.lease_ms = LEASE_MS;
	queue.group_limit = limit;
	check(c, rp_queue_set(c->conn, &queue));
}

/* Enqueue `n` jobs, in turn into every `step`th group. */
static void
fill(struct client *c, size_t n, size_t step)
{
	for (size_t i = 0, k = 0; i < n; i++) {
		name_group(c, k, c->groups ? i * step % c->groups : 0);
		if (++k == FILL_BATCH || i + 1 == n) {
			enqueue(c, k);
			k = 0;
		}
	}
}

/* Make a queue with few groups. It has as many ready jobs, and as many waiting
 * jobs, as the queue with many groups. The last of the ready jobs have no
 * group.
 */
static void
make_few(const struct bench *b, size_t waiting)
{
	size_t ready = FEW_GROUPS * FEW_LIMIT;
	struct client *c = connect_to(b, "limits-few", FEW_GROUPS);

	set_limit(c, FEW_LIMIT);
	fill(c, ready + waiting, 1);
	disconnect(c);
	c = connect_to(b, "limits-few", 0);
	if (b->groups > ready)
		fill(c, b->groups - ready, 1);
	disconnect(c);
}

static void
make(const struct bench *b)
{
	struct client *c = connect_to(b, "limits-plain", 0);
	size_t waiting = b->groups / 2 * BEHIND;

	progress("making the groups", -1, 0);
	set_limit(c, 0);
	fill(c, b->groups + waiting, 1);
	disconnect(c);
	c = connect_to(b, "limits-groups", b->groups);
	set_limit(c, 1);
	fill(c, b->groups, 1);
	fill(c, waiting, 2);
	disconnect(c);
	make_few(b, waiting);
}

/* ---- claims, and the whole life of a job ---- */

/* Complete the jobs, and enqueue as many new ones. */
static void
replace(struct client *c, rp_verdict *verdicts, size_t jobs)
{
	for (size_t i = 0, n; i < jobs; i += n) {
		n = jobs - i < BATCH ? jobs - i : BATCH;
		check(c, rp_settle(c->conn, &verdicts[i], n));
	}
	fill(c, jobs, 1);
}

/* Measure claims. The claimed jobs are replaced after the measurement, so that
 * no checkpoint of these changes falls into it. */
static void
claims(const struct bench *b, const char *name, size_t groups, const char *row)
{
	struct client *c = connect_to(b, name, groups);
	size_t most = b->groups / 8, jobs = 0;
	rp_verdict *verdicts = allocate((most + BATCH) * sizeof(*verdicts));
	double from = seconds_now(), spent;

	do {
		claim(c, BATCH);
		memcpy(&verdicts[jobs], c->verdicts,
		       c->held * sizeof(*verdicts));
		jobs += c->held;
		spent = seconds_now() - from;
	} while (c->held && jobs < most && spent < b->seconds);
	report_sample(b->report, row, (double)jobs / spent);
	replace(c, verdicts, jobs);
	disconnect(c);
	free(verdicts);
}

/* Enqueue, claim and complete `batch` jobs in each transaction. */
static void
life(const struct bench *b, const char *name, size_t groups, size_t batch,
     const char *row)
{
	struct client *c = connect_to(b, name, groups);
	double from = seconds_now(), spent;
	size_t jobs = 0;

	do {
		for (size_t i = 0; i < batch && groups; i++)
			name_group(c, i, (size_t)rand_r(&c->seed) % groups);
		enqueue(c, batch);
		jobs += claim(c, batch);
		complete(c);
		spent = seconds_now() - from;
	} while (spent < 2 * b->seconds);
	report_sample(b->report, row, (double)jobs / spent);
	disconnect(c);
}

/* Count the pages that a claim reads. */
static void
pages(const struct bench *b, const char *name, size_t groups, const char *row)
{
	struct client *c = connect_to(b, name, groups);
	struct rp_usage cost;
	double sum = 0;

	for (int i = 0; i < CLAIMS; i++) {
		/* This first call only resets the counters. */
		rp__measure(c->conn, &cost);
		claim(c, BATCH);
		rp__measure(c->conn, &cost);
		sum += (double)cost.pages;
		replace(c, c->verdicts, c->held);
	}
	report_sample(b->report, row, sum / CLAIMS);
	disconnect(c);
}

/* ---- one group ---- */

struct board {
	_Atomic size_t ready, jobs;
	_Atomic int go, over;
};

static void
work(const struct bench *b, const char *name, struct board *board)
{
	struct client *c = connect_to(b, name, 0);
	rp_batch *batch;

	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		sleep_us(1000);
	while (!atomic_load(&board->over)) {
		check(c, rp_settle_and_claim(c->conn, c->verdicts, c->held,
					     QUEUE, 1, NULL, &batch));
		atomic_fetch_add(&board->jobs, c->held);
		c->held = verdicts_on(batch, c->verdicts);
		if (!c->held)
			sleep_us(NAP_US);
	}
	complete(c);
	disconnect(c);
	_exit(0);
}

/* Let workers finish jobs, each worker one job at a time. If `groups` is 0, the
 * jobs have no group; if it is 1, all jobs belong to one group. If `pin` is not
 * 0, another connection keeps an old snapshot. Returns the jobs per second. */
static double
hot(const struct bench *b, const char *name, size_t groups, size_t workers,
    int pin)
{
	double seconds = 2 * b->seconds;
	struct board *board = allocate_shared(sizeof(*board));
	pid_t pids[WORKERS], reader = 0;
	size_t jobs;

	for (size_t i = 0; i < workers; i++) {
		pids[i] = fork_child();
		if (pids[i] == 0)
			work(b, name, board);
	}
	if (pin && (reader = fork_child()) == 0) {
		struct client *c = connect_to(b, name, groups);

		rp__query(c->conn, &(struct rp_query){ .sql = "begin" });
		rp__query(c->conn,
			  &(struct rp_query){
				  .sql = "select count(*) from readpast_queue",
				  .flags = RP_QUERY_READ });
		atomic_fetch_add(&board->ready, 1);
		for (;;)
			sleep_us(1000000);
	}
	while (atomic_load(&board->ready) < workers + (size_t)pin)
		sleep_us(1000);
	atomic_store(&board->go, 1);
	sleep_us((int64_t)(seconds * 1e6));
	jobs = atomic_load(&board->jobs);
	atomic_store(&board->over, 1);
	for (size_t i = 0; i < workers; i++)
		if (spawn_wait(pids[i]) != 0)
			die("a worker failed");
	if (reader)
		spawn_kill(reader);
	munmap(board, sizeof(*board));
	return (double)jobs / seconds;
}

/* Fill the queue. This is done before each run, so that each run begins with
 * the same number of jobs. */
static void
refill(const struct bench *b, const char *name, size_t groups)
{
	struct client *c = connect_to(b, name, groups);

	set_limit(c, groups ? 1 : 0);
	fill(c, (size_t)(HOT_PER_SECOND * 2 * b->seconds), 1);
	disconnect(c);
}

static void
one_group(const struct bench *b)
{
	refill(b, "limits-alone", 0);
	report_sample(b->report, "limits.alone",
		      hot(b, "limits-alone", 0, 1, 0));
	refill(b, "limits-hot", 1);
	report_sample(b->report, "limits.hot",
		      hot(b, "limits-hot", 1, WORKERS, 0));
	refill(b, "limits-hot", 1);
	report_sample(b->report, "limits.hot.pinned",
		      hot(b, "limits-hot", 1, WORKERS, 1));
}

/* ---- the part ---- */

static void
row(const struct bench *b, const char *name, const char *unit, const char *over,
    const char *relation, double goal)
{
	report_row(b->report, name, unit, over, 0);
	if (relation)
		report_goal(b->report, name, relation, goal);
}

void
limits_rows(const struct bench *b)
{
	row(b, "groups", "-", NULL, NULL, 0);
	row(b, "plain.claims", "jobs/s", NULL, NULL, 0);
	row(b, "groups.claims", "jobs/s", "plain.claims", ">=", 0.9);
	row(b, "groups.claim.10", "pages", NULL, NULL, 0);
	row(b, "groups.claim", "pages", "groups.claim.10", "<=", 1.1);
	row(b, "plain.life", "jobs/s", NULL, NULL, 0);
	row(b, "groups.life", "jobs/s", "plain.life", ">=", 0.6);
	row(b, "plain.life.1", "jobs/s", NULL, NULL, 0);
	row(b, "groups.life.1", "jobs/s", "plain.life.1", ">=", 0.6);
	row(b, "limits.alone", "jobs/s", NULL, NULL, 0);
	row(b, "limits.hot", "jobs/s", "limits.alone", ">=", 0.5);
	row(b, "limits.hot.pinned", "jobs/s", "limits.hot", ">=", 0.8);
}

/* Measure claims when the queues have just been filled. Later the next jobs of
 * the ready line are no longer side by side in the file. */
static void
claims_part(const struct bench *b)
{
	pages(b, "limits-few", FEW_GROUPS, "groups.claim.10");
	pages(b, "limits-groups", b->groups, "groups.claim");
	for (int round = 0; round < b->rounds; round++) {
		claims(b, "limits-plain", 0, "plain.claims");
		claims(b, "limits-groups", b->groups, "groups.claims");
	}
}

void
limits_round(const struct bench *b, int round)
{
	if (round < 0) {
		make(b);
		report_sample(b->report, "groups", (double)b->groups);
		claims_part(b);
		return;
	}
	life(b, "limits-plain", 0, BATCH, "plain.life");
	life(b, "limits-groups", b->groups, BATCH, "groups.life");
	life(b, "limits-plain", 0, 1, "plain.life.1");
	life(b, "limits-groups", b->groups, 1, "groups.life.1");
	one_group(b);
}
