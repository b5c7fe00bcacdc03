/*
 * writes.c - do the writes of several requests in one commit.
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

#include "internal.h"

/* ---- memory ---- */

struct writes *
writes_new(struct request *request)
{
	request->writes = calloc(1, sizeof(*request->writes));
	if (!request->writes)
		refuse_memory(request);
	return request->writes;
}

void
writes_free(struct writes *writes)
{
	if (!writes)
		return;
	for (size_t i = 0; i < writes->memory_count; i++)
		free(writes->memory[i]);
	free(writes->memory);
	free(writes->verdicts);
	free(writes->is_hidden);
	free(writes->specs);
	free(writes->added);
	free(writes->queues);
	free(writes->jobs);
	free(writes->stored);
	free(writes);
}

char *
writes_keep(struct writes *writes, char *text)
{
	char **memory = text ? realloc(writes->memory, (writes->memory_count +
							1) * sizeof(*memory))
			     : NULL;

	if (!memory) {
		free(text);
		return NULL;
	}
	writes->memory = memory;
	return memory[writes->memory_count++] = text;
}

struct writes *
writes_release(const struct answered_claim *claims, size_t n)
{
	struct writes *writes = calloc(1, sizeof(*writes));

	if (writes)
		writes->verdicts = calloc(n, sizeof(*writes->verdicts));
	if (!writes || !writes->verdicts) {
		free(writes);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		writes->verdicts[i] = rp__verdict(
			claims[i].id, claims[i].claim_no, RP_RELEASE);
	writes->verdicts_count = n;
	return writes;
}

/* ---- failures ---- */

int
is_about_arguments(int code)
{
	return code == RP_EINVAL || code == RP_EFBIG || code == RP_ENOENT ||
	       code == RP_ETAKEN || code == RP_EGONE || code == RP_ECANCELLED;
}

static void
fail_writes(struct writes *writes, int code, const rp_error *error)
{
	writes->code = code;
	writes->error = *error;
}

int
note_failure(struct joined *j, struct writes *writes, int code)
{
	if (is_about_arguments(code)) {
		fail_writes(writes, code, rp_last_error(j->conn));
		return 0;
	}
	return code;
}

/* ---- all together ---- */

int
has_to_split(const struct joined *j, int code)
{
	/* A single call has changed nothing then. writes_run() does all writes
	 * again, in a transaction. */
	return code < 0 && is_about_arguments(code) && !j->is_single;
}

/* Returns whether one call can do the writes of both requests. The first has
 * verdicts, a claim, both, or jobs to enqueue. */
static int
needs_same_call(const struct writes *a, const struct writes *b)
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
	const struct writes *first = j->asked[0]->writes;

	for (size_t i = 0; i < j->n; i++)
		if (!needs_same_call(first, j->asked[i]->writes))
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

/* Count the results of the verdicts. */
static void
count_verdicts(const struct writes *writes, struct metrics *m)
{
	for (size_t i = 0; i < writes->verdicts_count; i++) {
		const rp_verdict *v = &writes->verdicts[i];

		if (v->result != 0) {
			atomic_fetch_add(&m->jobs[MET_REFUSED], 1);
			continue;
		}
		if (v->verdict != RP_EXTEND)
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
writes_end_wait(struct request *request)
{
	request->until_ms = 0;
	request->writes->jobs_count = 0;
	request->writes->finish(request);
}

/* Returns the member of the job that was refused, or "" if it is not known.
 * Most members were checked before, but only the database knows how large a
 * payload may be, and what time it is. */
static const char *
refused_member(const struct writes *writes, const rp_job_spec *job)
{
	if (writes->code == RP_EFBIG)
		return "payload";
	return writes->code == RP_EINVAL && job->run_at && job->expire_ms
		       ? "expire"
		       : "";
}

/* Answer that nothing was written, and which job or member was refused. */
static void
refuse_writes(struct request *request)
{
	const struct writes *writes = request->writes;
	const int64_t item = writes->error.item;
	char field[32] = "";

	if (writes->specs_count && item >= 0 && writes->is_one)
		snprintf(field, sizeof(field), "%s",
			 refused_member(writes, &writes->specs[item]));
	else if (writes->specs_count && item >= 0)
		snprintf(field, sizeof(field), "jobs[%lld]", (long long)item);
	refuse_undone(request, writes->code, &writes->error,
		      *field ? field : NULL);
}

static void
finish(struct request *request, int code, int is_unknown, const rp_error *error)
{
	struct writes *writes = request->writes;

	if (code < 0 && !writes->code) {
		fail_writes(writes, code, error);
		writes->is_unknown = is_unknown;
	}
	clients_note(&request->server->clients, request);
	if (!request->connection)
		return;
	if (has_verdicts(writes)) {
		count_verdicts(writes, &request->server->metrics);
		writes->is_settled = 1;
	}
	/* If an earlier commit has handled the verdicts, an error would tell
	 * the client that they had no effect. So the claim ends like one that
	 * finds no job. If it is not known whether the claim was committed, its
	 * jobs are ready again when their leases end. */
	if (writes->code && writes->is_settled)
		writes_end_wait(request);
	else if (writes->code && writes->is_unknown)
		refuse_error(request, writes->code, &writes->error);
	else if (writes->code)
		refuse_writes(request);
	else
		writes->finish(request);
}

/* Forget what an earlier run has stored, which was rolled back. */
static void
reset(struct writes *writes)
{
	free(writes->stored);
	writes->stored = NULL;
	writes->is_other = 0;
	writes->jobs_count = 0;
	writes->code = 0;
}

int
writes_run(struct server *server, rp_conn *conn, struct request **asked,
	   size_t n)
{
	struct joined j = {
		.server = server, .conn = conn, .asked = asked, .n = n
	};
	int is_unknown, r;

	for (size_t i = 0; i < n; i++)
		reset(asked[i]->writes);
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
	atomic_fetch_add(&server->metrics.commits, 1);
	atomic_fetch_add(&server->metrics.commit_requests, (int64_t)n);
	return 0;
}
