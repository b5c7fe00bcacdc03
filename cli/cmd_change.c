/*
 * cmd_change.c - what people do to jobs: cancel, retry, purge.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

#include "history.h"

/* Do `one` to each id; the ids are read before any is touched. */
static int
each_id(struct cmd *cmd, const char *kind, int argc, char **argv,
	int (*one)(rp_conn *, int64_t, const char *), const char *event)
{
	int64_t id;
	int status = 0;

	for (int i = 0; i < argc; i++)
		if (parse_id(argv[i], &id) < 0)
			return usage(cmd, "%.80s: expected a job's id",
				     argv[i]);
	status = cmd_open(cmd);
	if (status)
		return status;
	for (int i = 0; i < argc; i++) {
		int r;

		parse_id(argv[i], &id);
		r = one(cmd->conn, id, kind);
		if (r == 0)
			history_job(cmd->history, event, id);
		else
			status = worst(status, cmd_failed(cmd, r));
		if (r < 0 && status_of(r) == FAILED)
			return FAILED;
	}
	return status;
}

int
cmd_cancel(struct cmd *cmd, int argc, char **argv)
{
	const char *kind = NULL;
	const struct option options[] = {
		{ "--kind", TEXT, &kind, "K", "only if they are of this kind" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc == 0)
		return usage(cmd, "which jobs?");
	return each_id(cmd, kind, argc, argv, rp_job_cancel, "cancelled");
}

/* For the history: which of the jobs that were dead are no longer. */
static void
record_retried(struct cmd *cmd, const rp_batch *dead)
{
	for (size_t i = 0; i < rp_batch_count(dead); i++) {
		int64_t id = rp_batch_at(dead, i)->id;
		rp_batch *now;

		if (rp_job_get(cmd->conn, id, &now) < 0)
			continue;
		if (rp_batch_at(now, 0)->state != RP_STATE_DEAD)
			history_job(cmd->history, "retried", id);
		rp_batch_free(now);
	}
}

static int
retry_dead(struct cmd *cmd, const char *queue, const char *kind)
{
	rp_batch *dead = NULL;
	int64_t taken = 0, n = 0;
	int status = cmd_open(cmd);

	if (status)
		return status;
	if (cmd->history)
		n = rp_job_list(cmd->conn, queue, RP_STATE_DEAD, INT32_MAX,
				&dead);
	if (n >= 0)
		n = rp_queue_retry_dead(cmd->conn, queue, kind, &taken);
	if (n < 0)
		status = cmd_failed(cmd, (int)n);
	if (dead)
		record_retried(cmd, dead);
	rp_batch_free(dead);
	if (status)
		return status;
	printf("%lld jobs ready again\n", (long long)n);
	if (taken)
		return complain(REFUSED,
				"%lld jobs stay dead: live jobs have "
				"their unique keys",
				(long long)taken);
	return DONE;
}

int
cmd_retry(struct cmd *cmd, int argc, char **argv)
{
	const char *kind = NULL, *dead = NULL;
	const struct option options[] = {
		{ "--dead", TEXT, &dead, "QUEUE",
		  "all dead jobs of the queue" },
		{ "--kind", TEXT, &kind, "K", "only those of this kind" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if ((argc == 0) == (dead == NULL))
		return usage(cmd, "either ids, or --dead QUEUE");
	if (dead)
		return retry_dead(cmd, dead, kind);
	return each_id(cmd, kind, argc, argv, rp_job_retry, "retried");
}

/* The number of a state that can be purged; 0: all; -1: none such. */
static int
purgeable(const char *text)
{
	int state = rp_state_number(text);

	if (strcmp(text, "all") == 0)
		return 0;
	return state == 0 || state == RP_STATE_RUNNING ? -1 : state;
}

int
cmd_purge(struct cmd *cmd, int argc, char **argv)
{
	const char *kind = NULL, *state = NULL;
	int yes = 0;
	const struct option options[] = {
		{ "--state", TEXT, &state, "S",
		  "scheduled, ready, dead, done, cancelled, or all" },
		{ "--kind", TEXT, &kind, "K", "only those of this kind" },
		{ "--yes", FLAG, &yes, NULL, "really" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);
	int64_t n;

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd,
			     argc ? "one queue at a time" : "which queue?");
	if (!state || purgeable(state) < 0)
		return usage(cmd, "--state: expected scheduled, ready, dead, "
				  "done, cancelled or all");
	if (!yes)
		return usage(cmd, "this forgets jobs: say --yes");
	status = cmd_open(cmd);
	if (status)
		return status;
	n = rp_queue_purge(cmd->conn, argv[0], purgeable(state), kind);
	if (n < 0)
		return cmd_failed(cmd, (int)n);
	history_purged(cmd->history, argv[0]);
	printf("%lld jobs purged\n", (long long)n);
	return DONE;
}
