/*
 * status.c - requests for the state of the database and of the server: stats,
 * groups, workers, doctor, and whether the server is ready.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <string.h>

#include "doctor.h"
#include "handlers.h"

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
	const char *queue;

	if (check_parameters(request, names) < 0)
		return -1;
	queue = parameter(request, "queue");
	return queue ? guard_named_queue(request, "queue", queue) : 0;
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

/* ---- groups ---- */

int
groups_prepare(struct request *request)
{
	static const char *const names[] = { "queue", "blocked", "after",
					     "limit", NULL };
	const char *queue, *blocked;

	if (check_parameters(request, names) < 0)
		return -1;
	queue = parameter(request, "queue");
	blocked = parameter(request, "blocked");
	if (!queue)
		return refuse(request, RP_EINVAL, "queue", "which queue?");
	if (blocked && strcmp(blocked, "1") != 0 &&
	    strcmp(blocked, "true") != 0)
		return refuse(request, RP_EINVAL, "blocked",
			      "expected 1 or true, or no such parameter");
	if (limit_read(request) < 0)
		return -1;
	return guard_named_queue(request, "queue", queue);
}

/* Answer with a page of groups. If the page is full, the member `next` of the
 * answer is the name of the page's last group. A request with this name as the
 * parameter `after` gets the next page. */
void
groups_run(struct request *request, rp_conn *conn)
{
	const char *queue = parameter(request, "queue");
	size_t most = (size_t)request->limit, n;
	json_t *list = json_array(), *next = json_null();
	rp_groups *groups;
	int r = rp_group_list(conn, queue,
			      parameter(request, "blocked") != NULL,
			      parameter(request, "after"), most, &groups);

	if (r < 0) {
		json_decref(list);
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	n = rp_groups_count(groups);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list, json_group(queue, rp_groups_at(groups, i)));
	if (n == most)
		next = json_text(rp_groups_at(groups, n - 1)->name);
	rp_groups_free(groups);
	answer_json(request, 200,
		    json_pack("{s:o, s:o}", "groups", list, "next", next));
}

/* ---- workers ---- */

/* Hide how many jobs a worker runs and has settled. */
static void
hide_counts(json_t *worker)
{
	static const char *const counts[] = { "running", "done",     "failed",
					      "dead",    "released", NULL };

	for (size_t i = 0; counts[i]; i++)
		json_object_set_new(worker, counts[i], json_null());
	json_object_del(worker, "running_at_least");
}

/* Add a worker to the list, with those of its queues that the token may read.
 * If there is no such queue, the worker is left out. If it also serves other
 * queues, its counts are hidden, because they include jobs of those. */
static void
show_worker(const struct request *request, const rp_worker_info *worker,
	    json_t *list)
{
	json_t *object = json_worker(worker), *seen = json_array(), *one;
	json_t *queues = json_object_get(object, "queues");
	size_t i;

	json_array_foreach (queues, i, one) {
		const char *queue = json_string_value(one);

		if (queue && may(request, MAY_READ, queue))
			json_array_append(seen, one);
	}
	if (json_array_size(seen) || may(request, MAY_READ, NULL))
		json_array_append(list, object);
	if (json_array_size(seen) < json_array_size(queues))
		hide_counts(object);
	json_object_set_new(object, "queues", seen);
	json_decref(object);
}

void
workers_run(struct request *request, rp_conn *conn)
{
	json_t *list = json_array();
	rp_workers *workers;
	int r = rp_worker_list(conn, &workers);

	if (r < 0) {
		json_decref(list);
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	for (size_t i = 0; i < rp_workers_count(workers); i++)
		show_worker(request, rp_workers_at(workers, i), list);
	rp_workers_free(workers);
	answer_json(request, 200, json_pack("{s:o}", "workers", list));
}

/* ---- doctor ---- */

int
doctor_prepare(struct request *request)
{
	static const char *const names[] = { "long", NULL };
	const char *text = parameter(request, "long");

	if (check_parameters(request, names) < 0)
		return -1;
	request->wait_ms = LONG_MS;
	if (text && rp_duration(text, &request->wait_ms) < 0)
		return refuse(request, RP_EINVAL, "long",
			      "expected a duration, such as 1m");
	return guard_queue(request, MAY_READ, NULL);
}

/* Returns all findings, the worst first. The checks that were not done are at
 * the end. */
static json_t *
findings(const struct doctor *d)
{
	json_t *list = json_array();

	for (int level = 0; level < LEVELS; level++)
		json_array_extend(list, d->findings[level]);
	json_array_extend(list, d->undone);
	return json_pack("{s:o, s:i}", "findings", list, "checks", d->done);
}

void
doctor_answer(struct request *request, rp_conn *conn)
{
	struct doctor d = { .conn = conn,
			    .url = request->server->options->url,
			    .long_ms = request->wait_ms };
	int r = rp_now(conn, &d.now_ms);

	if (r < 0) {
		refuse_error(request, r, rp_last_error(conn));
		return;
	}
	if (doctor_run(&d) < 0)
		refuse_memory(request);
	else
		answer_json(request, 200, findings(&d));
	doctor_free(&d);
}

/* ---- readiness ---- */

/* If no sweep has succeeded for this time, in ms, the server reports that it is
 * not ready. */
#define SWEEP_LATE_MS 10000

/* Look for a job in the tables of jobs. No job has the id 0. */
static int
probe_jobs(rp_conn *conn)
{
	rp_batch *none;
	int r = rp_job_get(conn, 0, &none);

	return r == RP_ENOENT ? 0 : r;
}

void
readyz(struct request *request, rp_conn *conn)
{
	struct server *server = request->server;
	int64_t swept_at = atomic_load(&server->swept_at);
	int64_t late = now_ms() - swept_at;
	int sweeps = !server->options->read_only;
	int r = probe_jobs(conn);

	if (r < 0)
		refuse_error(request, r, rp_last_error(conn));
	else if (server->drains)
		refuse_status(request, 503, "ends",
			      "the server is shutting down");
	else if (sweeps && !swept_at)
		refuse_status(request, 503, "not-swept",
			      "the first sweep is not done yet");
	else if (sweeps && late > SWEEP_LATE_MS)
		refuse_status(request, 503, "not-swept",
			      "no sweep has succeeded for %lld ms",
			      (long long)late);
	else
		answer_json(request, 200, json_pack("{s:s}", "status", "ok"));
}
