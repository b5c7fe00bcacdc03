/*
 * change.c - cancel, retry, change or purge the jobs with given ids, or the
 * jobs that match a filter.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "change.h"

#include <stdlib.h>
#include <string.h>

#include "history.h"

/* Open the database. If the command moves jobs to another queue, check that
 * this queue exists, even if no job will be found. */
static int
open_for(const struct change *c)
{
	int status = cmd_open(c->cmd);

	if (!status && c->what.queue)
		status = find_queue(c->cmd, c->what.queue, 0);
	return status;
}

/* ---- by id ---- */

/* Report the outcome for one job. `r` is what the library returned for this
 * job. */
static int
report_one(const struct change *c, int64_t id, int r)
{
	const char *text = rp_last_error(c->cmd->conn)->message;
	int status = 0, failed;

	if (c->json) {
		const struct member members[] = {
			{ "id", json_integer(id) },
			{ "result", json_text(r == 0           ? c->act->event
					      : r == RP_ENOENT ? "missing"
							       : "refused") },
			{ "error", json_text(r < 0 ? text : NULL) },
		};

		status = print_json(JSON_MEMBERS(members));
	}
	if (r == 0)
		return status;
	failed = r == RP_EGONE
			 ? complain(REFUSED, "%s: only %s", text, c->act->which)
			 : cmd_failed(c->cmd, r);
	return worst(status, failed);
}

/* Change one job by its id. */
static int
change_one(const struct change *c, int64_t id)
{
	rp_change what = c->what;

	if (c->act->one)
		return c->act->one(c->cmd->conn, id, c->filter.kind);
	what.kind = c->filter.kind;
	return rp_job_change(c->cmd->conn, id, &what);
}

static int
change_all(const struct change *c, const int64_t *ids, size_t n, int state,
	   struct rp_changed *changed)
{
	rp_change what = c->what;

	if (c->act->all)
		return c->act->all(c->cmd->conn, ids, n, state, c->filter.kind,
				   changed);
	what.kind = c->filter.kind;
	return rp__jobs_change(c->cmd->conn, ids, n, state, &what, changed);
}

static int
change_each(const struct change *c, const struct found *jobs)
{
	int status = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		int64_t id = jobs->ids[i];
		int r = change_one(c, id);

		if (r == 0)
			history_job(c->cmd->history, c->act->event, id);
		status = worst(status, report_one(c, id, r));
		if (r < 0 && status_of(r) == FAILED)
			return FAILED;
	}
	return status;
}

/* Check that the command can change this job. Returns 0, or an exit status
 * after printing the reason why it cannot. */
static int
check_job(const struct change *c, const rp_job *job)
{
	const char *kind = c->filter.kind;
	const char *its = job->kind ? job->kind : "";

	if (kind && strcmp(kind, its) != 0)
		return complain(NOTHING,
				"skipped job %lld: it is %s, and %s%.64s",
				(long long)job->id, rp_state_text(job->state),
				*its ? "of kind " : "has no kind", its);
	if (!(c->act->allowed & IN(job->state)))
		return complain(REFUSED, "skipped job %lld: it is %s; only %s",
				(long long)job->id, rp_state_text(job->state),
				c->act->which);
	return 0;
}

/* Remove from the list the jobs that the command cannot change. */
static int
keep_fitting(const struct change *c, struct found *jobs)
{
	size_t kept = 0;
	int status = 0;

	for (size_t i = 0; i < jobs->count; i++) {
		int64_t id = jobs->ids[i];
		rp_batch *batch;
		int refused, r = rp_job_get(c->cmd->conn, id, &batch);

		if (r < 0) {
			status = worst(status, cmd_failed(c->cmd, r));
			continue;
		}
		refused = check_job(c, rp_batch_at(batch, 0));
		if (!refused)
			jobs->ids[kept++] = id;
		status = worst(status, refused);
		rp_batch_free(batch);
	}
	jobs->count = kept;
	return status;
}

static int
change_ids(struct change *c, int argc, char **argv)
{
	struct found jobs = { 0 };
	int status = parse_ids(c->cmd, argc, argv, &jobs);

	if (!status)
		status = open_for(c);
	if (!status && c->dry_run) {
		status = keep_fitting(c, &jobs);
		if (status != FAILED)
			status = worst(status,
				       print_dry_run(c->cmd, &jobs,
						     c->act->done, c->json));
	} else if (!status) {
		status = change_each(c, &jobs);
	}
	found_free(&jobs);
	return status;
}

/* ---- by a filter ---- */

/* Change jobs that were all found in one state. Without a history, one
 * commit changes many jobs. With a history each job has its own commit, so
 * that the history records only changes that were committed. */
static int
change_some(const struct change *c, const int64_t *ids, size_t n, int state,
	    struct rp_changed *changed)
{
	struct history *history = c->cmd->history;
	size_t step = history ? 1 : n;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i += step) {
		int64_t before = changed->done;

		r = change_all(c, ids + i, step, state, changed);
		if (history && !c->act->has_no_event && changed->done > before)
			history_job(history, c->act->event, ids[i]);
	}
	return r;
}

/* Reverse the list. Dead and cancelled jobs are found newest first, but must be
 * retried in the order in which they ended. Ready jobs are cancelled from the
 * end of the ready line, because workers claim from its beginning. */
static void
turn_around(struct found *jobs)
{
	for (size_t i = 0, j = jobs->count; i + 1 < j; i++) {
		int64_t id = jobs->ids[i];
		int state = jobs->states[i];

		j--;
		jobs->ids[i] = jobs->ids[j];
		jobs->states[i] = jobs->states[j];
		jobs->ids[j] = id;
		jobs->states[j] = state;
	}
}

static int
compare_ids(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

/* Sort the cancelled jobs of the list by id. The jobs are then retried in the
 * order in which they were enqueued. The order in which they were cancelled is
 * of no use, because a cancel begins at the end of the ready line. */
static void
sort_cancelled(struct found *jobs)
{
	size_t from = 0, to;

	while (from < jobs->count && jobs->states[from] != RP_STATE_CANCELLED)
		from++;
	for (to = from;
	     to < jobs->count && jobs->states[to] == RP_STATE_CANCELLED;)
		to++;
	if (from < to)
		qsort(jobs->ids + from, to - from, sizeof(*jobs->ids),
		      compare_ids);
}

/* Change the jobs that were found. If the user gave --state, the library skips
 * a job that has left that state since it was found. */
int
change_found(const struct change *c, struct found *jobs,
	     struct rp_changed *changed)
{
	size_t from = 0, to;
	int r = 0;

	if (!c->act->keeps_order)
		turn_around(jobs);
	sort_cancelled(jobs);
	for (; from < jobs->count && r == 0; from = to) {
		int state = jobs->states[from];

		for (to = from; to < jobs->count && jobs->states[to] == state;)
			to++;
		if (!c->filter.state)
			state = 0;
		r = change_some(c, jobs->ids + from, to - from, state, changed);
	}
	return r;
}

/* Print a line such as: 0 jobs changed (no scheduled or ready job matches) */
static void
print_count(const struct change *c, const struct rp_changed *changed)
{
	char states[STATE_NAMES];

	printf("%lld job%s %s", (long long)changed->done, plural(changed->done),
	       c->act->done);
	name_states(states, sizeof(states), c->filter.states);
	if (changed->done + changed->taken + changed->large + changed->late ==
	    0)
		printf(" (no %s job matches)", states);
	putchar('\n');
}

int
print_changed(const struct change *c, const struct rp_changed *changed)
{
	int status = 0;

	if (c->json) {
		const struct member members[] = {
			{ "result", json_text(c->act->event) },
			{ "jobs", json_integer(changed->done) },
			{ "taken", json_integer(changed->taken) },
		};
		json_t *object = JSON_MEMBERS(members);

		if (!c->act->all) {
			json_object_set_new(object, "too_large",
					    json_integer(changed->large));
			json_object_set_new(object, "too_late",
					    json_integer(changed->late));
		}
		status = print_json(object);
	} else {
		print_count(c, changed);
	}
	if (changed->taken)
		status = complain(REFUSED,
				  "%lld job%s not %s: a live job has the "
				  "same unique key; try again later",
				  (long long)changed->taken,
				  plural(changed->taken), c->act->past);
	if (changed->large)
		status = complain(REFUSED,
				  "%lld job%s not %s: payload larger than "
				  "queue %s allows (max_payload)",
				  (long long)changed->large,
				  plural(changed->large), c->act->past,
				  c->what.queue);
	if (changed->late)
		status = complain(REFUSED,
				  "%lld job%s not %s: %s would expire before "
				  "the new time",
				  (long long)changed->late,
				  plural(changed->late), c->act->past,
				  changed->late == 1 ? "it" : "they");
	return status;
}

int
change_filtered(struct change *c)
{
	struct rp_changed changed = { 0 };
	struct found jobs = { 0 };
	int r, status = open_for(c);

	if (status)
		return status;
	c->filter.all = 1;
	status = find_jobs(c->cmd, &c->filter, &jobs);
	if (!status && c->dry_run) {
		status = print_dry_run(c->cmd, &jobs, c->act->done, c->json);
	} else if (!status) {
		r = change_found(c, &jobs, &changed);
		status = r < 0 ? cmd_failed(c->cmd, r)
			       : print_changed(c, &changed);
	}
	found_free(&jobs);
	return status;
}

int
change_jobs(struct change *c, int argc, char **argv)
{
	const struct filter *f = &c->filter;
	int status = check_states(c->cmd, &c->filter, c->act->allowed,
				  c->act->otherwise);

	if (status)
		return status;
	if (argc && (f->queue || f->state || is_narrow(f)))
		return usage(c->cmd, "give either ids or a filter, not both "
				     "(ids may go with --kind)");
	if (argc)
		return change_ids(c, argc, argv);
	if (!has_filter(f))
		return no_filter(c->cmd, f);
	return change_filtered(c);
}
