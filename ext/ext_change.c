/*
 * ext_change.c - the SQL functions that cancel, retry, change and purge jobs,
 * change queues, and sweep.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/* ---- jobs ---- */

int
ext_do_cancel(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_job_cancel(call->conn, call->arguments[P_ID].number,
			     call->arguments[P_KIND].text);
}

int
ext_do_retry(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_job_retry(call->conn, call->arguments[P_ID].number,
			    call->arguments[P_KIND].text);
}

int
ext_do_change(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_change change = RP_CHANGE_INIT;

	(void)ret;
	change.kind = a[P_KIND].text;
	change.queue = a[P_NEW_QUEUE].text;
	if (a[P_PRIORITY].given)
		change.priority = (int)a[P_PRIORITY].number;
	if (a[P_DELAY].given)
		change.delay_ms = a[P_DELAY].number;
	if (a[P_RUN_AT].given)
		change.run_at = a[P_RUN_AT].number;
	if (a[P_MAX_ATTEMPTS].given)
		change.max_attempts = a[P_MAX_ATTEMPTS].number;
	return rp_job_change(call->conn, a[P_ID].number, &change);
}

static int
counted(int64_t n, struct rp_value *ret)
{
	*ret = rp__int(n);
	return n < 0 ? (int)n : 0;
}

int
ext_do_retry_dead(struct ext_call *call, struct rp_value *ret)
{
	return counted(rp_queue_retry_dead(call->conn,
					   call->arguments[P_QUEUE].text,
					   call->arguments[P_KIND].text, NULL),
		       ret);
}

int
ext_do_purge(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	int state = 0;
	int r = strcmp(a[P_STATE].text, "all") == 0 ? 0
						    : ext_state(call, &state);

	return r < 0 ? r
		     : counted(rp_queue_purge(call->conn, a[P_QUEUE].text,
					      state, a[P_KIND].text),
			       ret);
}

/* ---- queues ---- */

int
ext_do_queue_create(struct ext_call *call, struct rp_value *ret)
{
	return ext_do_queue_set(call, ret);
}

/* Read the settings that are not single numbers: the rate (two numbers) and
 * group_on_failure (a word). */
static int
take_words(struct ext_call *call, rp_queue *queue)
{
	const struct ext_argument *a = call->arguments;
	const char *on_failure = a[P_GROUP_ON_FAILURE].text;

	if (a[P_RATE].given && a[P_RATE].number == 0)
		queue->rate_ms = 0;
	else if (a[P_RATE].given != a[P_PER].given)
		return rp__fail(&call->error, RP_EINVAL,
				"%s is missing: a rate is a number of jobs per "
				"duration",
				ext_words(a[P_RATE].given ? P_PER : P_RATE));
	if (!a[P_GROUP_ON_FAILURE].given)
		return 0;
	queue->group_pass = strcmp(on_failure, "pass") == 0;
	if (queue->group_pass || strcmp(on_failure, "block") == 0)
		return 0;
	return rp__fail(&call->error, RP_EINVAL,
			"group_on_failure must be block or pass");
}

int
ext_do_queue_set(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;
	rp_queue queue = RP_QUEUE_INIT;
	const struct {
		int64_t *to;
		enum ext_param from;
	} settings[] = {
		{ &queue.max_attempts, P_MAX_ATTEMPTS },
		{ &queue.lease_ms, P_LEASE },
		{ &queue.backoff_ms, P_BACKOFF },
		{ &queue.backoff_max_ms, P_BACKOFF_MAX },
		{ &queue.priority, P_PRIORITY },
		{ &queue.keep_done_ms, P_KEEP_DONE },
		{ &queue.keep_dead_ms, P_KEEP_DEAD },
		{ &queue.max_payload, P_MAX_PAYLOAD },
		{ &queue.timeout_ms, P_QUEUE_TIMEOUT },
		{ &queue.run_limit, P_RUN_LIMIT },
		{ &queue.group_limit, P_GROUP_LIMIT },
		{ &queue.rate_count, P_RATE },
		{ &queue.rate_ms, P_PER },
	};
	int r;

	(void)ret;
	queue.name = a[P_QUEUE].text;
	queue.dead_to = a[P_DEAD_TO].text;
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (a[settings[i].from].given)
			*settings[i].to = a[settings[i].from].number;
	r = take_words(call, &queue);
	return r < 0 ? r : rp_queue_set(call->conn, &queue);
}

int
ext_do_pause(struct ext_call *call, struct rp_value *ret)
{
	const struct ext_argument *a = call->arguments;

	(void)ret;
	return rp_queue_pause(call->conn, a[P_QUEUE].text,
			      a[P_REASON].given ? a[P_REASON].text : NULL);
}

int
ext_do_resume(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_queue_resume(call->conn, call->arguments[P_QUEUE].text);
}

int
ext_do_drop_queue(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return rp_queue_drop(call->conn, call->arguments[P_QUEUE].text);
}

/* ---- sweep ---- */

int
ext_do_sweep(struct ext_call *call, struct rp_value *ret)
{
	return counted(rp_sweep(call->conn, NULL), ret);
}

static void
read_swept(const void *data, size_t row, struct rp_value *columns)
{
	const rp_swept *swept = data;

	(void)row;
	columns[0] = rp__int(swept->due);
	columns[1] = rp__int(swept->recovered);
	columns[2] = rp__int(swept->dead);
	columns[3] = rp__int(swept->dropped);
	columns[4] = rp__int(swept->expired);
	columns[5] = rp__int(swept->fired);
}

/* A sweep is several transactions. On the host's connection, the statement that
 * asks for these rows would keep the snapshot of the first one, and a later one
 * could not wait for the write lock. */
int
ext_sweep_rows(struct ext_call *call, struct ext_rows *ret)
{
	rp_swept *swept = malloc(sizeof(*swept));
	rp_conn *own = ext_own(call->ext);
	int r;

	if (!swept)
		return ext_no_memory(call);
	*swept = (rp_swept)RP_SWEPT_INIT;
	if (own)
		call->conn = own;
	r = rp_sweep(call->conn, swept);
	if (r < 0)
		free(swept);
	else
		*ret = (struct ext_rows){ 1, swept, free, read_swept };
	return r;
}
