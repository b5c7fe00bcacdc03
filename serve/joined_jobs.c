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
enqueue_alone(struct joined *j, struct turn *turn)
{
	int r = rp_enqueue_many(j->conn, turn->queue, turn->specs,
				turn->specs_count, turn->added);

	return r < 0 ? note_failure(j, turn, r) : 0;
}

static int
is_plain(const struct turn *turn)
{
	return turn->specs_count && !*turn->answer_name;
}

int
is_of_queue(const struct turn *turn, const char *queue)
{
	return is_plain(turn) && strcmp(turn->queue, queue) == 0;
}

/* Enqueue the jobs of a request with an idempotency key. If the request was
 * answered before, give the stored answer again. Otherwise store the new answer
 * in the commit that adds the jobs. */
static int
enqueue_once(struct joined *j, struct turn *turn)
{
	struct rp_answer answer = { .hash = turn->hash, .size = HASH_SIZE };
	int r = rp__answer_get(j->conn, turn->answer_name, &answer);
	char *text;

	if (r < 0 || answer.is_found) {
		turn->stored = answer.text;
		turn->is_other = answer.is_found && !answer.is_same;
		return r;
	}
	r = enqueue_alone(j, turn);
	if (r < 0 || turn->code)
		return r;
	text = enqueue_text(turn);
	r = text ? rp__answer_put(j->conn, turn->answer_name, turn->hash,
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
	const char *queue = j->asked[first]->turn->queue;
	rp_job_spec *specs = calloc(n, sizeof(*specs));
	rp_added *added = calloc(n, sizeof(*added));
	size_t at = 0;
	int r = specs && added ? 0 : RP_ENOMEM;

	for (size_t i = first; i < j->n && r == 0; i++) {
		struct turn *turn = j->asked[i]->turn;

		if (!is_of_queue(turn, queue))
			continue;
		memcpy(specs + at, turn->specs,
		       turn->specs_count * sizeof(*specs));
		at += turn->specs_count;
	}
	r = r < 0 ? r : rp_enqueue_many(j->conn, queue, specs, n, added);
	at = 0;
	for (size_t i = first; i < j->n && r >= 0; i++) {
		struct turn *turn = j->asked[i]->turn;

		if (!is_of_queue(turn, queue))
			continue;
		memcpy(turn->added, added + at,
		       turn->specs_count * sizeof(*added));
		at += turn->specs_count;
	}
	free(specs);
	free(added);
	return r < 0 ? r : 0;
}

static int
enqueue_queue(struct joined *j, size_t first)
{
	const char *queue = j->asked[first]->turn->queue;
	size_t requests = 0, jobs = 0;
	int r;

	for (size_t i = first; i < j->n; i++)
		if (is_of_queue(j->asked[i]->turn, queue)) {
			requests++;
			jobs += j->asked[i]->turn->specs_count;
		}
	if (requests == 1)
		return enqueue_alone(j, j->asked[first]->turn);
	r = enqueue_joined(j, first, jobs);
	if (!has_to_split(j, r))
		return r;
	r = 0;
	for (size_t i = first; i < j->n && r == 0; i++)
		if (is_of_queue(j->asked[i]->turn, queue))
			r = enqueue_alone(j, j->asked[i]->turn);
	return r;
}

int
enqueue_all(struct joined *j)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		const struct turn *turn = j->asked[i]->turn;
		int is_first = is_plain(turn);

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_of_queue(j->asked[k]->turn, turn->queue);
		if (is_first)
			r = enqueue_queue(j, i);
		else if (*turn->answer_name && !turn->code)
			r = enqueue_once(j, j->asked[i]->turn);
	}
	return r;
}
