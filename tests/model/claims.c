/*
 * claims.c - the steps that claim and settle jobs. schedules.c runs random
 * sequences of such steps, called schedules. The result of each step is
 * compared with the model.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "model.h"

/* ---- claim ---- */

static int
by_place(const void *a, const void *b)
{
	const struct job *x = &(*(struct entry *const *)a)->now;
	const struct job *y = &(*(struct entry *const *)b)->now;

	if (x->priority != y->priority)
		return x->priority < y->priority ? -1 : 1;
	if (x->class != y->class)
		return x->class < y->class ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* List the jobs that a claim must return, in their order. Returns -1 if the
 * model cannot tell which ready jobs the claim returns. The reason is that
 * claims start at the cursor, and miss jobs before the cursor. A claim moves
 * the cursor past jobs that other sessions have locked. */
static int
to_be_claimed(struct model *m, int queue, int n, int holding,
	      struct entry **line)
{
	int count = 0, taken = 0, loose = 0;

	for (size_t i = 0; i < m->count; i++) {
		struct entry *e = &m->entries[i];

		if (e->now.queue != queue || m->queues[queue].paused)
			continue;
		loose |= locked(m, e) || e->now.loose ||
			 (e->owner && !m->on_file);
		if (!locked(m, e) && e->now.state == RP_STATE_READY)
			line[count++] = e;
	}
	qsort(line, (size_t)count, sizeof(*line), by_place);
	for (int i = 0; i < count && taken < n && !loose; i++) {
		int suspect = line[i]->now.class == SUSPECT;

		if (suspect && holding)
			continue;
		if (suspect && taken)
			break;
		line[taken++] = line[i];
		if (suspect)
			break;
	}
	return loose ? -1 : taken;
}

/* Compare one job of the result with the model, and update the model. */
static void
apply_claim(struct model *m, const rp_job *job, int queue,
	    const struct entry *due, int soon)
{
	struct entry *e = find(m, job->id);
	struct job *j;

	agree(m, e && !locked(m, e));
	agree(m, !due || by_place(&due, &e) == 0);
	j = touch(m, e);
	agree(m, j->state == RP_STATE_READY && j->queue == queue);
	agree(m, job->priority == j->priority && job->max_attempts == j->most);
	agree(m, job->suspect == (j->class == SUSPECT));
	agree(m, job->attempt == j->attempt + 1);
	agree(m, job->payload && job->payload_size == j->size);
	agree(m, job->claim_no > j->claim_no && job->claim_no > j->told);
	j->state = RP_STATE_RUNNING;
	j->attempt++;
	j->claim_no = j->told = job->claim_no;
	j->held = 1;
	j->soon = soon;
	m->claims[m->claims_count++ % MOST_CLAIMS] =
		(struct claim){ job->id, job->claim_no, 0 };
}

static void
check_claim(struct model *m, const rp_batch *batch, int queue, int n,
	    int holding, int soon)
{
	struct entry *line[MOST_JOBS];
	int expected = to_be_claimed(m, queue, n, holding, line);
	int got = (int)rp_batch_count(batch);

	for (int i = 0; i < expected; i++)
		say(m, "   expected %lld\n", (long long)line[i]->now.id);
	for (int i = 0; i < got; i++)
		say(m, "   got %lld:%lld\n",
		    (long long)rp_batch_at(batch, (size_t)i)->id,
		    (long long)rp_batch_at(batch, (size_t)i)->claim_no);
	agree(m, got <= n && (expected < 0 || got == expected));
	agree(m, !m->queues[queue].paused || got == 0);
	for (int i = 0; i < got; i++) {
		const rp_job *job = rp_batch_at(batch, (size_t)i);

		agree(m, !job->suspect || (got == 1 && !holding));
		apply_claim(m, job, queue, expected < 0 ? NULL : line[i], soon);
	}
}

/* ---- verdicts ---- */

/* Update the model after a verdict was accepted. */
static void
apply_verdict(struct model *m, struct job *j, const rp_verdict *v)
{
	const struct settings *q = &m->queues[j->queue];
	int soon = v->delay_ms == SOON_MS;

	switch (v->verdict) {
	case RP_DONE:
		j->state = q->keep_done ? RP_STATE_DONE : 0;
		return;
	case RP_EXTEND:
		j->state = RP_STATE_RUNNING;
		j->soon = soon;
		return;
	case RP_RELEASE:
		j->attempt -= j->attempt > 0;
		if (v->delay_ms > 0)
			delay_job(j, j->class == SUSPECT ? SUSPECT : NORMAL,
				  soon);
		else
			into_line(j, j->class == SUSPECT ? SUSPECT : FRONT,
				  m->tick);
		break;
	default:
		if (v->verdict == RP_DEAD || j->attempt >= j->most) {
			j->state = RP_STATE_DEAD;
			return;
		}
		j->lost = 0;
		if (v->delay_ms == 0)
			into_line(j, NORMAL, m->tick);
		else
			delay_job(j, NORMAL, soon || v->delay_ms < 0);
	}
	j->claim_no++;
	j->held = 0;
}

static int
stands(const struct job *j, const rp_verdict *v)
{
	return live(j) && j->held && j->claim_no == v->claim_no;
}

/* Return what another session's lock on the job's row does to this verdict. 0:
 * nothing. 1: the verdict is not for the current claim. The database may refuse
 * the verdict, or report RP_EBUSY because of the lock. 2: the verdict is for
 * the current claim. The call must fail with RP_EBUSY. */
static int
verdict_waits(struct model *m, const rp_verdict *v)
{
	struct entry *e = find(m, v->id);

	if (!e || !locked(m, e) || !live(&e->before))
		return 0;
	return stands(&e->before, v) ? 2 : 1;
}

static void
check_verdict(struct model *m, const rp_verdict *v, int locks)
{
	struct entry *e = find(m, v->id);
	struct job *j = e ? seen(m, e) : NULL;

	if (!e || !j->state) {
		agree(m, v->result == RP_EGONE || v->result == RP_ENOENT);
		return;
	}
	if (stands(j, v)) {
		agree(m, v->result == 0);
		j = touch(m, e);
		apply_verdict(m, j, v);
		agree(m, v->state == (j->state ? j->state : RP_STATE_DONE));
		return;
	}
	agree(m, v->result == (j->state == RP_STATE_CANCELLED &&
					       j->claim_no == v->claim_no
				       ? RP_ECANCELLED
				       : RP_EGONE));
	if (locks && live(j) && !locked(m, e))
		touch(m, e);
}

static rp_verdict
any_verdict(struct model *m)
{
	static const int64_t delays[] = { -1, 0, SOON_MS };
	size_t n = m->claims_count;
	size_t back = (size_t)chance(m, n < 8 ? (int)n : 8) + 1;
	rp_verdict v =
		verdict_on(m->claims[(n - back) % MOST_CLAIMS], chance(m, 5));

	v.delay_ms = delays[chance(m, 3)];
	if (v.verdict == RP_EXTEND && v.delay_ms == 0)
		v.delay_ms = LONG_MS;
	return v;
}

/* Make random verdicts on different jobs, which any session may have
 * claimed. */
static int
any_verdicts(struct model *m, rp_verdict *v, int most)
{
	int n = 0;

	for (int i = 0; i < most && m->claims_count; i++) {
		v[n] = any_verdict(m);
		if (n == 0 || v[n].id != v[0].id)
			n++;
	}
	return n;
}

/* Settle and claim in one call. The call may have no verdicts, or claim no
 * jobs. */
static void
round_trip(struct model *m, int verdicts, int most)
{
	rp_claim_options o = RP_CLAIM_INIT;
	rp_verdict v[2];
	rp_batch *batch = NULL;
	int queue = any_queue(m), n = any_verdicts(m, v, verdicts);
	int soon = chance(m, 3) > 0, must = 0, may = 0, locks = 0, r;

	o.lease_ms = soon ? SOON_MS : LONG_MS;
	o.holding = chance(m, 4) == 0;
	for (int i = 0; i < n; i++) {
		may |= verdict_waits(m, &v[i]) > 0;
		must |= verdict_waits(m, &v[i]) == 2;
		locks |= v[i].verdict != RP_DONE;
	}
	if (most)
		r = rp_settle_and_claim(conn_of(m), v, (size_t)n,
					m->queues[queue].name, (size_t)most, &o,
					&batch);
	else
		r = rp_settle(conn_of(m), v, (size_t)n);
	for (int i = 0; i < n; i++)
		say(m, "verdict %d, delay %d on %lld:%lld: %d\n", v[i].verdict,
		    (int)v[i].delay_ms, (long long)v[i].id,
		    (long long)v[i].claim_no, v[i].result);
	say(m, "%s %d of %d, holding %d%s: %d\n",
	    most ? "settle and claim" : "settle", most, queue, (int)o.holding,
	    soon ? ", soon" : "", r);
	if ((n || most) && busy(m, r))
		return;
	if (r == RP_EBUSY && may)
		return;
	agree(m, r >= 0 && !must);
	m->tick++;
	for (int i = 0; i < n; i++)
		check_verdict(m, &v[i], locks);
	m->tick++;
	if (most)
		check_claim(m, batch, queue, most, (int)o.holding, soon);
	rp_batch_free(batch);
}

void
claim(struct model *m)
{
	round_trip(m, 0, 1 + chance(m, 4));
}

void
settle(struct model *m)
{
	round_trip(m, 1 + chance(m, 2), 0);
}

void
settle_and_claim(struct model *m)
{
	round_trip(m, 2, 1 + chance(m, 3));
}
