/*
 * cmd_wait.c - the command `wait`: wait for the end of jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "waiting.h"

#include "filter.h"

static int
wait_for_queue(const struct waiting *w, const char *queue)
{
	int fd = interrupt_fd(), r;
	char time[40];

	catch_interrupts();
	r = rp_queue_wait(w->cmd->conn, queue, w->timeout_ms, fd);
	end_if_told(w->cmd);
	if (r < 0)
		return cmd_failed(w->cmd, r);
	if (r > 0)
		return DONE;
	print_duration(time, sizeof(time), w->timeout_ms);
	return complain(TIMED_OUT,
			"timed out after %s; queue %s still has a live job",
			time, queue);
}

static int
open_and_wait(const struct waiting *w, const char *queue, int argc, char **argv)
{
	struct found found = { 0 };
	int status = parse_ids(w->cmd, argc, argv, &found);

	if (!status)
		status = cmd_open(w->cmd);
	set_handling();
	if (!status && queue)
		status = find_queue(w->cmd, queue, 0);
	if (!status)
		status = queue ? wait_for_queue(w, queue)
			       : wait_for_jobs(w, found.ids, found.count);
	found_free(&found);
	return status;
}

int
cmd_wait(struct cmd *cmd, int argc, char **argv)
{
	struct waiting w = { .cmd = cmd, .timeout_ms = -1 };
	const char *queue = NULL;
	const struct option options[] = {
		{ "--any", FLAG, &w.any, NULL,
		  "wait until one of the jobs has ended" },
		{ "--queue", TEXT, &queue, "Q",
		  "wait until this queue has no live job" },
		{ "--timeout", DURATION, &w.timeout_ms, "D",
		  "wait no longer than this" },
		{ "--result", FLAG, &w.result, NULL,
		  "print the bytes of the jobs' results, and no states" },
		{ "--quiet", FLAG, &w.quiet, NULL, "print nothing but errors" },
		JSON_OPTION(&w.json),
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (!queue == !argc)
		return usage(cmd,
			     queue ? "give either ids or --queue, not both"
				   : "which jobs? Give ids, or --queue QUEUE");
	if (queue && (w.any || w.result || w.json))
		return usage(cmd, "%s needs ids",
			     w.any      ? "--any"
			     : w.result ? "--result"
					: "--json");
	if (w.any && argc > RP_MOST_CLAIMED)
		return usage(cmd, "--any: expected at most %d ids",
			     RP_MOST_CLAIMED);
	if (w.result && w.json)
		return usage(cmd, "give --result or --json, not both: JSON "
				  "lines have the results");
	return open_and_wait(&w, queue, argc, argv);
}
