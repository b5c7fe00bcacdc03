/*
 * look.c - what only reads: stats, workers, doctor, and whether the server is
 * well.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "handlers.h"

#include <string.h>

void
healthz(struct request *request, rp_conn *conn)
{
	(void)conn;
	answer_json(request, 200, json_pack("{s:s}", "status", "ok"));
}

/* ---- stats ---- */

int
stats_prepare(struct request *request)
{
	static const char *const names[] = { "queue", NULL };

	return check_parameters(request, names);
}

void
stats_run(struct request *request, rp_conn *conn)
{
	const char *queue = parameter(request, "queue");
	json_t *list = json_array();
	rp_stats *stats;
	int r = rp_stats_get(conn, queue, &stats);

	if (r < 0) {
		json_decref(list);
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	for (size_t i = 0; i < rp_stats_count(stats); i++)
		if (may(request, MAY_READ, rp_stats_at(stats, i)->queue))
			json_array_append_new(
				list, json_stats(rp_stats_at(stats, i)));
	rp_stats_free(stats);
	answer_json(request, 200, json_pack("{s:o}", "queues", list));
}
