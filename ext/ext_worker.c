/*
 * ext_worker.c - the SQL functions by which a connection becomes a worker. The
 * worker appears in the list of workers, in `why`, `stats` and `doctor`, and it
 * can wait for work.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ext.h"

/* Interval of the heartbeats. A worker without a heartbeat for 30 s counts as
 * gone. */
#define BEAT_MS 5000
/* Interval of a waiting worker's sweeps. A job whose lease ran out must be
 * ready again within 2 s, as long as any worker runs. */
#define SWEEP_MS 1000
/* The timeout of a wait if the argument is absent. wait() on PostgreSQL has the
 * same default. */
#define TIMEOUT_MS 60000
/* The longest timeout of a wait for a job, as on PostgreSQL: wait_most(). */
#define MOST_TIMEOUT_MS 600000

/* ---- registering and unregistering ---- */

static int
sign_on(struct ext_call *call)
{
	struct ext_worker *worker = &call->ext->worker;
	char *kinds = rp__all_kinds((const char *const *)worker->queues);
	int r = rp__worker_row_add(call->conn, worker->name, worker->host,
				   (const char *const *)worker->queues, kinds,
				   &worker->id);

	worker->seen_at = rp__monotonic_ms();
	free(kinds);
	return r;
}

/* Update the worker's row. `verb` is worker_beat or worker_stop; both have the
 * same parameters. */
static int
beat(struct ext_call *call, enum rp_verb verb, int64_t *ret_known)
{
	struct ext_worker *worker = &call->ext->worker;

	worker->seen_at = rp__monotonic_ms();
	return rp__worker_row_update(call->conn, verb, worker->id,
				     &worker->counts, ret_known);
}

static int
sign_off(struct ext_call *call)
{
	struct ext_worker *worker = &call->ext->worker;
	int64_t known = 0;
	int r = worker->id ? beat(call, RP_V_WORKER_STOP, &known) : 0;

	if (r < 0)
		return r;
	ext_free_names(worker->queues);
	*worker = (struct ext_worker){ .id = 0 };
	return 0;
}

/* Register this connection as the worker `name`. The call takes ownership of
 * `queues`, even if it fails. */
static int
become(struct ext_call *call, const char *name, char **queues)
{
	struct ext_worker *worker = &call->ext->worker;
	int r = rp__check_name(&call->error, "the worker's name", name,
			       RP_MOST_WORKER);

	for (char **queue = queues; *queue && r == 0; queue++)
		r = rp__check_queue(&call->error, *queue);
	if (r == 0)
		r = sign_off(call);
	if (r < 0) {
		ext_free_names(queues);
		return r;
	}
	snprintf(worker->name, sizeof(worker->name), "%s", name);
	gethostname(worker->host, sizeof(worker->host) - 1);
	worker->queues = queues;
	return sign_on(call);
}

/* Send a heartbeat. If the worker's row is gone, register again. Sweeps delete
 * the row of a worker that has sent no heartbeat for a long time. */
static int
beat_or_sign_on(struct ext_call *call)
{
	int64_t known = 0;
	int r = beat(call, RP_V_WORKER_BEAT, &known);

	return r == 0 && !known ? sign_on(call) : r;
}

/* ---- during other calls ---- */

/* Send a heartbeat if one is due, but not in a transaction of the host. A
 * heartbeat can add a new row for the worker. If the host rolled the new row
 * back, another worker would get the same id. */
int
ext_worker_seen(struct ext_call *call)
{
	const struct ext_worker *worker = &call->ext->worker;

	if (!worker->id || !ext_is_outside(call->ext) ||
	    rp__monotonic_ms() - worker->seen_at < BEAT_MS)
		return 0;
	return beat_or_sign_on(call);
}

/* Return a list of the worker's queues with `queue` appended. The caller frees
 * the list. NULL: out of memory. */
static char **
with_queue(const struct ext_worker *worker, const char *queue)
{
	size_t n = 0;
	char **list;

	while (worker->queues && worker->queues[n])
		n++;
	list = calloc(n + 2, sizeof(*list));
	for (size_t i = 0; list && i <= n; i++) {
		list[i] = strdup(i < n ? worker->queues[i] : queue);
		if (!list[i]) {
			ext_free_names(list);
			return NULL;
		}
	}
	return list;
}

static int
serves(const struct ext_worker *worker, const char *name, const char *queue)
{
	if (!worker->id || strcmp(worker->name, name) != 0)
		return 0;
	for (char **its = worker->queues; *its; its++)
		if (strcmp(*its, queue) == 0)
			return 1;
	return 0;
}

/* Register this connection as the worker `name`, for this queue. If it is
 * already the worker of that name, it keeps its other queues. */
static int
become_named(struct ext_call *call, const char *name, const char *queue)
{
	static const struct ext_worker nobody;
	const struct ext_worker *worker = &call->ext->worker;
	char **queues = with_queue(
		strcmp(worker->name, name) == 0 ? worker : &nobody, queue);

	return queues ? become(call, name, queues) : ext_no_memory(call);
}

int
ext_worker_claims(struct ext_call *call)
{
	const struct ext_argument *a = call->arguments;
	const struct ext_worker *worker = &call->ext->worker;
	const char *name = a[P_WORKER].given ? a[P_WORKER].text : worker->name;
	int64_t id = a[P_WORKER_ID].number;
	int r = 0;

	if (!id && a[P_WORKER].given) {
		r = rp__check_name(&call->error, "the worker's name", name,
				   RP_MOST_WORKER);
		if (r == 0 && ext_is_outside(call->ext) &&
		    !serves(worker, name, a[P_QUEUE].text))
			r = become_named(call, name, a[P_QUEUE].text);
	}
	if (!id && strcmp(name, worker->name) == 0)
		id = worker->id;
	call->conn->worker_id = id;
	snprintf(call->conn->worker, sizeof(call->conn->worker), "%s", name);
	return r;
}

/* ---- the functions ---- */

int
ext_do_worker_start(struct ext_call *call, struct rp_value *ret)
{
	char **queues = NULL;
	int r = ext_queues(call, &queues);

	if (r == 0)
		r = become(call, call->arguments[P_WORKER].text, queues);
	*ret = rp__int(call->ext->worker.id);
	return r;
}

int
ext_do_worker_beat(struct ext_call *call, struct rp_value *ret)
{
	int r;

	if (!call->ext->worker.id)
		return rp__fail(&call->error, RP_EINVAL,
				"this connection is not a worker: call "
				"readpast_worker_start('name', 'queue') first");
	r = beat_or_sign_on(call);
	*ret = rp__int(call->ext->worker.id);
	return r;
}

int
ext_do_worker_stop(struct ext_call *call, struct rp_value *ret)
{
	(void)ret;
	return sign_off(call);
}

/* Sweep all queues if a sweep is due. rp_wait() does not sweep if a job is
 * ready, and perhaps no other client sweeps either. */
static int
sweep_meanwhile(struct ext_call *call, const char *const *queues)
{
	struct rp_probe found;

	if (rp__monotonic_ms() - call->conn->swept_at < SWEEP_MS)
		return 0;
	return rp__probe_and_sweep(call->conn, queues, RP_WAIT_SWEEP, 0,
				   &found);
}

/* A wait. If `queues` is not NULL, the call waits until one of these queues has
 * a job that can be claimed. If `queues` is NULL, the call waits for the end of
 * the job `id`. */
struct awaited {
	char **queues;
	int64_t id;
	rp_outcome outcome;
};

/* Wait. A worker sends heartbeats while it waits. */
static int
wait_and_beat(struct ext_call *call, struct awaited *awaited)
{
	const struct ext_argument *timeout = &call->arguments[P_TIMEOUT];
	int64_t end = rp__monotonic_ms() +
		      (timeout->given ? timeout->number : TIMEOUT_MS);
	int r = 0;

	while (r == 0) {
		int64_t left = end - rp__monotonic_ms();
		int64_t ms =
			call->ext->worker.id && left > BEAT_MS ? BEAT_MS : left;

		if (awaited->queues)
			r = rp_wait(call->conn,
				    (const char *const *)awaited->queues,
				    ms < 0 ? 0 : ms, -1);
		else
			r = rp_job_wait(call->conn, &awaited->id, 1,
					RP_WAIT_ALL, ms < 0 ? 0 : ms, -1,
					&awaited->outcome);
		if (r != 0 || ms == left)
			break;
		r = ext_worker_seen(call);
	}
	return r;
}

static int
wait_for_job(struct ext_call *call, struct rp_value *ret)
{
	struct awaited awaited = { .id = call->arguments[P_WAITED].number };
	int r;

	if (call->arguments[P_TIMEOUT].number > MOST_TIMEOUT_MS)
		return rp__fail(&call->error, RP_EINVAL,
				"the timeout of a wait for a job is not within "
				"0..10 minutes");
	r = wait_and_beat(call, &awaited);
	if (r > 0)
		*ret = rp__text(rp_state_text(awaited.outcome.state));
	return r < 0 ? r : 0;
}

int
ext_do_wait(struct ext_call *call, struct rp_value *ret)
{
	struct awaited awaited = { .queues = NULL };
	int r;

	if (!call->arguments[P_WAITED].text)
		return wait_for_job(call, ret);
	call->arguments[P_QUEUES] = call->arguments[P_WAITED];
	r = ext_queues(call, &awaited.queues);
	if (r == 0)
		r = wait_and_beat(call, &awaited);
	*ret = rp__int(r > 0);
	if (r > 0)
		r = sweep_meanwhile(call, (const char *const *)awaited.queues);
	ext_free_names(awaited.queues);
	return r < 0 ? r : 0;
}
