/*
 * bench.c - compare the library with the raw floor. The floor is a queue
 * written by hand, and it does only what a correct queue must do (floor.c).
 *
 * Each round measures all rows of the report once, so that disturbances by
 * other programs affect all rows equally.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "floor.h"
#include "parent.h"

/* ---- databases ---- */

char *
database_path(const struct bench *b, const char *name)
{
	return text("%s/%s.db", b->dir, name);
}

void
database_fill(const char *path, size_t jobs)
{
	if (access(path, F_OK) < 0) {
		char *url = text("sqlite:%s", path);
		rp_queue queue = RP_QUEUE_INIT;
		rp_error error;
		rp_conn *conn;

		queue.name = QUEUE;
		if (rp_open(url, NULL, &conn, &error) < 0)
			die("rp_open: %s", error.message);
		if (rp_queue_set(conn, &queue) < 0)
			die("library: %s", rp_last_error(conn)->message);
		rp_close(conn);
		free(url);
	}
	floor_fill(path, jobs, 1);
}

/* ---- measuring ---- */

static void
starts_rows(const struct bench *b)
{
	report_row(b->report, "start.p50", "ms", NULL, 0);
	report_row(b->report, "start.p99", "ms", NULL, 0);
}

static void
starts_run(const struct bench *b)
{
	char *path = database_path(b, "library");
	char *url = text("sqlite:%s?synchronous=full", path);
	double p50, p99;

	progress("starts", -1, 0);
	database_fill(path, 0);
	starts_measure(url, b->starts, 4000, &p50, &p99);
	report_sample(b->report, "start.p50", p50);
	report_sample(b->report, "start.p99", p99);
	free(url);
	free(path);
}

static void
machine_rows(const struct bench *b)
{
	report_row(b->report, "processors", "-", NULL, 0);
	report_sample(b->report, "processors",
		      (double)sysconf(_SC_NPROCESSORS_ONLN));
	report_row(b->report, "rounds", "-", NULL, 0);
	report_sample(b->report, "rounds", b->rounds);
	report_row(b->report, "sample", "ms", NULL, 0);
	report_sample(b->report, "sample", b->seconds * 1000);
}

/* ---- parts ---- */

static const struct {
	const char *name, *progress;
	void (*rows)(const struct bench *b);
	/* Each part has one of these two functions, and the other is NULL.
	 * round() is called once in each round. run() is called once, after all
	 * rounds. */
	void (*round)(const struct bench *b, int round);
	void (*run)(const struct bench *b);
} parts[] = {
	{ "pairs", "one process", pairs_rows, pairs_round, NULL },
	{ "extension", "the extension", extension_rows, extension_round, NULL },
	{ "worker", "a worker", worker_rows, worker_round, NULL },
	{ "start", "starts", starts_rows, NULL, starts_run },
	{ "commands", "commands", commands_rows, commands_round, NULL },
	{ "processes", "four processes", processes_rows, processes_round,
	  NULL },
	{ "writers", "many writers", writers_rows, writers_round, NULL },
#ifdef RP_HAVE_SERVE
	{ "http", "HTTP", http_rows, http_round, NULL },
#endif
	{ "steady", "a producer and two workers", steady_rows, steady_round,
	  NULL },
	{ "backlog", "the backlog", backlog_rows, backlog_round, NULL },
	{ "limits", "groups", limits_rows, limits_round, NULL },
	{ "cost", "the cost of a call", cost_rows, NULL, cost_run },
};
#define PARTS (sizeof(parts) / sizeof(*parts))

/* Return whether to run this part. BENCH_PARTS names the parts that run; if it
 * is not set, all parts run. */
static int
is_wanted(const char *part)
{
	const char *wanted = getenv("BENCH_PARTS");

	return !wanted || !*wanted || strstr(wanted, part);
}

static void
measure(void *ctx)
{
	struct bench *b = ctx;
	char *floor = database_path(b, "floor");
	char *library = database_path(b, "library");

	b->report = report_new();
	machine_rows(b);
	for (size_t i = 0; i < PARTS; i++)
		if (is_wanted(parts[i].name))
			parts[i].rows(b);
	database_fill(floor, 0);
	database_fill(library, 0);
	for (int round = -1; round < b->rounds; round++)
		for (size_t i = 0; i < PARTS; i++)
			if (parts[i].round && is_wanted(parts[i].name)) {
				progress(parts[i].progress, round, b->rounds);
				parts[i].round(b, round);
			}
	for (size_t i = 0; i < PARTS; i++)
		if (parts[i].run && is_wanted(parts[i].name))
			parts[i].run(b);
	progress("", -1, 0);
	report_print(b->report, b->markdown);
	report_free(b->report);
	free(floor);
	free(library);
}

/* ---- how much to measure ---- */

static int
set_size(struct bench *b, const char *size)
{
	if (strcmp(size, "") == 0)
		return 0;
	if (strcmp(size, "full") == 0) {
		b->seconds = 0.8;
		b->backlog = 5000000;
		b->starts = 5000;
		b->groups = 1000000;
	} else if (strcmp(size, "smoke") == 0) {
		b->rounds = 1;
		b->seconds = 0.004;
		b->backlog = 20000;
		b->starts = 20;
		b->clients = 4;
		b->groups = 500;
	} else {
		return -1;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	struct bench b = { .rounds = 7,
			   .seconds = 0.4,
			   .backlog = 500000,
			   .starts = 1000,
			   .clients = 200,
			   .groups = 100000 };
	const char *size = getenv("BENCH");
	char *dir;
	int status;

	b.markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
	if (argc > 1 + b.markdown || set_size(&b, size ? size : "") < 0) {
		fputs("usage: [BENCH=full|smoke] [BENCH_DIR=DIR] "
		      "[BENCH_PARTS=NAMES] bench [--markdown]\n",
		      stderr);
		return 2;
	}
	dir = directory_make();
	if (!dir)
		return 1;
	b.dir = dir;
	status = measure_in_child(measure, &b);
	directory_remove(dir);
	free(dir);
	return status;
}
