/*
 * jobs.c - the steps that enqueue, remove and retry jobs. schedules.c runs
 * random sequences of such steps, called schedules. The result of each step is
 * compared with the model.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "model.h"

/* ---- enqueue ---- */

/* Return the live job with this key, as the current session sees it.
 * *ret_contended tells whether the open transaction of another session has
 * locked a job with this key. 0: no. 1: yes, but the transaction has both added
 * and removed that job, so the job is live for nobody. 2: yes, and the job is
 * live for that session or for all others. */
static struct entry *
holder_of(struct model *m, int queue, int key, int *ret_contended)
{
	struct entry *holder = NULL;

	*ret_contended = 0;
	for (size_t i = 0; key && i < m->count; i++) {
		struct entry *e = &m->entries[i];

		if (e->now.queue != queue || e->now.key != key)
			continue;
		if (live(seen(m, e)))
			holder = e;
		if (locked(m, e) && *ret_contended < 2)
			*ret_contended =
				live(&e->now) || live(&e->before) ? 2 : 1;
	}
	return holder;
}

/* Set the fields of a new job from its specification. */
static void
fill(struct model *m, struct job *j, int queue, const rp_job_spec *job)
{
	j->queue = queue;
	j->priority =
		job->priority < 0 ? m->queues[queue].priority : job->priority;
	j->most = job->max_attempts ? (int)job->max_attempts
				    : m->queues[queue].max_attempts;
	j->size = job->payload_size;
	j->attempt = 0;
	j->lost = 0;
	j->held = 0;
	if (job->delay_ms)
		delay_job(j, NORMAL, job->delay_ms == SOON_MS);
}

static void
added(struct model *m, int queue, const rp_job_spec *job, int key, int64_t id)
{
	struct entry *e = &m->entries[m->count++];

	agree(m, m->count < MOST_JOBS && id > 0);
	memset(e, 0, sizeof(*e));
	e->before.id = id;
	e->before.queue = queue;
	e->before.key = key;
	e->now = e->before;
	e->owner = m->sessions[m->s].open ? m->s + 1 : 0;
	fill(m, &e->now, queue, job);
	if (!job->delay_ms)
		into_line(&e->now, NORMAL, ++m->tick);
}

static void
replaced(struct model *m, struct entry *e, const rp_job_spec *job)
{
	struct job *j = touch(m, e), old = *j;

	fill(m, j, old.queue, job);
	j->claim_no++;
	j->replaced = m->sessions[m->s].open;
	if (job->delay_ms)
		return;
	if (old.state == RP_STATE_READY && old.class == NORMAL &&
	    old.priority == j->priority)
		return; /* a replaced job keeps its place in the line */
	into_line(j, NORMAL, ++m->tick);
}

static rp_job_spec
any_job(struct model *m)
{
	static const int priorities[] = { -1, -1, -1, 50 };
	static const int64_t delays[] = { 0, 0,       0,       0,
					  0, SOON_MS, SOON_MS, LONG_MS };
	/* this payload is in SQLite's table for large payloads */
	static char large[20000];
	rp_job_spec job = job_of("x");

	if (chance(m, 4) == 0) {
		job.payload = large;
		job.payload_size = sizeof(large);
	}
	job.priority = priorities[chance(m, 4)];
	job.delay_ms = delays[chance(m, 8)];
	job.max_attempts = chance(m, 3);
	return job;
}

static void
enqueue_many(struct model *m, int queue)
{
	rp_job_spec jobs[4];
	rp_added ids[4];
	size_t n = (size_t)chance(m, 4) + 1;
	int r;

	for (size_t i = 0; i < n; i++)
		jobs[i] = any_job(m);
	r = rp_enqueue_many(conn_of(m), m->queues[queue].name, jobs, n, ids);
	say(m, "enqueue %zu into %d: %d\n", n, queue, r);
	if (busy(m, r))
		return;
	agree(m, r == 0);
	for (size_t i = 0; i < n; i++) {
		say(m, "   %lld: priority %d, delay %d\n", (long long)ids[i].id,
		    (int)jobs[i].priority, (int)jobs[i].delay_ms);
		agree(m, i == 0 || ids[i].id > ids[i - 1].id);
		added(m, queue, &jobs[i], 0, ids[i].id);
	}
}

static void
enqueue_unique(struct model *m, int queue)
{
	static const char *const keys[] = { NULL, "a", "b" };
	rp_job_spec job = any_job(m);
	rp_added id = { 0, -1 };
	int key = 1 + chance(m, 2), contended, r;
	struct entry *e = holder_of(m, queue, key, &contended);

	int others = !m->on_file && e && locked(m, e);

	/* Another session's open transaction has locked the job with this key.
	 * This enqueue could lock the job, too, and keep the lock until its own
	 * transaction ends. The model records only one session with a lock for
	 * each job, so skip this step. */
	if (others && m->sessions[m->s].open)
		return;
	job.unique_key = keys[key];
	job.replace = chance(m, 2) && !others;
	r = rp_enqueue(conn_of(m), m->queues[queue].name, &job, &id);
	say(m, "enqueue key %d%s, delay %d into %d: %d, %lld is %d\n", key,
	    job.replace ? ", replace" : "", (int)job.delay_ms, queue, r,
	    (long long)id.id, id.outcome);
	if (busy(m, r))
		return;
	/* The enqueue uses SKIP LOCKED to lock the job that has the key. So it
	 * usually does not wait for another transaction that has changed this
	 * job. There is one exception: that transaction has changed the row
	 * twice, and only the second change has locked the row's key. Then
	 * PostgreSQL waits. */
	if (others && e->now.replaced && r == RP_EBUSY)
		return;
	if (others) { /* without `replace`, the call succeeds without the lock
		       */
		agree(m, r == 0 && id.outcome == RP_EXISTED);
		agree(m, id.id == e->now.id);
		return;
	}
	if (contended && r == RP_EBUSY)
		return;
	agree(m, r == 0 && contended < 2);
	if (!e) {
		agree(m, id.outcome == RP_ADDED);
		added(m, queue, &job, key, id.id);
		return;
	}
	agree(m, id.id == e->now.id);
	if (e->now.state != RP_STATE_RUNNING)
		touch(m, e);
	if (job.replace && e->now.state != RP_STATE_RUNNING) {
		agree(m, id.outcome == RP_REPLACED);
		replaced(m, e, &job);
	} else
		agree(m, id.outcome == RP_EXISTED);
}

void
enqueue(struct model *m)
{
	int queue = any_queue(m);

	if (chance(m, 3))
		enqueue_unique(m, queue);
	else
		enqueue_many(m, queue);
}

/* ---- cancel, retry ---- */

void
cancel(struct model *m)
{
	struct entry *e = m->count ? &m->entries[chance(m, (int)m->count)] : 0;
	struct job *j = e ? seen(m, e) : NULL;
	int r;

	if (!e || find(m, e->now.id) != e)
		return;
	r = rp_job_cancel(conn_of(m), j->id, NULL);
	say(m, "cancel %lld: %d\n", (long long)j->id, r);
	if (busy(m, r))
		return;
	if (live(j) && locked(m, e)) {
		agree(m, r == RP_EBUSY);
	} else if (live(j)) {
		agree(m, r == 0);
		touch(m, e)->state = RP_STATE_CANCELLED;
	} else
		agree(m, r == (j->state ? RP_EGONE : RP_ENOENT));
}

void
retry(struct model *m)
{
	struct entry *e = m->count ? &m->entries[chance(m, (int)m->count)] : 0;
	struct job *j = e ? seen(m, e) : NULL;
	int contended, kept, r;
	struct entry *holder;

	if (!e || find(m, e->now.id) != e)
		return;
	holder = holder_of(m, j->queue, j->key, &contended);
	kept = j->state == RP_STATE_DEAD || j->state == RP_STATE_CANCELLED;
	r = rp_job_retry(conn_of(m), j->id, NULL);
	say(m, "retry %lld: %d\n", (long long)j->id, r);
	if (busy(m, r))
		return;
	if (kept && (locked(m, e) || contended) && r == RP_EBUSY)
		return;
	agree(m, !kept || (!locked(m, e) && (contended < 2 || holder)));
	if (kept && (holder || contended > 1)) {
		agree(m, r == RP_ETAKEN);
		touch(m, e);
	} else if (kept) {
		agree(m, r == 0);
		j = touch(m, e);
		j->attempt = 0;
		j->lost = 0;
		j->claim_no++;
		j->held = 0;
		into_line(j, NORMAL, ++m->tick);
	} else
		agree(m, r == (j->state ? RP_EGONE : RP_ENOENT));
}
