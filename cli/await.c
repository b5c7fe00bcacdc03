/*
 * await.c - the option --wait of `enqueue`: choose the jobs to wait for, and
 * how long their results are kept.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "waiting.h"

#include <stdlib.h>

#include "internal.h"

/* A job whose result is wanted is kept for at least this time. */
#define RESULT_MS 600000

/* Read for how long the queue keeps done jobs, in ms: 0 if the queue does not
 * exist yet. Returns 0 or an error. */
static int
read_keep(struct cmd *cmd, const char *queue, int64_t *ret_ms)
{
	rp_queues *queues;
	int r = rp_queue_list(cmd->conn, queue, &queues);

	*ret_ms = 0;
	if (r < 0)
		return r == RP_ENOENT ? 0 : r;
	*ret_ms = rp_queues_at(queues, 0)->keep_done_ms;
	rp_queues_free(queues);
	return 0;
}

int
await_prepare(struct await *await, struct cmd *cmd, const char *queue,
	      rp_job_spec *model)
{
	int r;

	await->how.cmd = cmd;
	await->how.goes_on = 1;
	set_handling();
	r = rp__check_wait_for_queue(cmd->conn, queue, 0);
	if (r < 0)
		return cmd_failed(cmd, r);
	if (!await->how.result && !await->how.json)
		return 0;
	await->keep_ms = model->keep_ms;
	if (!await->keep_ms)
		r = read_keep(cmd, queue, &await->keep_ms);
	if (r < 0)
		return cmd_failed(cmd, r);
	/* Keep the job for at least RESULT_MS, so that its result can be read.
	 * If await->keep_ms is shorter, keep_no_longer() sets it after the
	 * wait. If it is 0, keep_no_longer() deletes the job. A job with a
	 * unique key is not deleted, because another caller with the same key
	 * may wait for it. */
	await->keeps_longer = await->keep_ms ? await->keep_ms < RESULT_MS
					     : !model->unique_key;
	if (await->keep_ms < RESULT_MS)
		model->keep_ms = RESULT_MS;
	return 0;
}

int
await_add(struct await *await, const rp_added *added, size_t n)
{
	size_t room = (await->count + n) * 2;
	int64_t *ids = await->ids;

	if (!await->wanted)
		return 0;
	if (await->count + n > await->room) {
		ids = realloc(ids, room * sizeof(*ids));
		if (!ids)
			return -1;
		await->ids = ids;
		await->room = room;
	}
	for (size_t i = 0; i < n; i++) {
		ids[await->count++] = added[i].id;
		if (added[i].outcome == RP_EXISTED) {
			await->keeps_longer = 0;
			await->how.existed = 1;
		}
	}
	return 0;
}

/* Call this after the wait, when the results have been printed. The jobs were
 * enqueued with a keep_ms of RESULT_MS, so that their results could be read.
 * Now give the jobs the keep_ms that the user or the queue wants, or delete the
 * jobs if that keep_ms is 0. */
static void
keep_no_longer(struct await *await)
{
	rp_conn *conn = await->how.cmd->conn;
	struct rp_changed purged = { 0 };
	int r;

	if (fflush(stdout) == EOF || ferror(stdout))
		return;
	if (await->keep_ms)
		r = rp__jobs_keep(conn, await->ids, await->count,
				  await->keep_ms);
	else
		r = rp__jobs_purge(conn, await->ids, await->count,
				   RP_STATE_DONE, NULL, &purged);
	if (r < 0)
		complain(DONE,
			 "cannot shorten the time for which the done jobs are "
			 "kept (10 minutes): %s",
			 rp_last_error(conn)->message);
}

int
await_all(struct await *await)
{
	int status;

	if (!await->count)
		return DONE;
	status = wait_for_jobs(&await->how, await->ids, await->count);
	/* After an error the user may still want to read the results. */
	if (await->keeps_longer && status != FAILED)
		keep_no_longer(await);
	return status;
}
