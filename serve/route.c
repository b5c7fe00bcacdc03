/*
 * route.c - the table of routes: the function for each path and method.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <string.h>

#include "handlers.h"

const struct route routes[] = {
	{ "GET", "", THREAD_LOOP, MAY_ALL, 0, NULL, page_run },
	{ "GET", "openapi.json", THREAD_LOOP, MAY_ALL, 0, nothing_prepare,
	  page_run },
	{ "GET", "healthz", THREAD_LOOP, MAY_ALL, 0, NULL, healthz },
	{ "GET", "readyz", THREAD_READER, MAY_ALL, 0, nothing_prepare, readyz },
	{ "GET", "metrics", THREAD_READER, MAY_READ, 0, metrics_prepare,
	  metrics_run },
	{ "GET", "v1/session", THREAD_LOOP, MAY_ANY, 0, nothing_prepare,
	  session_run },
	{ "POST", "v1/session", THREAD_LOOP, MAY_ANY, 0, empty_body_prepare,
	  session_begin },
	{ "DELETE", "v1/session", THREAD_LOOP, MAY_ALL, 0, empty_body_prepare,
	  session_end },
	{ "GET", "v1/queues", THREAD_READER, MAY_READ, 0, nothing_prepare,
	  queues_run },
	{ "GET", "v1/queues/*", THREAD_READER, MAY_READ, 1, nothing_prepare,
	  queue_run },
	{ "PUT", "v1/queues/*", THREAD_READER, MAY_ADMIN, 1, queue_set_prepare,
	  queue_set_run },
	{ "PATCH", "v1/queues/*", THREAD_READER, MAY_ADMIN, 1,
	  queue_set_prepare, queue_set_run },
	{ "DELETE", "v1/queues/*", THREAD_READER, MAY_ADMIN, 1,
	  empty_body_prepare, queue_drop_run },
	{ "POST", "v1/queues/*/pause", THREAD_READER, MAY_ADMIN, 1,
	  queue_pause_prepare, queue_pause_run },
	{ "POST", "v1/queues/*/resume", THREAD_READER, MAY_ADMIN, 1,
	  empty_body_prepare, queue_resume_run },
	{ "POST", "v1/queues/*/hold", THREAD_READER, MAY_ADMIN, 1,
	  queue_hold_prepare, queue_hold_run },
	{ "POST", "v1/queues/*/jobs", THREAD_WRITER, MAY_ENQUEUE, 1,
	  enqueue_prepare, NULL },
	{ "POST", "v1/queues/*/retry-dead", THREAD_READER, MAY_ADMIN, 1,
	  bulk_prepare, bulk_run },
	{ "POST", "v1/queues/*/cancel", THREAD_READER, MAY_ADMIN, 1,
	  bulk_prepare, bulk_run },
	{ "POST", "v1/queues/*/purge", THREAD_READER, MAY_ADMIN, 1,
	  bulk_prepare, bulk_run },
	{ "POST", "v1/claim", THREAD_WRITER, MAY_WORK, 0, claim_prepare, NULL },
	{ "POST", "v1/verdicts", THREAD_WRITER, MAY_WORK, 0, verdicts_prepare,
	  NULL },
	{ "POST", "v1/settle-and-claim", THREAD_WRITER, MAY_WORK, 0,
	  settle_and_claim_prepare, NULL },
	{ "GET", "v1/jobs", THREAD_READER, MAY_READ, 0, jobs_prepare,
	  jobs_run },
	{ "GET", "v1/jobs/*", THREAD_READER, MAY_READ, 0, job_prepare,
	  job_run },
	{ "GET", "v1/jobs/*/payload", THREAD_READER, MAY_READ, 0, job_prepare,
	  job_payload_run },
	{ "GET", "v1/jobs/*/why", THREAD_READER, MAY_READ, 0, job_prepare,
	  job_why_run },
	{ "GET", "v1/jobs/*/outcome", THREAD_READER, MAY_READ, 0,
	  job_outcome_prepare, job_outcome_run },
	{ "POST", "v1/jobs/*/cancel", THREAD_READER, MAY_ADMIN, 0,
	  job_cancel_prepare, job_cancel_run },
	{ "POST", "v1/jobs/*/retry", THREAD_READER, MAY_ADMIN, 0,
	  job_cancel_prepare, job_retry_run },
	{ "POST", "v1/jobs/*/change", THREAD_READER, MAY_ADMIN, 0,
	  job_change_prepare, job_change_run },
	{ "GET", "v1/schedules", THREAD_READER, MAY_READ, 0, nothing_prepare,
	  schedules_run },
	{ "GET", "v1/schedules/*", THREAD_READER, MAY_READ, 0, nothing_prepare,
	  schedule_run },
	{ "PUT", "v1/schedules/*", THREAD_READER, MAY_ADMIN, 0,
	  schedule_set_prepare, schedule_set_run },
	{ "DELETE", "v1/schedules/*", THREAD_READER, MAY_ADMIN, 0,
	  empty_body_prepare, schedule_remove_run },
	{ "POST", "v1/schedules/*/run", THREAD_READER, MAY_ADMIN, 0,
	  empty_body_prepare, schedule_fire_run },
	{ "POST", "v1/schedules/*/pause", THREAD_READER, MAY_ADMIN, 0,
	  empty_body_prepare, schedule_pause_run },
	{ "POST", "v1/schedules/*/resume", THREAD_READER, MAY_ADMIN, 0,
	  empty_body_prepare, schedule_resume_run },
	{ "GET", "v1/groups", THREAD_READER, MAY_READ, 0, groups_prepare,
	  groups_run },
	{ "GET", "v1/workers", THREAD_READER, MAY_READ, 0, nothing_prepare,
	  workers_run },
	{ "GET", "v1/doctor", THREAD_READER, MAY_READ, 0, doctor_prepare,
	  doctor_answer },
	{ "GET", "v1/stats", THREAD_READER, MAY_READ, 0, stats_prepare,
	  stats_run },
	{ "GET", "v1/events", THREAD_LOOP, MAY_READ, 0, events_prepare,
	  events_run },
	{ NULL, NULL, THREAD_LOOP, MAY_ALL, 0, NULL, NULL },
};

/* The route of all files of the web page. */
static const struct route page = { "GET", "",   THREAD_LOOP, MAY_ALL,
				   0,     NULL, page_run };

static int
matches(const struct request *request, const char *path)
{
	for (size_t i = 0; i < request->depth; i++) {
		const char *segment = request->segments[i];
		size_t n = strcspn(path, "/");
		int is_any = n == 1 && *path == '*';

		if (is_any ? !*segment
			   : strlen(segment) != n ||
				     strncmp(segment, path, n) != 0)
			return 0;
		path += n;
		if ((*path == '/') != (i + 1 < request->depth))
			return 0;
		path += *path == '/';
	}
	return 1;
}

/* Write the methods that the request's path allows. The files of the page have
 * no route in the table. */
static void
list_methods(const struct request *request, char *to, size_t room)
{
	size_t used = 0;

	snprintf(to, room, "GET, HEAD");
	for (const struct route *r = routes; r->method; r++)
		if (matches(request, r->path))
			used += (size_t)snprintf(
				to + used, room - used, "%s%s%s",
				used ? ", " : "", r->method,
				strcmp(r->method, "GET") == 0 ? ", HEAD" : "");
}

static int
refuse_method(struct request *request)
{
	char allow[sizeof(request->answer.allow)];

	list_methods(request, allow, sizeof(allow));
	refuse_status(request, 405, "method",
		      "the path does not allow the method %.20s, only %s",
		      request->method, allow);
	strcpy(request->answer.allow, allow);
	return -1;
}

int
route_find(struct request *request)
{
	const char *method =
		strcmp(request->method, "HEAD") == 0 ? "GET" : request->method;
	int has_path = 0;

	for (const struct route *r = routes; r->method; r++) {
		if (!matches(request, r->path))
			continue;
		has_path = 1;
		if (strcmp(r->method, method) != 0)
			continue;
		request->route = r;
		return 0;
	}
	if (has_path)
		return refuse_method(request);
	if (page_find(request) < 0)
		return refuse(request, RP_ENOENT, NULL, "no such path");
	request->route = &page;
	return strcmp(method, page.method) == 0 ? 0 : refuse_method(request);
}
