/*
 * turn.c - the writes of several requests, in one commit.
 *
 * Verdicts come first, then new jobs, then claims, so a claim may get a job of
 * the same commit. If the database refuses a call that joins several requests,
 * for example because one of them has a value that is not valid, each of them
 * is tried alone.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "turn.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct joined {
	struct server *server;
	rp_conn *conn;
	struct request **asked;
	size_t n;
	rp_batch *batches[MOST_IN_TURN]; /* of claims; they are freed after the
					    answers */
	size_t batches_count;
	int code; /* of a failure that ended the transaction */
	rp_error error;
};

/* ---- memory ---- */

struct turn *
turn_new(struct request *request)
{
	request->turn = calloc(1, sizeof(*request->turn));
	if (!request->turn)
		refuse(request, RP_ENOMEM, NULL, "out of memory");
	return request->turn;
}

void
turn_free(struct turn *turn)
{
	if (!turn)
		return;
	for (size_t i = 0; i < turn->memory_count; i++)
		free(turn->memory[i]);
	free(turn->memory);
	free(turn->verdicts);
	free(turn->is_hidden);
	free(turn->specs);
	free(turn->added);
	free(turn->queues);
	free(turn->jobs);
	free(turn->stored);
	free(turn);
}

char *
turn_keep(struct turn *turn, char *text)
{
	char **memory = text ? realloc(turn->memory, (turn->memory_count + 1) *
							     sizeof(*memory))
			     : NULL;

	if (!memory) {
		free(text);
		return NULL;
	}
	turn->memory = memory;
	return memory[turn->memory_count++] = text;
}

struct turn *
turn_release(const struct held *held, size_t n)
{
	struct turn *turn = calloc(1, sizeof(*turn));

	if (turn)
		turn->verdicts = calloc(n, sizeof(*turn->verdicts));
	if (!turn || !turn->verdicts) {
		free(turn);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		turn->verdicts[i] = (rp_verdict)RP_VERDICT_INIT;
		turn->verdicts[i].verdict = RP_RELEASE;
		turn->verdicts[i].id = held[i].id;
		turn->verdicts[i].claim_no = held[i].claim_no;
	}
	turn->verdicts_count = n;
	return turn;
}

/* ---- failures ---- */

/* Returns whether the failure is about the arguments of the call. Then the
 * transaction goes on. */
static int
is_about_arguments(int code)
{
	return code == RP_EINVAL || code == RP_EFBIG || code == RP_ENOENT ||
	       code == RP_ETAKEN || code == RP_EGONE || code == RP_ECANCELLED;
}

static void
fail_turn(struct turn *turn, int code, const rp_error *error)
{
	turn->code = code;
	turn->error = *error;
}

/* Note a failure. Returns 0 if the transaction goes on, or the failure. */
static int
note_failure(struct joined *j, struct turn *turn, int code)
{
	if (is_about_arguments(code)) {
		fail_turn(turn, code, rp_last_error(j->conn));
		return 0;
	}
	return code;
}

/* ---- verdicts ---- */

static int
has_verdicts(const struct turn *turn)
{
	return turn->verdicts_count && !turn->is_settled && !turn->code;
}

/* A token may be limited to some queues. To it, a job of another queue does not
 * exist. */
static int
hide_verdicts(struct joined *j, struct request *request)
{
	struct turn *turn = request->turn;

	if (!request->token || may(request, MAY_WORK, NULL))
		return 0;
	turn->is_hidden = calloc(turn->verdicts_count, 1);
	for (size_t i = 0; i < turn->verdicts_count; i++) {
		rp_batch *batch;
		int r = turn->is_hidden
				? rp_job_get(j->conn, turn->verdicts[i].id,
					     &batch)
				: RP_ENOMEM;

		if (r < 0 && r != RP_ENOENT)
			return r;
		turn->is_hidden[i] =
			r < 0 ||
			!may(request, MAY_WORK, rp_batch_at(batch, 0)->queue);
		if (turn->is_hidden[i])
			turn->verdicts[i].result = RP_ENOENT;
		if (r >= 0)
			rp_batch_free(batch);
	}
	return 0;
}

/* Copy the verdicts of a turn to the call's array, or their results back. */
static size_t
copy_verdicts(struct turn *turn, rp_verdict *all, size_t at, int back)
{
	for (size_t i = 0; i < turn->verdicts_count; i++) {
		if (turn->is_hidden && turn->is_hidden[i])
			continue;
		if (back)
			turn->verdicts[i] = all[at];
		else
			all[at] = turn->verdicts[i];
		at++;
	}
	return at;
}

/* Give the verdicts of the requests from `from` on, before `to`, in one
 * call. */
static int
settle_some(struct joined *j, size_t from, size_t to, rp_verdict *all)
{
	size_t n = 0;
	int r;

	for (size_t i = from; i < to; i++)
		if (has_verdicts(j->asked[i]->turn))
			n = copy_verdicts(j->asked[i]->turn, all, n, 0);
	if (n == 0)
		return 0;
	r = rp_settle(j->conn, all, n);
	n = 0;
	for (size_t i = from; i < to && r >= 0; i++)
		if (has_verdicts(j->asked[i]->turn))
			n = copy_verdicts(j->asked[i]->turn, all, n, 1);
	return r;
}

static int
settle_each(struct joined *j, rp_verdict *all)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		r = settle_some(j, i, i + 1, all);
		r = r < 0 ? note_failure(j, j->asked[i]->turn, r) : 0;
	}
	return r;
}

static int
settle_all(struct joined *j)
{
	rp_verdict *all;
	size_t most = 0;
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		if (!has_verdicts(j->asked[i]->turn))
			continue;
		most += j->asked[i]->turn->verdicts_count;
		r = hide_verdicts(j, j->asked[i]);
	}
	if (most == 0 || r < 0)
		return r;
	all = calloc(most, sizeof(*all));
	if (!all)
		return RP_ENOMEM;
	r = settle_some(j, 0, j->n, all);
	if (r < 0 && is_about_arguments(r))
		r = settle_each(j, all);
	free(all);
	return r < 0 ? r : 0;
}

/* ---- new jobs ---- */

static int
enqueue_alone(struct joined *j, struct turn *turn)
{
	int r = rp_enqueue_many(j->conn, turn->queue, turn->specs,
				turn->specs_count, turn->added);

	return r < 0 ? note_failure(j, turn, r) : 0;
}

/* Whether the turn's jobs can be joined with those of others. */
static int
is_plain(const struct turn *turn)
{
	return turn->specs_count && !*turn->answer_name && !turn->code;
}

static int
is_of_queue(const struct turn *turn, const char *queue)
{
	return is_plain(turn) && strcmp(turn->queue, queue) == 0;
}

/* A request with an idempotency key: if it was answered before, the same answer
 * is given again. The answer is stored in the commit that adds the jobs. */
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
	return r;
}

/* Enqueue the jobs of all requests for a queue, the first of which is the
 * request `first`. */
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
	if (r == 0 || !is_about_arguments(r))
		return r;
	r = 0;
	for (size_t i = first; i < j->n && r == 0; i++)
		if (is_of_queue(j->asked[i]->turn, queue))
			r = enqueue_alone(j, j->asked[i]->turn);
	return r;
}

static int
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

/* ---- claims ---- */

static int
claims_alike(const struct turn *a, const struct turn *b)
{
	size_t i = 0;

	if (!b->queues || b->code || a->lease_ms != b->lease_ms)
		return 0;
	for (; a->queues[i] && b->queues[i]; i++)
		if (strcmp(a->queues[i], b->queues[i]) != 0)
			return 0;
	return !a->queues[i] && !b->queues[i];
}

/* Deal the jobs to the requests in turns, so that none gets all of them while
 * others get nothing. */
static void
deal(const struct joined *j, size_t first, const rp_batch *batch)
{
	const struct turn *model = j->asked[first]->turn;
	size_t dealt = 0, before = SIZE_MAX;

	while (dealt < rp_batch_count(batch) && dealt != before) {
		before = dealt;
		for (size_t i = first;
		     i < j->n && dealt < rp_batch_count(batch); i++) {
			struct turn *turn = j->asked[i]->turn;

			if (!claims_alike(model, turn) ||
			    turn->jobs_count == turn->max)
				continue;
			turn->jobs[turn->jobs_count++] =
				rp_batch_at(batch, dealt++);
		}
	}
}

static int
claim_joined(struct joined *j, size_t first)
{
	struct turn *turn = j->asked[first]->turn;
	rp_claim_options options = RP_CLAIM_INIT;
	size_t max = 0;
	int r;

	for (size_t i = first; i < j->n; i++)
		if (claims_alike(turn, j->asked[i]->turn))
			max += j->asked[i]->turn->max;
	options.lease_ms = turn->lease_ms;
	options.queues = turn->queues;
	max = max > MOST_JOBS ? MOST_JOBS : max;
	r = rp_claim(j->conn, NULL, max, &options,
		     &j->batches[j->batches_count]);
	if (r >= 0) {
		deal(j, first, j->batches[j->batches_count++]);
		return 0;
	}
	if (!is_about_arguments(r))
		return r;
	for (size_t i = first; i < j->n; i++)
		if (claims_alike(turn, j->asked[i]->turn) &&
		    j->asked[i] != j->asked[first])
			note_failure(j, j->asked[i]->turn, r);
	return note_failure(j, turn, r);
}

static int
claim_all(struct joined *j)
{
	int r = 0;

	for (size_t i = 0; i < j->n && r == 0; i++) {
		const struct turn *turn = j->asked[i]->turn;
		int is_first = turn->queues && !turn->code;

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !claims_alike(turn, j->asked[k]->turn);
		if (is_first)
			r = claim_joined(j, i);
	}
	return r;
}

/* ---- all together ---- */

static int
has_one_call(const struct turn *turn)
{
	return !*turn->answer_name && (has_verdicts(turn) != 0) +
						      (turn->specs_count != 0) +
						      (turn->queues != NULL) ==
					      1;
}

/* Do everything in one transaction. A single call is a transaction of its own,
 * which is faster. */
static int
run_joined(struct joined *j, int *ret_is_unknown)
{
	int is_single = j->n == 1 && has_one_call(j->asked[0]->turn);
	int r = is_single ? 0 : rp_begin(j->conn);

	*ret_is_unknown = 0;
	if (r == 0)
		r = settle_all(j);
	if (r == 0)
		r = enqueue_all(j);
	if (r == 0)
		r = claim_all(j);
	if (r == 0 && !is_single)
		r = rp_commit(j->conn);
	else if (r < 0 && !is_single) {
		j->error = *rp_last_error(j->conn);
		rp_rollback(j->conn);
		return r;
	}
	*ret_is_unknown = r == RP_ELOST;
	if (r < 0)
		j->error = *rp_last_error(j->conn);
	return r;
}

/* Count the results of verdicts that were given in this turn. */
static void
count_verdicts(const struct turn *turn, struct metrics *metrics)
{
	int64_t ok = 0;

	for (size_t i = 0; i < turn->verdicts_count; i++)
		ok += turn->verdicts[i].result == 0;
	atomic_fetch_add(&metrics->jobs[MET_SETTLED], ok);
	atomic_fetch_add(&metrics->jobs[MET_REFUSED],
			 (int64_t)turn->verdicts_count - ok);
}

static void
finish(struct request *request, int code, int is_unknown, const rp_error *error)
{
	struct turn *turn = request->turn;

	if (code < 0 && !turn->code) {
		fail_turn(turn, code, error);
		turn->is_unknown = is_unknown;
	}
	if (!request->connection)
		return;
	if (has_verdicts(turn)) {
		count_verdicts(turn, &request->server->metrics);
		turn->is_settled = 1;
	}
	if (turn->code && turn->is_unknown)
		refuse_error(request, turn->code, &turn->error);
	else if (turn->code)
		refuse_undone(request, turn->code, &turn->error);
	else
		turn->finish(request);
}

void
turns_run(struct server *server, rp_conn *conn, struct request **asked,
	  size_t n)
{
	struct joined j = {
		.server = server, .conn = conn, .asked = asked, .n = n
	};
	int is_unknown, r;

	for (size_t i = 0; i < n; i++)
		asked[i]->turn->jobs_count = 0;
	r = run_joined(&j, &is_unknown);
	if (r < 0 && !*j.error.message)
		snprintf(j.error.message, sizeof(j.error.message), "%s",
			 rp_error_text(r));
	for (size_t i = 0; i < n; i++)
		finish(asked[i], r, is_unknown, &j.error);
	for (size_t i = 0; i < j.batches_count; i++)
		rp_batch_free(j.batches[i]);
	atomic_fetch_add(&server->metrics.turns, 1);
	atomic_fetch_add(&server->metrics.turn_requests, (int64_t)n);
}
