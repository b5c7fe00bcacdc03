/*
 * claim.c - requests that claim jobs, with or without verdicts that are given
 * first in the same commit.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "writes.h"

struct wanted_claim {
	json_t *queues, *verdicts;
	int64_t max, lease_ms, wait_ms;
	const char *worker;
};

#define CLAIM_WANTS                                                            \
	WANT("queues", JSON, struct wanted_claim, queues, 0, 0),               \
		WANT("max", COUNT, struct wanted_claim, max, 1, MOST_JOBS),    \
		WANT("lease", DURATION, struct wanted_claim, lease_ms, 1,      \
		     RP_MOST_MS),                                              \
		WANT("wait", DURATION, struct wanted_claim, wait_ms, 0,        \
		     MOST_WAIT_MS),                                            \
		WANT("worker", NAME, struct wanted_claim, worker, 1,           \
		     RP_MOST_WORKER)

/* Read the list of the queues' names. */
static int
take_queues(struct request *request, json_t *list)
{
	const struct want want = { NULL, WANT_NAME, 0, 1, RP_MOST_NAME };
	struct writes *writes = request->writes;
	size_t n = json_is_array(list) ? json_array_size(list) : 0;

	if (n == 0 || n > MOST_QUEUES)
		return refuse(request, RP_EINVAL, "queues",
			      "expected a list of 1 to %d names", MOST_QUEUES);
	writes->queues = calloc(n + 1, sizeof(*writes->queues));
	if (!writes->queues)
		return refuse_memory(request);
	for (size_t i = 0; i < n; i++) {
		char field[32];

		snprintf(field, sizeof(field), "queues[%zu]", i);
		if (field_read(request, json_array_get(list, i), field, &want,
			       &writes->queues[i]) < 0 ||
		    guard_queue(request, MAY_WORK, writes->queues[i]) < 0)
			return -1;
	}
	return 0;
}

static int
take_claim(struct request *request, const struct wanted_claim *wanted)
{
	struct writes *writes = request->writes;

	if (!wanted->queues)
		return refuse(request, RP_EINVAL, "queues", "missing");
	if (take_queues(request, wanted->queues) < 0)
		return -1;
	writes->max = (size_t)wanted->max;
	writes->lease_ms = wanted->lease_ms;
	writes->jobs = calloc(writes->max, sizeof(*writes->jobs));
	if (!writes->jobs)
		return refuse_memory(request);
	request->worker = wanted->worker;
	request->wait_ms = wanted->wait_ms;
	request->until_ms = now_ms() + wanted->wait_ms;
	return 0;
}

/* Record the claims in the request, so that they can be released if the answer
 * cannot be sent. */
static int
note_claims(struct request *request)
{
	const struct writes *writes = request->writes;

	request->claims =
		calloc(writes->jobs_count + 1, sizeof(*request->claims));
	if (!request->claims)
		return -1;
	for (size_t i = 0; i < writes->jobs_count; i++) {
		request->claims[i].id = writes->jobs[i]->id;
		request->claims[i].claim_no = writes->jobs[i]->claim_no;
	}
	request->claims_count = writes->jobs_count;
	return 0;
}

static void
claim_finish(struct request *request)
{
	const struct writes *writes = request->writes;
	json_t *jobs, *object;
	int r;

	if (writes->jobs_count == 0 && now_ms() < request->until_ms &&
	    !request->server->drains) {
		request->stage = STAGE_POLL;
		return;
	}
	r = note_claims(request);
	jobs = json_array();
	for (size_t i = 0; i < writes->jobs_count && r == 0; i++)
		r = json_array_append_new(jobs, json_job(writes->jobs[i]));
	object = writes->has_results ? writes_verdicts(writes) : json_object();
	if (json_object_set_new(object, "jobs", jobs) < 0)
		r = -1;
	atomic_fetch_add(&request->server->metrics.jobs[MET_CLAIMED],
			 (int64_t)writes->jobs_count);
	if (r < 0) {
		json_decref(object);
		object = NULL;
	}
	answer_json(request, 200, object);
}

/* Read what the request wants to claim, and make its writes. Returns 0 or -1.
 */
static int
read_claim(struct request *request, const struct want *wants,
	   struct wanted_claim *wanted)
{
	struct writes *writes = writes_new(request);

	if (!writes || nothing_prepare(request) < 0 ||
	    body_parse(request) < 0 ||
	    fields_read(request, request->json, "", wants, wanted) < 0)
		return -1;
	writes->finish = claim_finish;
	return 0;
}

int
claim_prepare(struct request *request)
{
	static const struct want wants[] = { CLAIM_WANTS, WANTS_END };
	struct wanted_claim wanted = { .max = 1 };

	if (read_claim(request, wants, &wanted) < 0)
		return -1;
	return take_claim(request, &wanted);
}

int
settle_and_claim_prepare(struct request *request)
{
	static const struct want wants[] = {
		CLAIM_WANTS,
		WANT("verdicts", JSON, struct wanted_claim, verdicts, 0, 0),
		WANTS_END,
	};
	struct wanted_claim wanted = { .max = 1 };

	if (read_claim(request, wants, &wanted) < 0)
		return -1;
	request->writes->has_results = 1;
	if (wanted.verdicts && verdicts_take(request, wanted.verdicts, 0) < 0)
		return -1;
	return take_claim(request, &wanted);
}
