/*
 * cmd_change.c - commands that change jobs: cancel, retry, change, purge.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "list.h"

#include <string.h>

#include "history.h"
#include "internal.h"

/* a command: cancel, retry or purge */
struct act {
	const char *event; /* the event's name in the history and in JSON */
	const char *done;  /* past participle for "12 jobs ..." */
	rp_change_fn *all; /* changes a list of jobs; NULL: struct change says
			    * how */
	int (*one)(rp_conn *, int64_t,
		   const char *); /* changes one job; NULL: the command
				   * accepts no ids */
	const char *past;         /* participle for jobs that were refused */
	int allowed;              /* states that the command can change */
	int otherwise;            /* states of the jobs it changes if --state
				   * is not given */
};
static const struct act cancels = {
	.event = "cancelled",
	.done = "cancelled",
	.all = rp__jobs_cancel,
	.one = rp_job_cancel,
	.allowed = LIVE,
	.otherwise = LIVE,
};
static const struct act retries = {
	.event = "retried",
	.done = "ready again",
	.all = rp__jobs_retry,
	.one = rp_job_retry,
	.past = "retried",
	.allowed = IN(RP_STATE_DEAD) | IN(RP_STATE_CANCELLED),
	.otherwise = IN(RP_STATE_DEAD),
};
static const struct act changes = {
	.event = "changed",
	.done = "changed",
	.past = "changed",
	.allowed = LIVE & ~IN(RP_STATE_RUNNING),
	.otherwise = LIVE & ~IN(RP_STATE_RUNNING),
};
static const struct act purges = {
	.event = "purged",
	.done = "purged",
	.all = rp__jobs_purge,
	.allowed = (LIVE | KEPT) & ~IN(RP_STATE_RUNNING),
};

/* the state of one run of a command */
struct change {
	struct cmd *cmd;
	const struct act *act;
	struct filter filter;
	int dry_run, json;
	rp_change what; /* of the command `change` */
};
#define CHANGE_INIT(cmd, act)                                                  \
	{                                                                      \
		(cmd), (act), FILTER_INIT, 0, 0, RP_CHANGE_INIT                \
	}
#define CHANGE_OPTIONS(c)                                                      \
	FILTER_OPTIONS(&(c)->filter),                                          \
		{ "--dry-run", FLAG, &(c)->dry_run, NULL,                      \
		  "change nothing: print how many match, and three of them" }, \
		JSON_OPTION(&(c)->json)

/* A queue to move jobs to must exist, even if there is nothing to move. */
static int
open_for(const struct change *c)
{
	int status = cmd_open(c->cmd);
	rp_queues *queues = NULL;
	int r = 0;

	if (!status && c->what.queue)
		r = rp_queue_list(c->cmd->conn, c->what.queue, &queues);
	rp_queues_free(queues);
	return r < 0 ? cmd_failed(c->cmd, r) : status;
}

/* ---- by id ---- */

/* Report the outcome for one job. `r`: what the library returned. */
static int
report_one(const struct change *c, int64_t id, int r)
{
	const char *text = rp_last_error(c->cmd->conn)->message;
	int status = 0;

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
	return r < 0 ? worst(status, cmd_failed(c->cmd, r)) : status;
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

/* Can the command change this job? Returns 0, or an exit status after
 * printing why not. */
static int
check_job(const struct change *c, const rp_job *job)
{
	const char *kind = c->filter.kind;
	const char *its = job->kind ? job->kind : "(none)";

	if (kind && strcmp(kind, its) != 0)
		return complain(NOTHING,
				"skipped job %lld: it is %s, and of kind %.64s",
				(long long)job->id, rp_state_text(job->state),
				its);
	if (!(c->act->allowed & IN(job->state)))
		return complain(REFUSED, "skipped job %lld: it is %s",
				(long long)job->id, rp_state_text(job->state));
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
		if (history && c->act != &purges && changed->done > before)
			history_job(history, c->act->event, ids[i]);
	}
	return r;
}

/* Reverse the list. Then retried jobs run in the order in which they ended;
 * and a cancel begins at the end of the ready line, where no worker claims. */
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

/* Change the jobs that were found. If the user gave --state, skip a job that
 * is no longer in that state. (A purge always has --state.) */
static int
change_found(const struct change *c, const struct found *jobs,
	     struct rp_changed *changed)
{
	size_t from = 0, to;
	int r = 0;

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

static int
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

		if (c->act == &changes)
			json_object_set_new(object, "too_large",
					    json_integer(changed->large));
		status = print_json(object);
	} else {
		printf("%lld jobs %s\n", (long long)changed->done,
		       c->act->done);
	}
	if (changed->taken)
		status = complain(REFUSED,
				  "%lld jobs were not %s: live jobs have "
				  "their unique keys; try again later",
				  (long long)changed->taken, c->act->past);
	if (changed->large)
		status = complain(
			REFUSED,
			"%lld jobs were not %s: queue %s does not take "
			"payloads so large (max_payload)",
			(long long)changed->large, c->act->past, c->what.queue);
	return status;
}

static int
change_filtered(struct change *c)
{
	struct rp_changed changed = { 0, 0, 0 };
	struct found jobs = { 0 };
	int r, status = open_for(c);

	if (status)
		return status;
	c->filter.all = 1;
	status = find_jobs(c->cmd, &c->filter, &jobs);
	if (!status && c->dry_run) {
		status = print_dry_run(c->cmd, &jobs, c->act->done, c->json);
	} else if (!status) {
		turn_around(&jobs);
		r = change_found(c, &jobs, &changed);
		status = r < 0 ? cmd_failed(c->cmd, r)
			       : print_changed(c, &changed);
	}
	found_free(&jobs);
	return status;
}

/* ---- the commands ---- */

static int
change(struct change *c, int argc, char **argv)
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
		return usage(c->cmd, "which jobs? Give ids, or a filter such "
				     "as --queue, --kind or --key");
	return change_filtered(c);
}

int
cmd_cancel(struct cmd *cmd, int argc, char **argv)
{
	struct change c = CHANGE_INIT(cmd, &cancels);
	const struct option options[] = { CHANGE_OPTIONS(&c), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	return status ? status : change(&c, argc, argv);
}

int
cmd_retry(struct cmd *cmd, int argc, char **argv)
{
	struct change c = CHANGE_INIT(cmd, &retries);
	const char *dead = NULL;
	const struct option options[] = {
		{ "--dead", TEXT, &dead, "QUEUE",
		  "all dead jobs of the queue" },
		CHANGE_OPTIONS(&c),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (dead && (argc || c.filter.queue || c.filter.state))
		return usage(cmd, "give only one of these: ids, --dead QUEUE, "
				  "or --queue with --state");
	if (dead)
		c.filter.queue = dead;
	return change(&c, argc, argv);
}

/* Beside ids --queue names the new queue: a filter would be refused there. */
static int
check_change(struct change *c, int argc, int64_t priority, const char *to)
{
	rp_change *what = &c->what;

	what->priority = (int)priority;
	what->queue = to;
	if (argc && c->filter.queue && to)
		return usage(c->cmd, "either --queue or --to");
	if (argc && c->filter.queue) {
		what->queue = c->filter.queue;
		c->filter.queue = NULL;
	}
	if (what->priority < 0 && what->delay_ms < 0 && what->run_at < 0 &&
	    what->max_attempts < 0 && !what->queue)
		return usage(c->cmd, "change what? --priority, --delay, --at, "
				     "--to or --max-attempts");
	if (what->delay_ms >= 0 && what->run_at >= 0)
		return usage(c->cmd, "either --delay or --at");
	if (what->max_attempts == 0)
		return usage(c->cmd, "--max-attempts 0: expected at least 1");
	return 0;
}

int
cmd_change(struct cmd *cmd, int argc, char **argv)
{
	struct change c = CHANGE_INIT(cmd, &changes);
	const char *to = NULL;
	int64_t priority = -1;
	const struct option options[] = {
		{ "--priority", PRIORITY, &priority, "N",
		  "the new priority, " PRIORITIES },
		{ "--delay", DURATION, &c.what.delay_ms, "D",
		  "run it after this time; 0s: now" },
		{ "--at", TIME, &c.what.run_at, "TIME",
		  "not before: 2026-01-31T18:00:00Z, @1767225600" },
		{ "--to", TEXT, &to, "QUEUE", "move it to this queue" },
		{ "--max-attempts", COUNT, &c.what.max_attempts, "N",
		  "attempts before it is dead" },
		CHANGE_OPTIONS(&c),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = check_change(&c, argc, priority, to);
	return status ? status : change(&c, argc, argv);
}

/* Purge all jobs of a queue in the given states, or those of one kind. */
static int
purge_queue(const struct change *c)
{
	const struct filter *f = &c->filter;
	struct rp_changed changed = { 0, 0, 0 };
	int64_t n;
	int status = cmd_open(c->cmd);

	if (status)
		return status;
	n = rp_queue_purge(c->cmd->conn, f->queue, rp_state_number(f->state),
			   f->kind);
	if (n < 0)
		return cmd_failed(c->cmd, (int)n);
	changed.done = n;
	return print_changed(c, &changed);
}

int
cmd_purge(struct cmd *cmd, int argc, char **argv)
{
	struct change c = CHANGE_INIT(cmd, &purges);
	struct filter *f = &c.filter;
	int yes = 0;
	const struct option options[] = {
		CHANGE_OPTIONS(&c),
		{ "--yes", FLAG, &yes, NULL, "really" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc + (f->queue != NULL) > 1)
		return usage(cmd, "expected only one queue");
	if (argc)
		f->queue = argv[0];
	if (!has_filter(f))
		return usage(cmd, "which queue?");
	status = check_states(cmd, f, purges.allowed, 0);
	if (!status && !f->state)
		status = usage(
			cmd, "which jobs? Name their state with --state STATE");
	if (!status && !yes && !c.dry_run)
		status = usage(
			cmd, "this deletes jobs for good: confirm with --yes");
	if (status)
		return status;
	status = f->queue && !is_narrow(f) && !c.dry_run ? purge_queue(&c)
							 : change_filtered(&c);
	if (!status && !c.dry_run)
		history_purged(cmd->history, f->queue ? f->queue : "");
	return status;
}
