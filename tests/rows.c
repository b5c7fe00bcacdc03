/*
 * rows.c - read the whole content of a database as text; see rows.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "rows.h"

#include <inttypes.h>
#include <sqlite3.h>

#include "internal.h"
#include "kinds.h"

/* ---- all rows ---- */

char *
rows_of(rp_conn *conn)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	kind_of(conn)->print(conn, to);
	fclose(to);
	return text;
}

/* ---- all jobs ---- */

/* Print the failed attempts in a form that does not depend on how the database
 * formats JSON. */
static void
print_failures(const struct rp_value *json, FILE *to)
{
	sqlite3 *db;
	sqlite3_stmt *stmt;

	sqlite3_open(":memory:", &db);
	sqlite3_prepare_v2(
		db,
		"select value ->> 'attempt', value ->> 'at',"
		" value ->> 'worker', value ->> 'text' from json_each(?)",
		-1, &stmt, NULL);
	sqlite3_bind_text(stmt, 1, json->data, (int)json->size, SQLITE_STATIC);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		for (int c = 0; c < 4; c++)
			fprintf(to, "|%s",
				(const char *)sqlite3_column_text(stmt, c));
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void
print_value(const struct rp_value *value, FILE *to)
{
	const unsigned char *p = value->data;

	if (value->type == RP_INT)
		fprintf(to, "|%" PRId64, value->i);
	else
		fprintf(to, "|%s", value->type == RP_NULL ? "null" : "");
	for (size_t i = 0; i < value->size; i++)
		fprintf(to, p[i] < 0x20 || p[i] > 0x7e ? "\\%02x" : "%c", p[i]);
}

static int
add_row(void *ctx, size_t number, const struct rp_value *c)
{
	static const int lane[] = { ROW_QUEUE, ROW_PRIORITY, ROW_CLASS };
	struct jobs *jobs = ctx;
	size_t size;
	FILE *to = open_memstream(&jobs->rows[jobs->count].text, &size);

	(void)number;
	for (int i = 0; i < ROW_COLUMNS; i++) {
		if (i == ROW_FAILURES && c[i].type != RP_NULL)
			print_failures(&c[i], to);
		else if (i != ROW_ID && i != ROW_SEQ)
			print_value(&c[i], to);
	}
	fclose(to);
	to = open_memstream(&jobs->rows[jobs->count].lane, &size);
	for (size_t i = 0; i < 3; i++)
		print_value(&c[lane[i]], to);
	fclose(to);
	jobs->rows[jobs->count].id = c[ROW_ID].i;
	jobs->rows[jobs->count].seq =
		c[ROW_SEQ].type == RP_INT ? c[ROW_SEQ].i : -1;
	assert_true(++jobs->count < 200);
	return RP_ROW_TAKE;
}

struct jobs *
jobs_of(rp_conn *conn)
{
	struct jobs *jobs = calloc(1, sizeof(*jobs));
	const char *names[20] = { NULL };
	rp_queues *queues;
	struct rp_value p[EXPORT_PARAMS] = {
		[EXPORT_AFTER] = rp__int(0),
		[EXPORT_UNTIL] = rp__int(INT64_MAX),
		[EXPORT_MAX] = rp__int(1000),
		[EXPORT_SIZE] = rp__int(INT32_MAX),
		[EXPORT_SPARE_MS] = rp__int(0),
	};
	char *list;

	ok(conn, rp_queue_list(conn, NULL, &queues));
	for (size_t i = 0; i < rp_queues_count(queues); i++)
		names[i] = rp_queues_at(queues, i)->name;
	list = rp__list(names, '[', ']');
	p[EXPORT_QUEUES] = rp__text(list);
	ok(conn, rp__run(conn, RP_V_EXPORT, p, 1, add_row, jobs));
	free(list);
	rp_queues_free(queues);
	return jobs;
}

void
free_jobs(struct jobs *jobs)
{
	for (size_t i = 0; jobs && i < jobs->count; i++) {
		free(jobs->rows[i].text);
		free(jobs->rows[i].lane);
	}
	free(jobs);
}

/* Return the number of jobs in front of this job in its lane (the ready jobs of
 * one queue, priority and class), or -1 if the job is not in the ready line. */
static int
place_of(const struct jobs *jobs, size_t which)
{
	int place = 0;

	if (jobs->rows[which].seq < 0)
		return -1;
	for (size_t i = 0; i < jobs->count; i++)
		place +=
			jobs->rows[i].seq >= 0 &&
			jobs->rows[i].seq < jobs->rows[which].seq &&
			strcmp(jobs->rows[i].lane, jobs->rows[which].lane) == 0;
	return place;
}

void
expect_same_jobs(const struct jobs *expected, const struct jobs *got,
		 int64_t shift)
{
	assert_int_equal(got->count, expected->count);
	for (size_t i = 0; i < got->count; i++) {
		assert_int_equal(got->rows[i].id, expected->rows[i].id + shift);
		assert_string_equal(got->rows[i].text, expected->rows[i].text);
		assert_int_equal(place_of(got, i), place_of(expected, i));
	}
}
