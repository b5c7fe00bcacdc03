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

static void
measure(void *ctx)
{
	struct bench *b = ctx;
	char *floor = database_path(b, "floor");
	char *library = database_path(b, "library");

	b->report = report_new();
	machine_rows(b);
	pairs_rows(b);
	extension_rows(b);
	worker_rows(b);
	starts_rows(b);
	commands_rows(b);
	processes_rows(b);
	writers_rows(b);
	steady_rows(b);
	backlog_rows(b);
	cost_rows(b);
	database_fill(floor, 0);
	database_fill(library, 0);
	for (int round = -1; round < b->rounds; round++) {
		progress("one process", round, b->rounds);
		pairs_round(b, round);
		progress("the extension", round, b->rounds);
		extension_round(b, round);
		progress("a worker", round, b->rounds);
		worker_round(b, round);
		progress("commands", round, b->rounds);
		commands_round(b, round);
		progress("four processes", round, b->rounds);
		processes_round(b, round);
		progress("many writers", round, b->rounds);
		writers_round(b, round);
		progress("a producer and two workers", round, b->rounds);
		steady_round(b, round);
		progress("the backlog", round, b->rounds);
		backlog_round(b, round);
	}
	starts_run(b);
	cost_run(b);
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
	} else if (strcmp(size, "smoke") == 0) {
		b->rounds = 1;
		b->seconds = 0.004;
		b->backlog = 20000;
		b->starts = 20;
		b->clients = 4;
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
			   .clients = 200 };
	const char *size = getenv("BENCH");
	char *dir;
	int status;

	b.markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
	if (argc > 1 + b.markdown || set_size(&b, size ? size : "") < 0) {
		fputs("usage: [BENCH=full|smoke] [BENCH_DIR=DIR] bench "
		      "[--markdown]\n",
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
