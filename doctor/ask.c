/*
 * ask.c - run the query of one check of `readpast doctor` on the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "doctor.h"

#include "internal.h"
#include "queries.h"

/* The longest time that a query may take, in ms. The limit for a database in a
 * file is lower, because a long read keeps checkpoints from emptying the -wal
 * file, which then grows. */
#define MOST_MS 300
#define MOST_OF_FILE_MS 100

const char *
doctor_question(const struct doctor *d, const char *name)
{
	return find_query(rp_conn_scheme(d->conn), "doctor", name);
}

static json_t *
json_of(const struct rp_value *value)
{
	json_t *ret = NULL;

	if (value->type == RP_INT)
		return json_integer(value->i);
	if (value->type == RP_TEXT)
		ret = json_stringn(value->data, value->size);
	return ret ? ret : json_null();
}

static int
take_row(void *ctx, const struct rp_row *row)
{
	json_t *object = json_object();

	for (size_t i = 0; object && i < row->count; i++)
		json_object_set_new(object, row->names[i],
				    json_of(&row->columns[i]));
	return json_array_append_new(ctx, object) < 0 ? RP_ENOMEM : 0;
}

int
doctor_ask(struct doctor *d, const char *sql, json_t *rows)
{
	const struct rp_param params[] = {
		{ "long_ms", { .type = RP_INT, .i = d->long_ms } },
		{ "now_ms", { .type = RP_INT, .i = d->now_ms } },
		{ NULL, { .type = RP_NULL } },
	};
	struct rp_query query = { .sql = sql,
				  .params = params,
				  .timeout_ms = d->is_file ? MOST_OF_FILE_MS
							   : MOST_MS,
				  .flags = RP_QUERY_READ,
				  .row = take_row,
				  .ctx = rows };
	int r = rp__query(d->conn, &query);

	if (r == RP_TIMED_OUT)
		return doctor_undone(d, "stopped after %d ms%s",
				     query.timeout_ms,
				     d->is_file ? ", because a longer read "
						  "would block checkpoints"
						: "");
	if (r == RP_ENOMEM)
		return -1;
	if (r == RP_EDAMAGED)
		return doctor_found_too(
			d, "integrity",
			json_pack("{ss}", "problem",
				  rp_last_error(d->conn)->message));
	return r < 0 ? doctor_undone(d, "%s", rp_last_error(d->conn)->message)
		     : 0;
}
