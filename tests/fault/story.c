/*
 * story.c - a client for tests that records the results of its calls, and
 * repeats failed calls if this is safe. One run of this client is called a
 * story.
 *
 * A call that has failed has changed nothing. If the outcome of a call is
 * unknown, the call has done either everything or nothing. Each job's payload
 * is a number, which is called the job's tag and identifies the job.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "story.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "internal.h"

static char place[200], model[240];

/* ---- the directory and its databases ---- */

int
stories_start(int argc, char **argv)
{
	const char *dir = getenv("TMPDIR");
	rp_queue q = RP_QUEUE_INIT;
	char url[300];
	rp_conn *conn;
	int r;

	if (argc > 1 && strncmp(argv[1], "sqlite:", 7) == 0 && argv[1][7])
		dir = argv[1] + 7;
	snprintf(place, sizeof(place), "%.150s/readpast.XXXXXX",
		 dir ? dir : "/tmp");
	if (!mkdtemp(place))
		return -1;
	snprintf(model, sizeof(model), "%s/model.db", place);
	snprintf(url, sizeof(url), "sqlite:%s", model);
	if (rp_open(url, NULL, &conn, NULL) < 0)
		return -1;
	q.name = "q";
	q.max_attempts = 20;
	q.backoff_ms = 0;
	q.keep_done_ms = 86400000;
	r = rp_queue_set(conn, &q);
	rp_close(conn);
	return r;
}

void
stories_end(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", place);
	if (system(command) != 0)
		fprintf(stderr, "%s is left\n", place);
}

static void
copy_model(const char *to)
{
	char buffer[65536];
	int in = open(model, O_RDONLY);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	ssize_t n;

	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		assert_int_equal(write(out, buffer, (size_t)n), n);
	assert_int_equal(n, 0);
	close(in);
	close(out);
}

struct story *
story_open(const struct chapter *chapter)
{
	/* Each story has its own database file, because a story that fails
	 * leaves its file open. */
	static unsigned stories;
	struct story *s = calloc(1, sizeof(*s));
	rp_error error;

	snprintf(s->path, sizeof(s->path), "%.200s/story%u.db", place,
		 stories++);
	snprintf(s->url, sizeof(s->url), "sqlite:%s?busy=2s", s->path);
	copy_model(s->path);
	if (rp_open(s->url, NULL, &s->conn, &error) < 0 ||
	    rp_open(s->url, NULL, &s->other, &error) < 0)
		fail_msg("%s: %s", s->url, error.message);
	/* Do not wait for the disk. There are many stories, and no story tests
	 * a power cut. */
	sqlite3_exec(rp_conn_native(s->conn), "pragma synchronous=off", NULL,
		     NULL, NULL);
	sqlite3_exec(rp_conn_native(s->other), "pragma synchronous=off", NULL,
		     NULL, NULL);
	if (chapter->prepare)
		chapter->prepare(s);
	return s;
}

const struct chapter *
chapter_named(const char *name)
{
	const struct chapter *chapter = chapters;

	while (chapter->name && strcmp(chapter->name, name) != 0)
		chapter++;
	assert_non_null(chapter->name);
	return chapter;
}

/* ---- failures ---- */

/* Return whether the result is final. Success is final, and so is an error that
 * the same call would always return. */
static int
is_answer(int64_t r)
{
	return r >= 0 || r == RP_EGONE || r == RP_ECANCELLED ||
	       r == RP_ENOENT || r == RP_ETAKEN || r == RP_EFBIG;
}

rp_conn *
shaky(struct story *s)
{
	if (s->arm)
		s->arm(1);
	return s->conn;
}

void
calm(struct story *s)
{
	if (s->arm)
		s->arm(0);
}

int
failed(struct story *s, int64_t r)
{
	const rp_error *error = rp_last_error(s->conn);
	int gone = s->inside && sqlite3_get_autocommit(rp_conn_native(s->conn));

	calm(s);
	s->lost = 0;
	if (r < 0) {
		assert_int_equal(error->code, r);
		assert_true(*error->message);
	}
	if (!s->inside) {
		assert_int_equal(s->conn->depth, 0);
		assert_true(sqlite3_get_autocommit(rp_conn_native(s->conn)));
	}
	if (is_answer(r))
		return 0;
	assert_true(r != RP_EINVAL);
	if (getenv("FAULT_VERBOSE"))
		print_message("# failed: %d, %d, %s\n", error->code,
			      error->native, error->message);
	assert_true(++s->failures < 100);
	s->last = (int)r;
	s->lost = r == RP_ELOST || gone;
	return 1;
}

void
expect_untouched(const void *where, size_t size)
{
	for (size_t i = 0; i < size; i++)
		assert_int_equal(((const unsigned char *)where)[i], UNTOUCHED);
}

/* ---- enqueueing ---- */

/* SQLite keeps a payload of this size in the table for large payloads. */
#define LARGE 17000

int
enter(struct story *s, const char *queue, rp_job_spec job, size_t n,
      rp_added *ret)
{
	static char tags[MOST_TAGS][LARGE];
	static rp_job_spec jobs[MOST_TAGS];
	static rp_added added[MOST_TAGS];
	int first = s->next_tag, r;

	assert_true(first + (int)n < MOST_TAGS);
	s->next_tag += (int)n;
	s->groups++;
	for (size_t i = 0; i < n; i++) {
		jobs[i] = job;
		jobs[i].payload = tags[i];
		jobs[i].payload_size = (size_t)snprintf(
			tags[i], sizeof(tags[i]), "%d", first + (int)i);
		if (i % 3 == 1)
			jobs[i].payload_size = LARGE;
		s->known[first + (int)i].group = s->groups;
	}
	for (;;) {
		memset(added, UNTOUCHED, n * sizeof(*added));
		r = rp_enqueue_many(shaky(s), queue, jobs, n, added);
		if (!failed(s, r))
			break;
		expect_untouched(added, n * sizeof(*added));
		if (s->inside && s->lost)
			return -1;
		/* If the answer was lost, the jobs may have been added. The
		 * repeated call then adds them again, unless they have a unique
		 * key. */
		for (size_t i = 0; i < n; i++)
			s->known[first + (int)i].maybe +=
				s->lost && !job.unique_key;
	}
	assert_int_equal(r, 0);
	for (size_t i = 0; i < n; i++)
		s->known[first + (int)i].sure = 1;
	if (ret)
		memcpy(ret, added, n * sizeof(*added));
	return first;
}

int
tag_of(const rp_job *job)
{
	int tag = atoi(job->payload);

	assert_true(job->payload_size > 0);
	assert_in_range(tag, 0, MOST_TAGS - 1);
	return tag;
}

/* ---- claims and verdicts ---- */

void
let_go(struct story *s, int64_t id)
{
	for (size_t i = 0; i < s->held_count; i++)
		if (s->held[i].id == id) {
			s->held[i] = s->held[--s->held_count];
			return;
		}
}

void
hold(struct story *s, const rp_batch *batch)
{
	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		const rp_job *job = rp_batch_at(batch, i);

		for (size_t k = 0; k < s->held_count; k++)
			assert_true(s->held[k].id != job->id);
		assert_int_equal(state_of(s->other, job->id), RP_STATE_RUNNING);
		s->held[s->held_count++] =
			(struct claim){ job->id, job->claim_no, job->attempt };
		assert_true(s->held_count < MOST_HELD);
	}
}

static int
give(struct story *s, const rp_job *job, int verdict)
{
	switch (verdict) {
	case RP_DONE:
		return rp_complete(shaky(s), job->id, job->claim_no);
	case RP_FAIL:
		return rp_fail(shaky(s), job->id, job->claim_no, "why");
	case RP_RELEASE:
		return rp_release(shaky(s), job->id, job->claim_no, 0);
	case RP_EXTEND:
		return rp_extend(shaky(s), job->id, job->claim_no, 60000);
	default: {
		rp_verdict v = RP_VERDICT_INIT;
		int r;

		v.id = job->id;
		v.claim_no = job->claim_no;
		v.verdict = verdict;
		v.error = "for good";
		r = rp_settle(shaky(s), &v, 1);
		return r < 0 ? r : v.result;
	}
	}
}

/* Check that the job is in the state to which the accepted verdict leads. After
 * RP_EXTEND the claim must still be valid. After any other verdict it must be
 * over. */
static void
expect_settled(struct story *s, const rp_job *job, int verdict)
{
	int state = state_of(s->other, job->id);
	rp_batch *batch = get(s->other, job->id);

	if (verdict == RP_EXTEND) {
		assert_int_equal(state, RP_STATE_RUNNING);
		assert_int_equal(rp_batch_at(batch, 0)->claim_no,
				 job->claim_no);
	} else {
		assert_int_equal(state, verdict == RP_DONE   ? RP_STATE_DONE
					: verdict == RP_DEAD ? RP_STATE_DEAD
							     : RP_STATE_READY);
		assert_int_equal(rp_complete(s->other, job->id, job->claim_no),
				 RP_EGONE);
		let_go(s, job->id);
	}
	rp_batch_free(batch);
}

void
settle(struct story *s, const rp_job *job, int verdict)
{
	int unknown = 0, r;

	for (;;) {
		r = give(s, job, verdict);
		calm(s);
		/* rp_settle() writes RP_EGONE into the verdict, and sets no
		 * error message. */
		if (r != RP_EGONE && failed(s, r))
			unknown |= s->lost;
		else
			break;
	}
	if (!(r == RP_EGONE && unknown))
		assert_int_equal(r, 0);
	expect_settled(s, job, verdict);
	if (verdict == RP_DONE)
		s->known[tag_of(job)].done = 1;
}

/* Claim some jobs. The leases are short, so that the jobs of a claim whose
 * result was lost become ready again soon. */
static rp_batch *
claim_some(struct story *s, const char *queue)
{
	rp_claim_options o = RP_CLAIM_INIT;
	rp_batch *batch;
	int r;

	o.lease_ms = 5;
	for (;;) {
		memset(&batch, UNTOUCHED, sizeof(batch));
		r = rp_claim(shaky(s), queue, 10, &o, &batch);
		if (!failed(s, r))
			break;
		expect_untouched(&batch, sizeof(batch));
	}
	assert_true(r >= 0);
	assert_int_equal(rp_batch_count(batch), r);
	return batch;
}

void
work_off(struct story *s, const char *queue, plan_fn *plan)
{
	for (int idle = 0; idle < 20;) {
		rp_batch *batch = claim_some(s, queue);
		size_t n = rp_batch_count(batch);
		rp_queue_stats stats;
		int64_t r;

		hold(s, batch);
		for (size_t i = 0; i < n; i++) {
			const rp_job *job = rp_batch_at(batch, i);
			int verdict = plan(job);

			settle(s, job, verdict);
			if (verdict == RP_EXTEND)
				settle(s, job, RP_DONE);
		}
		rp_batch_free(batch);
		if (n > 0)
			continue;
		until_answered(s, r, rp_sweep(shaky(s), NULL));
		stats = stats_of(s->other, queue);
		if (stats.ready + stats.running + stats.scheduled == 0)
			return;
		sleep_ms(2);
		idle += r == 0;
	}
	fail_msg("%s is never done", queue);
}

/* ---- the end ---- */

static void
expect_usable(struct story *s)
{
	rp_added added;
	rp_batch *batch;
	rp_job_spec job = job_of("a last one");
	struct claim c;

	ok(s->conn, rp_begin(s->conn));
	ok(s->conn, rp_rollback(s->conn));
	ok(s->conn, rp_enqueue(s->conn, "last", &job, &added));
	assert_int_equal(state_of(s->other, added.id), RP_STATE_READY);
	assert_int_equal(take_one(s->conn, "last", 60000, &c), 1);
	assert_int_equal(c.id, added.id);
	ok(s->conn, rp_complete(s->conn, c.id, c.no));
	assert_int_equal(state_of(s->other, added.id), 0);
	ok(s->conn, rp_job_list(s->conn, "q", 0, 1000, &batch));
	rp_batch_free(batch);
}

static void
count_copies(struct story *s, const char *queue, int *copies)
{
	static const int states[] = { 0, RP_STATE_DONE, RP_STATE_DEAD,
				      RP_STATE_CANCELLED };

	for (size_t k = 0; k < 4; k++) {
		rp_batch *batch;
		int r = rp_job_list(s->other, queue, states[k], 5000, &batch);

		if (r == RP_ENOENT)
			return;
		ok(s->other, r);
		for (size_t i = 0; i < rp_batch_count(batch); i++) {
			const rp_job *job = rp_batch_at(batch, i);

			copies[tag_of(job)]++;
			if (s->known[tag_of(job)].done &&
			    !s->known[tag_of(job)].maybe)
				assert_int_equal(job->state, RP_STATE_DONE);
		}
		rp_batch_free(batch);
	}
}

static void
expect_book_is_right(struct story *s)
{
	int copies[MOST_TAGS] = { 0 };

	count_copies(s, "q", copies);
	count_copies(s, "bulk", copies);
	for (int tag = 0; tag < s->next_tag; tag++) {
		const struct known *k = &s->known[tag];

		if (k->gone)
			continue;
		assert_in_range(copies[tag], k->sure, k->sure + k->maybe);
		if (tag > 0 && k[-1].group == k->group && !k[-1].gone)
			assert_int_equal(copies[tag], copies[tag - 1]);
	}
}

static void
expect_whole(struct story *s)
{
	sqlite3_stmt *stmt;
	int64_t stray;

	run_sql(s->other,
		"select count(*) from readpast_payload where id not in"
		" (select id from readpast_job where payload < '' union all"
		" select id from readpast_archive where payload < '' union all"
		" select id from readpast_gone)",
		&stray);
	assert_int_equal(stray, 0);
	assert_int_equal(sqlite3_prepare_v2(rp_conn_native(s->other),
					    "pragma integrity_check", -1, &stmt,
					    NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal(sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
}

void
story_close(struct story *s, const struct chapter *chapter)
{
	char side[300];

	if (chapter && chapter->check)
		chapter->check(s);
	expect_book_is_right(s);
	expect_usable(s);
	expect_whole(s);
	rp_close(s->conn);
	rp_close(s->other);
	snprintf(side, sizeof(side), "%s-wal", s->path);
	/* The last connection is closed, so SQLite must have deleted -wal. */
	assert_true(access(side, F_OK) < 0);
	unlink(s->path);
	free(s);
}
