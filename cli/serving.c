/*
 * serving.c - look at the queues that a worker will serve, and print their
 * names when the worker starts.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <string.h>

#include "internal.h"

/* Write the queues' names as "mail, sms". The text is cut if there is not
 * enough room. */
static void
name_queues(const struct work *work, char *to, size_t room)
{
	size_t n = 0;

	for (int i = 0; i < work->queues_count && n < room; i++)
		n += (size_t)snprintf(to + n, room - n, "%s%s", i ? ", " : "",
				      work->queues[i]);
}

/* Warn if the queue is paused, because none of its jobs will start, however
 * many are ready. */
static void
say_that_it_is_paused(const rp_queue_stats *queue)
{
	char word[SHELL_WORD(RP_MOST_NAME)];

	if (queue->paused)
		complain(0,
			 "queue %s is paused%s%s; readpast resume %s ends the "
			 "pause",
			 queue->queue, queue->pause_reason ? ": " : "",
			 queue->pause_reason ? queue->pause_reason : "",
			 shell_word(word, sizeof(word), queue->queue));
}

/* Returns whether the worker serves this queue. */
static int
is_served(const struct work *work, const char *queue)
{
	for (int i = 0; i < work->queues_count; i++)
		if (work->is_pattern[i]
			    ? rp__pattern_matches(work->queues[i], queue)
			    : strcmp(work->queues[i], queue) == 0)
			return 1;
	return 0;
}

struct ready {
	int64_t jobs;
	int at_least;
};

/* Add up the ready jobs of a queue, or of all queues that the worker serves if
 * `queue` is NULL. */
static int
add_ready(struct work *work, const char *queue, struct ready *ready)
{
	rp_stats *stats;
	int r = rp_stats_get(work->cmd->conn, queue, &stats);

	if (r < 0)
		return cmd_failed(work->cmd, r);
	for (size_t i = 0; i < rp_stats_count(stats); i++) {
		const rp_queue_stats *its = rp_stats_at(stats, i);

		if (!is_served(work, its->queue))
			continue;
		say_that_it_is_paused(its);
		ready->jobs += its->ready;
		ready->at_least |= its->ready_at_least;
	}
	rp_stats_free(stats);
	return 0;
}

static int
count_ready(struct work *work, char *to, size_t room)
{
	struct ready ready = { 0, 0 };
	int any = 0, status = 0;

	for (int i = 0; i < work->queues_count; i++)
		any |= work->is_pattern[i];
	for (int i = 0; i < work->queues_count && !any && !status; i++)
		status = add_ready(work, work->queues[i], &ready);
	if (any)
		status = add_ready(work, NULL, &ready);
	format_count(to, room, ready.jobs, ready.at_least);
	return status;
}

static int
say_what_is_served(struct work *work)
{
	char queues[400], where[DATABASE_NAME], ready[40];
	int status = count_ready(work, ready, sizeof(ready));

	if (status)
		return status;
	name_queues(work, queues, sizeof(queues));
	name_database(where, sizeof(where), work->cmd->url);
	fprintf(stderr, "serving %s of %s: %s ready, %lld at a time\n", queues,
		where, ready, (long long)work->threads);
	return 0;
}

int
look_at_queues(struct work *work)
{
	struct cmd *cmd = work->cmd;
	int status = cmd_open(cmd);

	for (int i = 0; i < work->queues_count && !status; i++)
		if (!work->is_pattern[i])
			status = find_queue(cmd, work->queues[i], 1);
	if (!status && !work->quiet && !work->log_json)
		status = say_what_is_served(work);
	rp_close(cmd->conn);
	cmd->conn = NULL;
	return status;
}
