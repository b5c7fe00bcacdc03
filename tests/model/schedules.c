/*
 * schedules.c - test random sequences of calls, made by several sessions with
 * open transactions. Such a sequence is called a schedule here. The results are
 * compared with a model in memory, which says what results are allowed.
 *
 * A schedule is determined by its seed. If it fails, the test prints the seed
 * and the steps. READPAST_TEST_SEED=N READPAST_TEST_SCHEDULES=1 repeats it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "model.h"

/* ---- sweep, queues ---- */

/* Wait until all leases and delays of SOON_MS have ended. */
static void
let_time_pass(const struct model *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (live(&m->entries[i].now) && m->entries[i].now.soon) {
			sleep_ms(SOON_MS + 1);
			return;
		}
}

/* Return whether this sweep makes the job ready. If the job is `loose`, claims
 * may skip it, and the model cannot tell whether this sweep or a later one
 * finds it. So read the job's state from the database. */
static int
comes_now(struct model *m, struct entry *e)
{
	int was = e->now.state;

	if (locked(m, e) || !e->now.soon || !live(&e->now) ||
	    was == RP_STATE_READY)
		return 0;
	return was == RP_STATE_SCHEDULED || !e->now.loose ||
	       state_of(conn_of(m), e->now.id) != was;
}

static void
sweep(struct model *m)
{
	rp_swept swept = RP_SWEPT_INIT, expected = RP_SWEPT_INIT;
	int r;

	if (m->sessions[m->s].open)
		return;
	let_time_pass(m);
	r = rp_sweep(conn_of(m), &swept);
	say(m, "sweep: %d due, %d recovered, %d dead, %d dropped\n",
	    (int)swept.due, (int)swept.recovered, (int)swept.dead,
	    (int)swept.dropped);
	if (held_up(m) && r == RP_EBUSY)
		return;
	agree(m, r >= 0);
	m->tick++;
	for (size_t i = 0; i < m->count; i++) {
		struct job *j = &m->entries[i].now;

		if (j->state == RP_STATE_DONE &&
		    !m->queues[j->queue].keep_done &&
		    !locked(m, &m->entries[i])) {
			expected.dropped++;
			j->state = 0;
		}
		if (!comes_now(m, &m->entries[i]))
			continue;
		if (j->state == RP_STATE_SCHEDULED) {
			expected.due++;
			into_line(j, j->class, m->tick);
		} else if (j->attempt >= j->most) {
			expected.dead++;
			j->state = RP_STATE_DEAD;
		} else {
			expected.recovered++;
			j->lost++;
			into_line(j,
				  j->lost > 1 || j->attempt + 1 >= j->most
					  ? SUSPECT
					  : FRONT,
				  m->tick);
		}
	}
	agree(m, swept.due == expected.due && swept.dead == expected.dead);
	agree(m, swept.recovered == expected.recovered);
	agree(m, swept.dropped == expected.dropped);
}

static void
change_queue(struct model *m)
{
	struct settings *q = &m->queues[any_queue(m)], old = *q;
	rp_queue queue = RP_QUEUE_INIT;
	int r;

	if (m->sessions[m->s].open)
		return;
	queue.name = q->name;
	if (chance(m, 3) == 0) {
		q->paused = !q->paused;
		r = q->paused ? rp_queue_pause(conn_of(m), q->name, NULL)
			      : rp_queue_resume(conn_of(m), q->name);
	} else {
		queue.max_attempts = q->max_attempts = 1 + chance(m, 3);
		queue.priority = q->priority = chance(m, 2) ? 50 : 100;
		queue.keep_done_ms = q->keep_done = LONG_MS * chance(m, 2);
		r = rp_queue_set(conn_of(m), &queue);
	}
	say(m, "queue %s, %spaused, attempts %d, priority %d, keep %d: %d\n",
	    q->name, q->paused ? "" : "not ", q->max_attempts, q->priority,
	    (int)q->keep_done, r);
	if (busy(m, r))
		*q = old;
	else
		agree(m, r == 0);
}

/* ---- transactions ---- */

static void
end_transaction(struct model *m, int commit)
{
	int r = commit ? rp_commit(conn_of(m)) : rp_rollback(conn_of(m));

	say(m, "%s: %d\n", commit ? "commit" : "rollback", r);
	agree(m, r == 0);
	m->sessions[m->s].open = 0;
	for (size_t i = 0; i < m->count; i++) {
		struct entry *e = &m->entries[i];
		int64_t told = e->now.told;

		if (e->owner != m->s + 1)
			continue;
		e->owner = 0;
		if (!commit)
			e->now = e->before;
		e->now.told = told;
		e->now.loose = !m->on_file;
		e->now.replaced = 0;
	}
}

static void
begin_or_end(struct model *m)
{
	int r;

	if (m->sessions[m->s].open) {
		end_transaction(m, chance(m, 2));
		return;
	}
	r = rp_begin(conn_of(m));
	say(m, "begin: %d\n", r);
	if (busy(m, r))
		return;
	agree(m, r == 0);
	m->sessions[m->s].open = 1;
}

/* ---- a schedule ---- */

static void
step(struct model *m)
{
	static void (*const steps[])(struct model *) = {
		enqueue,      enqueue, claim,  claim,
		claim,        settle,  settle, settle_and_claim,
		cancel,       retry,   sweep,  change_queue,
		begin_or_end,
	};
	static const size_t kinds = sizeof(steps) / sizeof(*steps);

	m->s = chance(m, SESSIONS);
	say(m, "%d: ", m->s);
	steps[chance(m, (int)kinds)](m);
}

/* Return the state with which a job is shown. A job that is due is shown as
 * ready, even before a sweep puts it into the ready line. */
static int
shown(const struct job *j)
{
	return j->state == RP_STATE_SCHEDULED && j->soon ? RP_STATE_READY
							 : j->state;
}

/* Compare all jobs of the database with the model. */
static void
compare(struct model *m)
{
	int64_t counts[QUEUES][RP_STATE_CANCELLED + 1] = { { 0 } };

	let_time_pass(m);
	for (size_t i = 0; i < m->count; i++) {
		struct job *j = &m->entries[i].now;
		rp_batch *batch;

		if (find(m, j->id) != &m->entries[i])
			continue;
		counts[j->queue][shown(j)]++;
		if (!j->state) {
			agree(m, state_of(conn_of(m), j->id) == 0);
			continue;
		}
		batch = get(conn_of(m), j->id);
		agree(m, rp_batch_at(batch, 0)->state == shown(j));
		agree(m, rp_batch_at(batch, 0)->attempt == j->attempt);
		agree(m, rp_batch_at(batch, 0)->claim_no == j->claim_no);
		rp_batch_free(batch);
	}
	for (int q = 0; q < QUEUES; q++) {
		rp_queue_stats s = stats_of(conn_of(m), m->queues[q].name);
		const int64_t *c = counts[q];

		agree(m, s.scheduled == c[RP_STATE_SCHEDULED]);
		agree(m, s.ready == c[RP_STATE_READY]);
		agree(m, s.running == c[RP_STATE_RUNNING]);
		agree(m, s.done == c[RP_STATE_DONE]);
		agree(m, s.dead == c[RP_STATE_DEAD]);
		agree(m, s.cancelled == c[RP_STATE_CANCELLED]);
		agree(m, s.paused == m->queues[q].paused);
	}
}

/* Check that each job that is ready now, or becomes ready after SOON_MS, can be
 * claimed. */
static void
drain(struct model *m)
{
	int64_t end = now_ms() + 10000;
	int left = 1;

	for (int q = 0; q < QUEUES; q++)
		if (m->queues[q].paused) {
			ok(conn_of(m),
			   rp_queue_resume(conn_of(m), m->queues[q].name));
			m->queues[q].paused = 0;
		}
	for (; left && now_ms() < end; sleep_ms(10)) {
		sweep(m);
		left = 0;
		for (int q = 0; q < QUEUES; q++) {
			struct claim c;

			while (take_one(conn_of(m), m->queues[q].name, LONG_MS,
					&c)) {
				ok(conn_of(m),
				   rp_complete(conn_of(m), c.id, c.no));
				find(m, c.id)->now.state =
					m->queues[q].keep_done ? RP_STATE_DONE
							       : 0;
			}
		}
		for (size_t i = 0; i < m->count; i++)
			left |= m->entries[i].now.state == RP_STATE_READY ||
				(live(&m->entries[i].now) &&
				 m->entries[i].now.soon);
	}
	agree(m, !left);
}

static void
clean_up(struct model *m)
{
	int64_t payloads = 0;

	for (size_t i = 0; i < m->count; i++)
		if (live(&m->entries[i].now))
			ok(conn_of(m),
			   rp_job_cancel(conn_of(m), m->entries[i].now.id,
					 NULL));
	for (int q = 0; q < QUEUES; q++) {
		ok(conn_of(m),
		   rp_queue_purge(conn_of(m), m->queues[q].name, 0, NULL));
		agree(m, stats_of(conn_of(m), m->queues[q].name).ready == 0);
	}
	if (m->on_file)
		payloads = ask_sql(conn_of(m),
				   "select count(*) from readpast_payload where"
				   " id not in (select id from readpast_gone)");
	agree(m, payloads == 0);
	m->count = 0;
	m->claims_count = 0;
	m->said_size = 0;
}

static void
run_schedule(struct model *m, unsigned seed, int drained)
{
	int steps;

	m->seed = m->began = seed;
	rand_r(&m->seed);
	steps = 8 + chance(m, 17);
	for (int i = 0; i < steps; i++)
		step(m);
	for (m->s = 0; m->s < SESSIONS; m->s++)
		if (m->sessions[m->s].open)
			end_transaction(m, chance(m, 2));
	m->s = 0;
	compare(m);
	if (drained)
		drain(m);
	clean_up(m);
}

static unsigned
number_of(const char *variable, unsigned otherwise)
{
	const char *value = getenv(variable);

	return value ? (unsigned)strtoul(value, NULL, 10) : otherwise;
}

/* Set a lock timeout, so that a call reports soon that a row is locked. The
 * timeout is long enough for calls on a busy machine. The model knows only the
 * locks of its own sessions, so the server must run without autovacuum. */
static void
hurry(rp_conn *conn)
{
	static const char sql[] =
		"set synchronous_commit = off; set lock_timeout = 50";

	assert_int_equal(run_sql(conn, sql, NULL), 0);
}

static void
open_sessions(struct model *m, const struct db *db)
{
	char url[600];

	m->on_file = db->path[0] != '\0';
	snprintf(url, sizeof(url), "%s%s", db->url,
		 m->on_file ? "?busy=0&synchronous=normal" : "");
	for (int s = 0; s < SESSIONS; s++) {
		ok(db->conn, rp_open(url, NULL, &m->sessions[s].conn, NULL));
		if (!m->on_file)
			hurry(m->sessions[s].conn);
	}
}

static void
schedules_are_answered_as_the_model_says(void **state)
{
	struct db *db = *state;
	unsigned first = number_of("READPAST_TEST_SEED", 1);
	unsigned n = number_of("READPAST_TEST_SCHEDULES", 2000);
	static const char *const names[QUEUES] = { "p", "q" };
	struct model *m = calloc(1, sizeof(*m));

	open_sessions(m, db);
	for (int q = 0; q < QUEUES; q++) {
		rp_queue queue = RP_QUEUE_INIT;

		m->queues[q] = (struct settings){ names[q], 3, 100, 0, 0 };
		queue.name = names[q];
		queue.backoff_ms = SOON_MS;
		queue.backoff_max_ms = SOON_MS;
		queue.lease_ms = LONG_MS;
		settings(db->conn, queue);
	}
	for (unsigned i = 0; i < n; i++)
		run_schedule(m, first + i, i % 1000 == 999 || i + 1 == n);
	for (int s = 0; s < SESSIONS; s++)
		rp_close(m->sessions[s].conn);
	free(m);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(schedules_are_answered_as_the_model_says),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
