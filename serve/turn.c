/*
 * turn.c - do the writes of several requests in one commit.
 *
 * The order is: verdicts, new jobs, claims. So a claim can get a job that the
 * same commit adds. If the database refuses a call for several requests, for
 * example because one of the requests has an invalid value, each of these
 * requests gets a call of its own.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "joined.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

struct turn *
turn_new(struct request *request)
{
	request->turn = calloc(1, sizeof(*request->turn));
	if (!request->turn)
		refuse_memory(request);
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

int
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

int
note_failure(struct joined *j, struct turn *turn, int code)
{
	if (is_about_arguments(code)) {
		fail_turn(turn, code, rp_last_error(j->conn));
		return 0;
	}
	return code;
}

/* ---- all together ---- */

int
has_to_split(const struct joined *j, int code)
{
	/* A single call has changed nothing then. turns_run() does all writes
	 * again, in a transaction. */
	return code < 0 && is_about_arguments(code) && !j->is_single;
}

/* Returns whether one call can do the writes of both turns. The first turn has
 * verdicts, a claim, both, or jobs to enqueue. */
static int
needs_same_call(const struct turn *a, const struct turn *b)
{
	if (a->specs_count)
		return !b->queues && !has_verdicts(b) &&
		       is_of_queue(b, a->queue);
	if (b->specs_count || *b->answer_name)
		return 0;
	return a->queues ? claims_alike(a, b) : !b->queues;
}

static int
needs_one_call(const struct joined *j)
{
	const struct turn *first = j->asked[0]->turn;

	for (size_t i = 0; i < j->n; i++)
		if (!needs_same_call(first, j->asked[i]->turn))
			return 0;
	return 1;
}

/* Do the writes of all requests in one transaction. If one call is enough, no
 * transaction is begun, because the call is a transaction of its own. That is
 * faster. */
static int
run_joined(struct joined *j, int *ret_is_unknown)
{
	int r = j->is_single ? 0 : rp_begin(j->conn);

	*ret_is_unknown = 0;
	if (r == 0)
		r = settle_all(j);
	if (r == 0)
		r = enqueue_all(j);
	if (r == 0 &&
	    !j->batches_count) /* the call of settle_all() may claim */
		r = claim_all(j);
	if (r == 0 && !j->is_single)
		r = rp_commit(j->conn);
	else if (r < 0 && !j->is_single) {
		j->error = *rp_last_error(j->conn);
		rp_rollback(j->conn);
		return r;
	}
	*ret_is_unknown = r == RP_ELOST;
	if (r < 0)
		j->error = *rp_last_error(j->conn);
	return r;
}

/* Count the results of the turn's verdicts. */
static void
count_verdicts(const struct turn *turn, struct metrics *m)
{
	for (size_t i = 0; i < turn->verdicts_count; i++) {
		const rp_verdict *v = &turn->verdicts[i];

		if (v->result != 0) {
			atomic_fetch_add(&m->jobs[MET_REFUSED], 1);
			continue;
		}
		atomic_fetch_add(&m->jobs[MET_SETTLED], 1);
		atomic_fetch_add(&m->verdicts[verdict_outcome(v)], 1);
	}
}

/* Returns whether the failure, after which nothing was done, may concern only
 * some of several requests: a locked row, a deadlock or a serialization failure
 * (SQLSTATE 40), an idempotency key that another server has just stored, or a
 * statement that the database refuses. After any other failure, for example if
 * there is no connection, each request would fail again, and take as long. */
static int
may_concern_some(const struct joined *j, int code)
{
	return is_lock_timeout(code, &j->error) || code == RP_EDB ||
	       code == RP_ENOMEM ||
	       (code == RP_EBUSY &&
		(j->is_key_taken || strncmp(j->error.sqlstate, "40", 2) == 0));
}

static void
free_batches(struct joined *j)
{
	for (size_t i = 0; i < j->batches_count; i++)
		rp_batch_free(j->batches[i]);
}

void
turn_end_wait(struct request *request)
{
	request->until_ms = 0;
	request->turn->jobs_count = 0;
	request->turn->finish(request);
}

static void
finish(struct request *request, int code, int is_unknown, const rp_error *error)
{
	struct turn *turn = request->turn;

	if (code < 0 && !turn->code) {
		fail_turn(turn, code, error);
		turn->is_unknown = is_unknown;
	}
	clients_note(&request->server->clients, request);
	if (!request->connection)
		return;
	if (has_verdicts(turn)) {
		count_verdicts(turn, &request->server->metrics);
		turn->is_settled = 1;
	}
	/* If an earlier commit has handled the verdicts, an error would tell
	 * the client that they had no effect. So the claim ends like one that
	 * finds no job. If it is not known whether the claim was committed, its
	 * jobs are ready again when their leases end. */
	if (turn->code && turn->is_settled)
		turn_end_wait(request);
	else if (turn->code && turn->is_unknown)
		refuse_error(request, turn->code, &turn->error);
	else if (turn->code)
		refuse_undone(request, turn->code, &turn->error);
	else
		turn->finish(request);
}

/* Forget what an earlier run has stored, which was rolled back. */
static void
reset(struct turn *turn)
{
	free(turn->stored);
	turn->stored = NULL;
	turn->is_other = 0;
	turn->jobs_count = 0;
	turn->code = 0;
}

int
turns_run(struct server *server, rp_conn *conn, struct request **asked,
	  size_t n)
{
	struct joined j = {
		.server = server, .conn = conn, .asked = asked, .n = n
	};
	int is_unknown, r;

	for (size_t i = 0; i < n; i++)
		reset(asked[i]->turn);
	clients_hear(&server->clients, conn, asked, n);
	j.shares_jobs = verdicts_share_jobs(&j);
	j.is_single = needs_one_call(&j) && !j.shares_jobs;
	r = run_joined(&j, &is_unknown);
	if (j.is_single && is_about_arguments(r)) {
		j.is_single = 0;
		r = run_joined(&j, &is_unknown);
	}
	if (n > 1 && may_concern_some(&j, r)) {
		free_batches(&j);
		return -1;
	}
	if (r < 0 && !*j.error.message)
		snprintf(j.error.message, sizeof(j.error.message), "%s",
			 rp_error_text(r));
	for (size_t i = 0; i < n; i++)
		finish(asked[i], r, is_unknown, &j.error);
	free_batches(&j);
	atomic_fetch_add(&server->metrics.turns, 1);
	atomic_fetch_add(&server->metrics.turn_requests, (int64_t)n);
	return 0;
}
