/*
 * chapters.c - typical sequences of calls of a client, called chapters.
 *
 * The tests run each chapter with each possible failure of one call. The client
 * reacts to the failure as a sensible program would.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "story.h"

static const rp_job_spec plain = RP_JOB_SPEC_INIT;

/* ---- enqueueing ---- */

/* Enqueue into existing queues and into new ones. One of the calls enqueues
 * more jobs than one SQL statement takes. */
static void
play_enqueue(struct story *s)
{
	rp_job_spec urgent = plain;

	urgent.priority = 1;
	enter(s, "q", plain, 1, NULL);
	enter(s, "bulk", plain, 502, NULL);
	enter(s, "q", urgent, 2, NULL);
}

static void
check_enqueue(struct story *s)
{
	for (int tag = 0; tag < s->next_tag; tag++)
		assert_int_equal(s->known[tag].sure, 1);
}

/* Enqueue with a unique key. Only one job may have the key, even if a call is
 * repeated because its outcome was unknown. */
static void
play_unique(struct story *s)
{
	rp_job_spec keyed = plain;
	rp_added added;
	int first;
	int64_t id;

	keyed.unique_key = "k";
	enter(s, "q", keyed, 1, &added);
	id = added.id;
	first = enter(s, "q", keyed, 1, &added);
	assert_int_equal(added.outcome, RP_EXISTED);
	assert_int_equal(added.id, id);
	s->known[first].sure = 0;
	keyed.replace = 1;
	first = enter(s, "q", keyed, 1, &added);
	assert_int_equal(added.outcome, RP_REPLACED);
	assert_int_equal(added.id, id);
	s->known[first - 2].sure = 0;
	keyed.unique_key = "other";
	enter(s, "q", keyed, 1, &added);
	assert_true(added.id != id);
}

static void
check_unique(struct story *s)
{
	rp_queue_stats stats = stats_of(s->other, "q");

	assert_int_equal(stats.ready, 2);
}

/* ---- a worker's day ---- */

/* Return a verdict that depends on the job's tag. Failed and released jobs are
 * completed in a later attempt. */
static int
each_verdict(const rp_job *job)
{
	static const int first[] = { RP_DONE, RP_FAIL, RP_RELEASE, RP_EXTEND,
				     RP_DEAD };
	int verdict = first[tag_of(job) % 5];

	if (verdict == RP_RELEASE && job->claim_no % 3)
		return RP_DONE;
	return verdict == RP_FAIL && job->attempt > 2 ? RP_DONE : verdict;
}

static int
just_done(const rp_job *job)
{
	(void)job;
	return RP_DONE;
}

static void
prepare_five(struct story *s)
{
	enter(s, "q", plain, 5, NULL);
}

static void
play_work(struct story *s)
{
	work_off(s, "q", each_verdict);
}

static void
check_work(struct story *s)
{
	rp_queue_stats stats = stats_of(s->other, "q");

	assert_int_equal(s->held_count, 0);
	assert_int_equal(stats.done, 4);
	assert_int_equal(stats.dead, 1);
}

/* Enqueue jobs that are scheduled, and wait until they are ready. */
static void
play_wait(struct story *s)
{
	static const char *const queues[] = { "q", NULL };
	rp_job_spec later = plain;
	int r;

	later.delay_ms = 2;
	enter(s, "q", later, 2, NULL);
	until_answered(s, r, rp_wait(shaky(s), queues, 5000, -1));
	assert_int_equal(r, 1);
	work_off(s, "q", just_done);
	until_answered(s, r, rp_wait(shaky(s), queues, 3, -1));
	assert_int_equal(r, 0);
}

static void
check_wait(struct story *s)
{
	for (int tag = 0; tag < s->next_tag; tag++)
		assert_true(s->known[tag].done);
}

/* Settle and claim in one call. Each call settles the jobs that the previous
 * call has claimed. */
static void
play_turn(struct story *s)
{
	rp_claim_options o = RP_CLAIM_INIT;
	rp_verdict v[2];
	size_t n = 0;

	o.lease_ms = 5;
	for (int turn = 0; turn < 40; turn++) {
		rp_batch *batch;
		int r, unknown = 0;

		for (;;) {
			memset(&batch, UNTOUCHED, sizeof(batch));
			r = rp_settle_and_claim(shaky(s), v, n, "q", 2, &o,
						&batch);
			if (!failed(s, r))
				break;
			expect_untouched(&batch, sizeof(batch));
			unknown |= s->lost;
		}
		for (size_t i = 0; i < n; i++) {
			assert_true(v[i].result == 0 ||
				    (unknown && v[i].result == RP_EGONE));
			assert_int_equal(state_of(s->other, v[i].id),
					 RP_STATE_DONE);
			let_go(s, v[i].id);
		}
		hold(s, batch);
		n = rp_batch_count(batch);
		for (size_t i = 0; i < n; i++) {
			const rp_job *job = rp_batch_at(batch, i);

			v[i] = (rp_verdict)RP_VERDICT_INIT;
			v[i].id = job->id;
			v[i].claim_no = job->claim_no;
			s->known[tag_of(job)].done = 1;
		}
		rp_batch_free(batch);
		if (n == 0 && turn > 3 && stats_of(s->other, "q").done == 5)
			return;
		if (n == 0) {
			sleep_ms(2);
			ok(s->other, rp_sweep(s->other, NULL));
		}
	}
	fail_msg("the queue is never done");
}

static void
check_turn(struct story *s)
{
	assert_int_equal(s->held_count, 0);
	assert_int_equal(stats_of(s->other, "q").done, 5);
}

/* ---- administration ---- */

static void
prepare_change(struct story *s)
{
	rp_batch *batch;

	enter(s, "q", plain, 6, NULL);
	batch = take(s->other, "q", 4, 60000);
	for (size_t i = 0; i < 4; i++) {
		rp_verdict v = RP_VERDICT_INIT;

		v.id = rp_batch_at(batch, i)->id;
		v.claim_no = rp_batch_at(batch, i)->claim_no;
		v.verdict = RP_DEAD;
		ok(s->other, rp_settle(s->other, &v, 1));
	}
	rp_batch_free(batch);
	put(s->other, "old", "x");
}

/* Expect success. An error is accepted only if an earlier attempt had an
 * unknown outcome, because that attempt may have succeeded. */
static void
expect_once(int r, int unknown)
{
	if (r < 0)
		assert_true(unknown && (r == RP_EGONE || r == RP_ENOENT));
}

#define once(s, call)                                                          \
	do {                                                                   \
		int r_, unknown_ = 0;                                          \
		while (failed((s), (r_ = (call))))                             \
			unknown_ |= (s)->lost;                                 \
		expect_once(r_, unknown_);                                     \
	} while (0)

static void
play_change(struct story *s)
{
	int64_t r, taken = -7, retried = 0;
	int tries = 1;

	once(s, rp_job_cancel(shaky(s), 5, NULL));
	assert_int_equal(state_of(s->other, 5), RP_STATE_CANCELLED);
	once(s, rp_job_retry(shaky(s), 5, NULL));
	assert_int_equal(state_of(s->other, 5), RP_STATE_READY);
	once(s, rp_job_retry(shaky(s), 1, NULL));
	while (failed(s,
		      r = rp_queue_retry_dead(shaky(s), "q", NULL, &taken))) {
		assert_int_equal(taken, -7);
		tries++;
	}
	retried = r;
	/* The call changes the jobs in several transactions. If a transaction
	 * fails, the ones before it stay committed. */
	assert_true(retried == 3 || (tries > 1 && retried < 3));
	once(s, rp_job_cancel(shaky(s), 6, NULL));
	while (failed(
		s, r = rp_queue_purge(shaky(s), "q", RP_STATE_CANCELLED, NULL)))
		;
	s->known[5].gone = 1;
	once(s, rp_queue_pause(shaky(s), "q", NULL));
	once(s, rp_queue_resume(shaky(s), "q"));
	once(s, rp_queue_drop(shaky(s), "old"));
}

static void
check_change(struct story *s)
{
	rp_queue_stats stats = stats_of(s->other, "q");
	rp_stats *none;

	assert_int_equal(stats.ready, 5);
	assert_int_equal(stats.dead + stats.cancelled, 0);
	assert_false(stats.paused);
	assert_int_equal(state_of(s->other, 6), 0);
	assert_int_equal(rp_stats_get(s->other, "old", &none), RP_ENOENT);
}

static void
play_settings(struct story *s)
{
	rp_queue q = RP_QUEUE_INIT;
	int r;

	q.name = "q";
	q.max_attempts = 7;
	until_answered(s, r, rp_queue_set(shaky(s), &q));
	assert_int_equal(r, 0);
	q.name = "new";
	until_answered(s, r, rp_queue_set(shaky(s), &q));
	assert_int_equal(r, 0);
}

static void
check_settings(struct story *s)
{
	static const char *const names[] = { "q", "new" };

	for (size_t i = 0; i < 2; i++) {
		rp_queues *list;

		ok(s->other, rp_queue_list(s->other, names[i], &list));
		assert_int_equal(rp_queues_at(list, 0)->max_attempts, 7);
		rp_queues_free(list);
	}
}

/* ---- a transaction ---- */

static void
prepare_transaction(struct story *s)
{
	enter(s, "q", plain, 1, NULL);
}

static void
begin(struct story *s)
{
	int r;

	do {
		r = rp_begin(shaky(s));
		s->inside = r == 0;
	} while (failed(s, r));
	assert_int_equal(r, 0);
}

static void
undo(struct story *s)
{
	int r = rp_rollback(shaky(s));

	s->inside = 0;
	assert_false(failed(s, r));
	assert_int_equal(r, 0);
}

/* Complete a job and enqueue three other jobs in one transaction. If a call
 * fails, it has done nothing, and the client repeats the call. But if the
 * connection was lost, the whole transaction is lost. */
static int
try_transaction(struct story *s, struct claim c)
{
	rp_job_spec job = plain;
	int r, first = s->next_tag;

	begin(s);
	while (failed(s, r = rp_complete(shaky(s), c.id, c.no)))
		if (s->lost)
			break;
	if (r == 0 && enter(s, "q", job, 2, NULL) < 0)
		r = RP_ELOST;
	if (r == 0 && enter(s, "bulk", job, 1, NULL) < 0)
		r = RP_ELOST;
	s->inside = 0;
	if (r < 0) {
		undo(s);
	} else if (failed(s, r = rp_commit(shaky(s))) && s->lost) {
		for (int tag = first; tag < s->next_tag; tag++)
			s->known[tag].maybe = 1;
	}
	for (int tag = first; tag < s->next_tag; tag++) {
		s->known[tag].sure = r == 0;
		s->known[tag].group =
			/* Either all jobs of a group are enqueued, or none. */
			s->groups;
	}
	return r;
}

static void
play_transaction(struct story *s)
{
	struct claim c = { 0, 0, 0 };
	int r, tries = 0;

	assert_int_equal(take_one(s->other, "q", 60000, &c), 1);
	while ((r = try_transaction(s, c)) < 0 && r != RP_EGONE)
		assert_true(++tries < 10);
	/* RP_EGONE: the earlier attempt, whose outcome was unknown, was
	 * committed */
	if (r == RP_EGONE)
		assert_int_equal(s->failures, 1);
	s->known[0].done = 1;
	begin(s);
	enter(s, "q", plain, 1, NULL);
	s->known[s->next_tag - 1].sure = 0;
	undo(s);
}

static void
check_transaction(struct story *s)
{
	rp_queue_stats stats = stats_of(s->other, "q");

	assert_int_equal(stats.done, 1);
	assert_int_equal(stats.running, 0);
	assert_int_equal(stats.ready, 2);
	assert_int_equal(stats_of(s->other, "bulk").ready, 1);
}

/* ---- reading ---- */

#define look_at(s, type, var, free_it, call)                                   \
	do {                                                                   \
		type *var;                                                     \
		int r_;                                                        \
		for (;;) {                                                     \
			memset(&var, UNTOUCHED, sizeof(var));                  \
			r_ = (call);                                           \
			if (!failed((s), r_))                                  \
				break;                                         \
			expect_untouched(&var, sizeof(var));                   \
		}                                                              \
		assert_true(r_ >= 0);                                          \
		free_it(var);                                                  \
	} while (0)

/* Check that the jobs of the list were read completely, and free the list. */
static void
done_with_jobs(rp_batch *batch)
{
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		assert_in_range(tag_of(rp_batch_at(batch, i)), 0, 4);
		assert_string_equal(rp_batch_at(batch, i)->queue, "q");
	}
	rp_batch_free(batch);
}

static void
done_with_stats(rp_stats *stats)
{
	assert_int_equal(rp_stats_count(stats), 1);
	assert_string_equal(rp_stats_at(stats, 0)->queue, "q");
	rp_stats_free(stats);
}

static void
done_with_queues(rp_queues *queues)
{
	assert_int_equal(rp_queues_count(queues), 1);
	assert_string_equal(rp_queues_at(queues, 0)->name, "q");
	rp_queues_free(queues);
}

static void
play_look(struct story *s)
{
	int64_t now;
	int r;

	look_at(s, rp_batch, b, done_with_jobs, rp_job_get(shaky(s), 1, &b));
	look_at(s, rp_batch, b, done_with_jobs,
		rp_job_list(shaky(s), "q", 0, 10, &b));
	look_at(s, rp_batch, b, done_with_jobs,
		rp_job_list(shaky(s), "q", RP_STATE_DEAD, 10, &b));
	look_at(s, rp_stats, b, done_with_stats,
		rp_stats_get(shaky(s), NULL, &b));
	look_at(s, rp_queues, b, done_with_queues,
		rp_queue_list(shaky(s), NULL, &b));
	look_at(s, rp_why, b, rp_why_free, rp_why_get(shaky(s), 1, &b));
	look_at(s, rp_workers, b, rp_workers_free,
		rp_worker_list(shaky(s), &b));
	for (;;) {
		memset(&now, UNTOUCHED, sizeof(now));
		r = rp_now(shaky(s), &now);
		if (!failed(s, r))
			break;
		expect_untouched(&now, sizeof(now));
	}
	assert_true(now > 0);
	assert_int_equal(rp_job_get(s->conn, 99, NULL), RP_EINVAL);
}

static void
check_look(struct story *s)
{
	assert_int_equal(stats_of(s->other, "q").ready, 5);
}

const struct chapter chapters[] = {
	{ "enqueue", NULL, play_enqueue, check_enqueue },
	{ "unique", NULL, play_unique, check_unique },
	{ "work", prepare_five, play_work, check_work },
	{ "wait", NULL, play_wait, check_wait },
	{ "turn", prepare_five, play_turn, check_turn },
	{ "change", prepare_change, play_change, check_change },
	{ "settings", NULL, play_settings, check_settings },
	{ "transaction", prepare_transaction, play_transaction,
	  check_transaction },
	{ "look", prepare_five, play_look, check_look },
	{ NULL, NULL, NULL, NULL },
};
