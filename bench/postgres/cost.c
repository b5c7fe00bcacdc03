/*
 * cost.c - measure costs that do not depend on the machine's load: bytes of
 * log, and buffers accessed. Also measure how long the disk takes for a commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SYNCS 200
#define CLAIMS 11

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
disk_sync_us(const struct bench *b)
{
	static const char page[8192];
	char *path = text("%s/sync", b->dir);
	double us[SYNCS];
	int fd = open(path, O_RDWR | O_CREAT, 0600);

	if (fd < 0)
		die("no file in %s", b->dir);
	for (int i = 0; i < SYNCS; i++) {
		double from = seconds_now();

		if (pwrite(fd, page, sizeof(page), 0) < 0 || fdatasync(fd) < 0)
			die("no writing in %s", b->dir);
		us[i] = (seconds_now() - from) * 1e6;
	}
	qsort(us, SYNCS, sizeof(*us), compare);
	close(fd);
	unlink(path);
	free(path);
	return us[SYNCS / 2];
}

char *
wal_place(rp_conn *conn)
{
	return server_text(conn, "select pg_current_wal_insert_lsn()");
}

double
wal_bytes(const struct bench *b, rp_conn *conn, const char *from,
	  const char *to)
{
	char *programs = server_text(
		conn, "select setting from pg_config where name = 'BINDIR'");
	char *command = text("'%s/pg_waldump' --stats -p '%s/data/pg_wal' "
			     "-s %s -e %s 2>/dev/null",
			     programs, b->dir, from, to);
	FILE *answer;
	char line[512];
	double bytes = 0;

	/* A synchronous commit writes the write-ahead log to its files.
	 * pg_waldump reads only these files. */
	server_execute(conn, "begin; select pg_current_xact_id(); commit");
	answer = popen(command, "r");
	while (answer && fgets(line, sizeof(line), answer))
		if (sscanf(line, "Total %*d %lf", &bytes) == 1)
			break;
	if (!answer || bytes <= 0)
		die("pg_waldump says nothing: %s", command);
	pclose(answer);
	free(programs);
	free(command);
	return bytes;
}

double
backend_seconds(rp_conn *conn)
{
	char *pid = server_text(conn, "select pg_backend_pid()");
	char *path = text("/proc/%s/schedstat", pid);
	FILE *file = fopen(path, "r");
	double ns = 0;

	if (!file || fscanf(file, "%lf", &ns) != 1)
		die("%s says nothing", path);
	fclose(file);
	free(path);
	free(pid);
	return ns / 1e9;
}

/* The first line of the plan that has buffers belongs to the root node. Its
 * numbers include the buffers of all other nodes. */
static int
take_buffers(void *ctx, const struct rp_row *row)
{
	char *line = text("%.*s", (int)row->columns[0].size,
			  (const char *)row->columns[0].data);
	const char *at = strstr(line, "Buffers: shared");
	const char *hit = at ? strstr(at, "hit=") : NULL;
	const char *read = at ? strstr(at, "read=") : NULL;

	*(double *)ctx = (hit ? strtod(hit + 4, NULL) : 0) +
			 (read ? strtod(read + 5, NULL) : 0);
	free(line);
	return at ? RP_ROW_STOP : 0;
}

double
buffers(rp_conn *conn, const char *sql)
{
	char *command = text("explain (analyze, buffers, timing off) %s", sql);
	double ret = 0;

	server_ask(conn, command, take_buffers, &ret);
	free(command);
	return ret;
}

/* Return the median number of buffers that a claim of 100 jobs accesses, in a
 * session that has made some claims before the measurement. */
double
buffers_per_claim(const struct bench *b, const char *schema)
{
	static const char claim[] =
		"select * from settle_and_claim(array['" QUEUE
		"'], most => 100)";
	rp_conn *conn = server_connect(b, schema);
	double each[CLAIMS];

	for (int i = 0; i < 3; i++)
		buffers(conn, claim);
	for (int i = 0; i < CLAIMS; i++)
		each[i] = buffers(conn, claim);
	rp_close(conn);
	qsort(each, CLAIMS, sizeof(*each), compare);
	return each[CLAIMS / 2];
}

/* ---- round trips ---- */

/* Count round trips and statements in libpq's trace. In each round trip the
 * client sends one Sync message or one Query message. */
static void
count_messages(FILE *trace, struct trips *ret)
{
	char line[256];

	while (fgets(line, sizeof(line), trace)) {
		if (strstr(line, "\tF\t") == NULL)
			continue;
		if (strstr(line, "\tSync") || strstr(line, "\tQuery\t"))
			ret->round_trips++;
		if (strstr(line, "\tExecute\t") || strstr(line, "\tQuery\t"))
			ret->statements++;
	}
}

struct trips
trips_count(const struct side *side, void *handle, int steps, int times)
{
	struct trips ret = { 0 };
	void *conn = side->native(handle);
	FILE *trace = tmpfile();

	if (!trace)
		die("no temporary file");
	client_trace(conn, trace);
	for (int i = 0; i < times; i++)
		if (steps)
			side->step(handle);
		else
			side->put(handle);
	client_trace(conn, NULL);
	rewind(trace);
	count_messages(trace, &ret);
	fclose(trace);
	ret.statements /= times;
	ret.round_trips /= times;
	return ret;
}
