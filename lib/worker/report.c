/*
 * report.c - store the result and the progress that a handler reports about its
 * job, until they are sent to the database.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Progress is sent with a renewal of the lease. So it needs no statement of its
 * own, and is refused like a verdict if the claim was lost. Until the database
 * answers, the text that was sent is kept in `sending`. If the renewal fails,
 * this text is sent again, unless the handler has reported a newer text.
 */
#include "worker.h"

#include <stdlib.h>
#include <string.h>

/* The progress of a job is sent at most once in this time (ms), because each
 * time costs a commit. */
#define REPORT_EVERY_MS 1000

/* Returns when to send the progress (monotonic ms), or INT64_MAX if there is
 * nothing to send. The caller holds the pool's lock. */
int64_t
rp__report_at(const struct report *report)
{
	if (!report->progress)
		return INT64_MAX;
	return report->sent_at ? report->sent_at + REPORT_EVERY_MS : 0;
}

/* Returns the progress to send with a renewal, or NULL. The text is valid until
 * rp__report_answered(). The caller holds the pool's lock. */
const char *
rp__report_send(struct report *report)
{
	free(report->sending);
	report->sending = report->progress;
	report->progress = NULL;
	return report->sending;
}

/* Handle the answer to a renewal that has sent the progress. asked: when the
 * renewal was sent. r: its result. The caller holds the pool's lock. */
void
rp__report_answered(struct report *report, int r, int64_t asked)
{
	if (!report->sending)
		return;
	report->sent_at = asked;
	if (r < 0 && !report->progress) {
		report->progress = report->sending;
		report->sending = NULL;
	}
	free(report->sending);
	report->sending = NULL;
}

void
rp__report_free(struct report *report)
{
	free(report->result);
	free(report->progress);
	free(report->sending);
}

/* ---- for handlers ---- */

int
rp_task_result(rp_task *task, const void *bytes, size_t size)
{
	char *copy = NULL;
	int r = rp__task_enter(task);

	if (r < 0 || (size && !bytes))
		return RP_EINVAL;
	if (rp__check_result(NULL, size) < 0)
		return RP_EFBIG;
	if (bytes) {
		copy = malloc(size + 1);
		if (!copy)
			return RP_ENOMEM;
		memcpy(copy, bytes, size);
	}
	free(task->report.result);
	task->report.result = copy;
	task->report.result_size = size;
	return 0;
}

int
rp_task_progress(rp_task *task, const char *text)
{
	struct pool *pool;
	char *copy;
	int r = rp__task_enter(task);

	if (r < 0 || !text)
		return RP_EINVAL;
	r = rp__check_progress(NULL, text);
	if (r == 0)
		r = rp__task_loss(task);
	if (r < 0)
		return r;
	copy = strdup(text);
	if (!copy)
		return RP_ENOMEM;
	pool = &task->worker->pool;
	pthread_mutex_lock(&pool->lock);
	if (!task->report.progress)
		rp__pool_wake_coordinator(pool);
	free(task->report.progress);
	task->report.progress = copy;
	pthread_mutex_unlock(&pool->lock);
	return 0;
}
