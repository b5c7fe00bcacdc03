/*
 * main.c - compare readpast on PostgreSQL with raw inserts and a queue written
 * by hand, on a temporary server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../parent.h"

static void
machine_rows(const struct bench *b)
{
	rp_conn *conn = server_connect(b, "public");

	row_add(b, "processors", "-", NULL, NULL, 0);
	report_sample(b->report, "processors",
		      (double)sysconf(_SC_NPROCESSORS_ONLN));
	row_add(b, "postgresql", "version", NULL, NULL, 0);
	report_sample(b->report, "postgresql",
		      server_number(conn, "select current_setting("
					  "'server_version_num')::integer") /
			      10000);
	row_add(b, "fdatasync", "us", NULL, NULL, 0);
	report_sample(b->report, "fdatasync", disk_sync_us(b));
	row_add(b, "rounds", "-", NULL, NULL, 0);
	report_sample(b->report, "rounds", b->rounds);
	row_add(b, "sample", "s", NULL, NULL, 0);
	report_sample(b->report, "sample", b->seconds);
	row_add(b, "pinned-for", "s", NULL, NULL, 0);
	report_sample(b->report, "pinned-for", b->pinned);
	row_add(b, "hour.dead", "entries", NULL, NULL, 0);
	report_sample(b->report, "hour.dead", (double)b->dead);
	rp_close(conn);
}

static const struct part {
	const char *name;
	void (*run)(const struct bench *b);
} parts[] = {
	{ "enqueue", enqueue_part }, { "drain", drain_part },
	{ "steady", steady_part },   { "pinned", pinned_part },
	{ "open", open_part },       { "backlog", backlog_part },
	{ "idle", idle_part },       { "start", start_part },
	{ "queues", queues_part },   { "limits", limits_part },
#ifdef RP_HAVE_SERVE
	{ "http", http_part },
#endif
};

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

	server_start(b);
	plot_begin(b);
	b->report = report_new();
	machine_rows(b);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (is_wanted(parts[i].name))
			parts[i].run(b);
	progress("", -1, 0);
	report_print(b->report, b->markdown);
	plot_draw(b);
	report_free(b->report);
	free(b->url);
}

static int
set_size(struct bench *b, const char *size)
{
	if (strcmp(size, "full") == 0) {
		b->seconds = 4;
		b->pinned = 60;
		b->idle = 60;
		b->peers = 20;
		b->dead = 10000000;
		b->backlog = 5000000;
		b->scheduled = 1000000;
		b->starts = 1000;
		b->lease_s = 60;
		b->groups = 1000000;
	} else if (strcmp(size, "smoke") == 0) {
		b->rounds = 1;
		b->seconds = 0.1;
		b->pinned = 1.2;
		b->idle = 1;
		b->peers = 0;
		b->dead = 20000;
		b->backlog = 20000;
		b->scheduled = 5000;
		b->workers = 10;
		b->starts = 20;
		b->queues = 60;
		b->idle_queues = 200;
		b->sweeps = 2;
		b->groups = 500;
		b->producers = 10;
		b->lease_s = 2;
	} else if (strcmp(size, "") != 0) {
		return -1;
	}
	return 0;
}

static int
parse(struct bench *b, int argc, char **argv)
{
	const char *size = getenv("BENCH");

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--markdown") == 0)
			b->markdown = 1;
		else if (strcmp(argv[i], "--plots") == 0 && i + 1 < argc)
			b->plots = argv[++i];
		else
			return -1;
	}
	return set_size(b, size ? size : "");
}

int
main(int argc, char **argv)
{
	struct bench b = { .rounds = 3,
			   .seconds = 2,
			   .pinned = 20,
			   .idle = 15,
			   .peers = 8,
			   .dead = 1000000,
			   .backlog = 500000,
			   .scheduled = 200000,
			   .workers = 200,
			   .starts = 300,
			   .queues = 1000,
			   .idle_queues = 10000,
			   .sweeps = 20,
			   .groups = 100000,
			   .producers = 200,
			   .lease_s = 6 };
	char *dir;
	int status;

	if (parse(&b, argc, argv) < 0) {
		fputs("usage: [BENCH=full|smoke] [BENCH_DIR=DIR] "
		      "[BENCH_PARTS=NAMES] bench_postgres [--markdown] "
		      "[--plots DIR]\n",
		      stderr);
		return 2;
	}
	dir = directory_make();
	if (!dir)
		return 1;
	b.dir = dir;
	status = measure_in_child(measure, &b);
	server_stop(dir);
	free(dir);
	return status;
}
