/*
 * joined_jobs.c - enqueue the jobs of several requests, with one call for each
 * queue.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int
enqueue_alone(struct joined *j, struct writes *writes)
{
	int r = rp_enqueue_many(j->conn, writes->queue, writes->specs,
				writes->specs_count, writes->added);

	return r < 0 ? note_failure(j, writes, r) : 0;
}

static int
is_plain(const struct writes *writes)
{
	return writes->specs_count && !*writes->answer_name;
}

int
is_of_queue(const struct writes *writes, const char *queue)
{
	return is_plain(writes) && strcmp(writes->queue, queue) == 0;
}

/* Enqueue the jobs of a request with an idempotency key. If the request was
 * answered before, give the stored answer again. Otherwise store the new answer
 * in the commit that adds the jobs. */
static int
enqueue_once(struct joined *j, struct writes *writes)
{
	struct rp_answer answer = { .hash = writes->hash, .size = HASH_SIZE };
	int r = rp__answer_get(j->conn, writes->answer_name, &answer);
	char *text;

	if (r < 0 || answer.is_found) {
		writes->stored = answer.text;
		writes->is_other = answer.is_found && !answer.is_same;
		return r;
	}
	r = enqueue_alone(j, writes);
	if (r < 0 || writes->code)
		return r;
	text = enqueue_text(writes);
	r = text ? rp__answer_put(j->conn, writes->answer_name, writes->hash,
				  HASH_SIZE, text)
		 : RP_ENOMEM;
	free(text);
	j->is_key_taken = r == RP_EBUSY && !*rp_last_error(j->conn)->sqlstate;
	return r;
}

/* Enqueue in one call the jobs of all requests for one queue. `first` is the
 * index of the first of these requests, `n` the number of their jobs. */
static int
enqueue_joined(struct joined *j, size_t first, size_t n)
{
	const char *queue = j->asked[first]->writes->queue;
	rp_job_spec *specs = calloc(n, sizeof(*specs));
	rp_added *added = calloc(n, sizeof(*added));
	size_t at = 0;
	int r = specs && added ? 0 : RP_ENOMEM;

	for (size_t i = first; i < j->n && r == 0; i++) {
		struct writes *writes = j->asked[i]->writes;

		if (!is_of_queue(writes, queue))
			continue;
		memcpy(specs + at, writes->specs,
		       writes->specs_count * sizeof(*specs));
		at += writes->specs_count;
	}
	r = r < 0 ? r : rp_enqueue_many(j->conn, queue, specs, n, added);
	at = 0;
	for (size_t i = first; i < j->n && r >= 0; i++) {
		struct writes *writes = j->asked[i]->writes;

		if (!is_of_queue(writes, queue))
			continue;
		memcpy(writes->added, added + at,
		       writes->specs_count * sizeof(*added));
		at += writes->specs_count;
	}
	free(specs);
	free(added);
	return r < 0 ? r : 0;
}

static int
enqueue_queue(struct joined *j, size_t first)
{
	const char *queue = j->asked[first]->writes->queue;
	size_t requests = 0, jobs = 0;
	int r;

	for (size_t i = first; i < j->n; i++)
		if (is_of_queue(j->asked[i]->writes, queue)) {
			requests++;
			jobs += j->asked[i]->writes->specs_count;
		}
	if (requests == 1)
		return enqueue_alone(j, j->asked[first]->writes);
	r = enqueue_joined(j, first, jobs);
	if (!has_to_split(j, r))
		return r;
	r = 0;
	for (size_t i = first; i < j->n && r == 0; i++)
		if (is_of_queue(j->asked[i]->writes, queue))
			r = enqueue_alone(j, j->asked[i]->writes);
	return r;
}

int
enqueue_all(struct joined *j)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		const struct writes *writes = j->asked[i]->writes;
		int is_first = is_plain(writes);

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_of_queue(j->asked[k]->writes,
						writes->queue);
		if (is_first)
			r = enqueue_queue(j, i);
		else if (*writes->answer_name && !writes->code)
			r = enqueue_once(j, j->asked[i]->writes);
	}
	return r;
}
