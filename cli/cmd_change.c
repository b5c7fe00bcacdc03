/*
 * cmd_change.c - the commands that change jobs: cancel, retry, change, purge.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "change.h"

#include <string.h>

#include "history.h"

const struct act cancels = {
	.event = "cancelled",
	.done = "cancelled",
	.all = rp__jobs_cancel,
	.one = rp_job_cancel,
	.which = "scheduled, ready, blocked and running jobs can be cancelled",
	.allowed = LIVE,
	.otherwise = LIVE,
};
const struct act retries = {
	.event = "retried",
	.done = "ready again",
	.all = rp__jobs_retry,
	.one = rp_job_retry,
	.past = "retried",
	.which = "dead and cancelled jobs can be retried",
	.allowed = IN(RP_STATE_DEAD) | IN(RP_STATE_CANCELLED),
	.otherwise = IN(RP_STATE_DEAD),
};
const struct act changes = {
	.event = "changed",
	.done = "changed",
	.past = "changed",
	.which = "scheduled, ready and blocked jobs can be changed",
	.allowed = LIVE & ~IN(RP_STATE_RUNNING),
	.otherwise = LIVE & ~IN(RP_STATE_RUNNING),
	.keeps_order = 1,
};
const struct act purges = {
	.event = "purged",
	.done = "purged",
	.all = rp__jobs_purge,
	.has_no_event = 1,
	.allowed = (LIVE | KEPT) & ~IN(RP_STATE_RUNNING),
};

int
cmd_cancel(struct cmd *cmd, int argc, char **argv)
{
	struct change c = CHANGE_INIT(cmd, &cancels);
	const struct option options[] = { CHANGE_OPTIONS(&c), OPTIONS_END };
	int status = parse_options(cmd, &argc, argv, options);

	return status ? status : change_jobs(&c, argc, argv);
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
	return change_jobs(&c, argc, argv);
}

/* Check the options of `change`. Without ids, --queue is a part of the filter.
 * If ids are given, there can be no filter, and --queue names the new queue. */
static int
check_change(struct change *c, int argc, int64_t priority, const char *to)
{
	rp_change *what = &c->what;

	what->priority = (int)priority;
	what->queue = to;
	if (argc && c->filter.queue && to)
		return usage(c->cmd, "give either --queue or --to: with ids "
				     "they mean the same");
	if (argc && c->filter.queue) {
		what->queue = c->filter.queue;
		c->filter.queue = NULL;
	}
	if (what->priority < 0 && what->delay_ms < 0 && what->run_at < 0 &&
	    what->max_attempts < 0 && !what->queue)
		return usage(c->cmd, "nothing to change: give --priority, "
				     "--delay, --at, --to or --max-attempts");
	if (what->delay_ms >= 0 && what->run_at >= 0)
		return usage(c->cmd, "give either --delay or --at, not both");
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
		  "run the job after this time; 0s: now" },
		{ "--at", TIME, &c.what.run_at, "TIME",
		  "run the job at this time: 2026-01-31T18:00:00Z, "
		  "@1767225600" },
		{ "--to", TEXT, &to, "QUEUE",
		  "move the job to this queue, which must exist" },
		{ "--max-attempts", COUNT, &c.what.max_attempts, "N",
		  "attempts before the job is dead" },
		CHANGE_OPTIONS(&c),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status)
		status = check_change(&c, argc, priority, to);
	return status ? status : change_jobs(&c, argc, argv);
}

/* Purge the jobs of one queue in the state that --state names; `all` stands for
 * every state. With --kind, purge only jobs of that kind. */
static int
purge_queue(const struct change *c)
{
	const struct filter *f = &c->filter;
	struct rp_changed changed = { 0 };
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
		{ "--yes", FLAG, &yes, NULL,
		  "confirm that the jobs are deleted for good" },
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
		return f->state ? no_filter(cmd, f)
				: usage(cmd, "which queue?");
	status = check_states(cmd, f, purges.allowed, 0);
	if (!status && !f->state)
		status = usage(cmd,
			       "which jobs? Give their state: --state STATE");
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
