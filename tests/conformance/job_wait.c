/*
 * job_wait.c - test waiting for the end of jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"
#include "kinds.h"

#include <time.h>
#include <unistd.h>

#define LONG_MS 20000

static rp_outcome
wait_for(rp_conn *conn, int64_t id, int64_t timeout_ms, int expected)
{
	rp_outcome outcome = { 0, 0, 0 };

	assert_int_equal(ok(conn, rp_job_wait(conn, &id, 1, RP_WAIT_ALL,
					      timeout_ms, -1, &outcome)),
			 expected);
	assert_int_equal(outcome.id, id);
	return outcome;
}

static void
expect_end(rp_conn *conn, int64_t id, int state, int kept)
{
	rp_outcome outcome = wait_for(conn, id, 0, 1);

	assert_int_equal(outcome.state, state);
	assert_int_equal(outcome.kept, kept);
}

static void
a_job_that_has_ended_ends_a_wait_at_once(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	int64_t id[4];

	for (int i = 0; i < 4; i++)
		id[i] = put(conn, "q", "x");
	settle_one(conn, claim_one(conn, 60000), RP_DONE, -1);
	expect_end(conn, id[0], RP_STATE_DONE, 0);
	settle_one(conn, claim_one(conn, 60000), RP_DEAD, -1);
	expect_end(conn, id[1], RP_STATE_DEAD, 1);
	ok(conn, rp_job_cancel(conn, id[2], NULL));
	expect_end(conn, id[2], RP_STATE_CANCELLED, 1);
	keep_for(conn, 60000, 60000);
	settle_one(conn, claim_one(conn, 60000), RP_DONE, -1);
	expect_end(conn, id[3], RP_STATE_DONE, 1);
}

static void
a_live_job_is_waited_for_until_the_time_is_over(void **state)
{
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x"), began = now_ms();

	assert_int_equal(wait_for(db->conn, id, 0, 0).state, 0);
	assert_int_equal(wait_for(db->conn, id, 60, 0).state, 0);
	assert_in_range(now_ms() - began, 60, 2000);
}

static void
a_descriptor_ends_a_wait(void **state)
{
	struct db *db = *state;
	int64_t id = put(db->conn, "q", "x");
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "x", 1), 1);
	assert_int_equal(rp_job_wait(db->conn, &id, 1, RP_WAIT_ALL, LONG_MS,
				     ends[0], NULL),
			 0);
	assert_int_equal(rp_queue_wait(db->conn, "q", LONG_MS, ends[0]), 0);
	close(ends[0]);
	close(ends[1]);
}

static void
wrong_arguments_are_refused(void **state)
{
	struct db *db = *state;
	rp_conn *conn = db->conn;
	int64_t ids[] = { put(conn, "q", "x"), 4711 };

	assert_int_equal(rp_job_wait(conn, ids, 2, RP_WAIT_ANY, 0, -1, NULL),
			 RP_ENOENT);
	assert_int_equal(rp_last_error(conn)->item, 1);
	assert_non_null(strstr(rp_last_error(conn)->message, "4711"));
	assert_int_equal(rp_job_wait(conn, ids, 0, 0, 0, -1, NULL), RP_EINVAL);
	assert_int_equal(rp_job_wait(conn, NULL, 1, 0, 0, -1, NULL), RP_EINVAL);
	assert_int_equal(rp_job_wait(conn, ids, 1, 0, -2, -1, NULL), RP_EINVAL);
	assert_int_equal(rp_job_wait(conn, ids, 1, 2, 0, -1, NULL), RP_EINVAL);
	assert_int_equal(rp_queue_wait(conn, "none", 0, -1), RP_ENOENT);
	ok(conn, rp_begin(conn));
	assert_int_equal(rp_job_wait(conn, ids, 1, 0, 0, -1, NULL), RP_EINVAL);
	assert_int_equal(rp_queue_wait(conn, "q", 0, -1), RP_EINVAL);
	ok(conn, rp_rollback(conn));
}

/* ---- a job that another process ends ---- */

/* Another process does one of these things to a job while this process waits
 * for the job's end. */
enum deed {
	COMPLETE,
	KEEP,
	FAIL,
	DIE,
	LOSE,
	CANCEL,
	EXPIRE,
	PURGE,
	DROP,
	DEEDS
};

struct doing {
	const struct db *db;
	enum deed deed;
	int pipe[2], answer[2];
};

static void
end_it(rp_conn *conn, enum deed deed)
{
	struct claim c = { 0, 0, 0 };

	if (deed < CANCEL)
		take_one(conn, "q", deed == LOSE ? 1 : 60000, &c);
	switch (deed) {
	case COMPLETE:
	case KEEP:
		ok(conn, rp_complete(conn, c.id, c.no));
		break;
	case FAIL:
		ok(conn, rp_fail(conn, c.id, c.no, "no"));
		break;
	case DIE:
		settle_one(conn, c, RP_DEAD, -1);
		break;
	case LOSE:
	case EXPIRE:
		sleep_ms(5);
		ok(conn, rp_sweep(conn, NULL));
		break;
	case CANCEL:
		ok(conn, rp_job_cancel(conn, 1, NULL));
		break;
	case PURGE:
		assert_int_equal(
			rp_queue_purge(conn, "q", RP_STATE_READY, NULL), 1);
		break;
	default:
		ok(conn, rp_queue_drop(conn, "q"));
	}
}

static int
do_it(void *ctx)
{
	struct doing *doing = ctx;
	rp_conn *conn = connect_to(doing->db);
	char c;

	if (read(doing->pipe[0], &c, 1) != 1)
		return 1;
	sleep_ms(100); /* the parent begins its wait during this pause */
	end_it(conn, doing->deed);
	rp_close(conn);
	return 0;
}

static void
each_end_of_a_job_ends_a_wait(void **state)
{
	static const int states[DEEDS] = {
		[COMPLETE] = RP_STATE_DONE,    [KEEP] = RP_STATE_DONE,
		[FAIL] = RP_STATE_DEAD,        [DIE] = RP_STATE_DEAD,
		[LOSE] = RP_STATE_DEAD,        [CANCEL] = RP_STATE_CANCELLED,
		[EXPIRE] = RP_STATE_CANCELLED, [DROP] = RP_STATE_CANCELLED,
		[PURGE] = RP_STATE_DONE,
	};

	(void)state;
	for (enum deed deed = COMPLETE; deed < DEEDS; deed++) {
		struct db *db = make_db(((struct db *)*state)->kind->scheme);
		struct doing doing = { .db = db, .deed = deed };
		rp_job_spec job = job_of("x");
		rp_added added;
		rp_outcome outcome;
		int64_t began;
		pid_t pid;

		job.max_attempts = 1;
		job.expire_ms = deed == EXPIRE ? 50 : 0;
		ok(db->conn, rp_enqueue(db->conn, "q", &job, &added));
		if (deed == KEEP)
			keep_for(db->conn, 60000, 60000);
		assert_int_equal(pipe(doing.pipe), 0);
		pid = in_child(do_it, &doing);
		assert_int_equal(write(doing.pipe[1], "x", 1), 1);
		began = now_ms();
		outcome = wait_for(db->conn, added.id, LONG_MS, 1);
		assert_int_equal(outcome.state, states[deed]);
		assert_int_equal(outcome.kept, deed != COMPLETE &&
						       deed != PURGE &&
						       deed != DROP);
		assert_in_range(now_ms() - began, 0, 5000);
		expect_success(pid);
		close(doing.pipe[0]);
		close(doing.pipe[1]);
		remove_db(db);
	}
}

static int
complete_two(void *ctx)
{
	struct doing *doing = ctx;
	rp_conn *conn = connect_to(doing->db);

	for (int i = 0; i < 2; i++) {
		sleep_ms(100);
		end_it(conn, COMPLETE);
	}
	rp_close(conn);
	return 0;
}

static void
a_wait_is_for_one_of_several_jobs_or_for_all(void **state)
{
	struct db *db = *state;
	struct doing doing = { .db = db };
	int64_t ids[] = { put(db->conn, "q", "a"), put(db->conn, "q", "b") };
	rp_outcome outcomes[2];
	pid_t pid = in_child(complete_two, &doing);

	assert_int_equal(ok(db->conn, rp_job_wait(db->conn, ids, 2, RP_WAIT_ANY,
						  LONG_MS, -1, outcomes)),
			 1);
	assert_int_equal(outcomes[0].state, RP_STATE_DONE);
	assert_int_equal(outcomes[1].state, 0);
	assert_int_equal(ok(db->conn, rp_job_wait(db->conn, ids, 2, RP_WAIT_ALL,
						  LONG_MS, -1, outcomes)),
			 1);
	assert_int_equal(outcomes[0].state, RP_STATE_DONE);
	assert_int_equal(outcomes[1].state, RP_STATE_DONE);
	expect_success(pid);
}

static void
a_wait_for_a_queue_ends_when_no_job_in_it_is_live(void **state)
{
	struct db *db = *state;
	struct doing doing = { .db = db };
	rp_job_spec later = job_of("later");
	rp_added added;
	pid_t pid;

	put(db->conn, "q", "a");
	put(db->conn, "q", "b");
	pid = in_child(complete_two, &doing);
	assert_int_equal(rp_queue_wait(db->conn, "q", LONG_MS, -1), 1);
	assert_int_equal(stats_of(db->conn, "q").ready, 0);
	expect_success(pid);
	later.delay_ms = 60000;
	ok(db->conn, rp_enqueue(db->conn, "q", &later, &added));
	assert_int_equal(rp_queue_wait(db->conn, "q", 20, -1), 0);
	ok(db->conn, rp_job_cancel(db->conn, added.id, NULL));
	assert_int_equal(rp_queue_wait(db->conn, "q", 0, -1), 1);
}

/* ---- a wait notices each end of a job ---- */

#define RACES 200

static int
complete_all(void *ctx)
{
	struct doing *doing = ctx;
	rp_conn *conn = connect_to(doing->db);
	const char *const queues[] = { "q", NULL };
	struct claim c;

	for (int i = 0; i < RACES;)
		if (take_one(conn, "q", 60000, &c)) {
			ok(conn, rp_complete(conn, c.id, c.no));
			i++;
		} else {
			rp_wait(conn, queues, 1000, -1);
		}
	rp_close(conn);
	return 0;
}

/* A wait reads the job's state, and then registers itself for a notification.
 * Each job ends at a different moment: before the wait reads the state, between
 * the read and the registration, or after the registration. A wait that missed
 * the job's end would last seconds longer, until the wait reads the state
 * again. */
static void
no_end_of_a_short_job_is_missed(void **state)
{
	struct db *db = *state;
	struct doing doing = { .db = db };
	rp_queue queue = RP_QUEUE_INIT;
	int64_t longest = 0;
	pid_t pid;

	queue.name = "q";
	settings(db->conn, queue);
	pid = in_child(complete_all, &doing);
	for (int i = 0; i < RACES; i++) {
		int64_t id = put(db->conn, "q", "x"), began = now_ms(), took;

		if (i % 3)
			usleep((useconds_t)(i * 7 % 3000));
		wait_for(db->conn, id, LONG_MS, 1);
		took = now_ms() - began;
		longest = took > longest ? took : longest;
	}
	expect_success(pid);
	assert_in_range(longest, 0, 3000);
}

/* ---- how soon ---- */

#define ENDS 40

static int
compare_us(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

/* Each `x` in the pipe is an order to complete a job 20 ms later. The answer is
 * the time at which the job was completed. */
static int
complete_when_told(void *ctx)
{
	struct doing *doing = ctx;
	rp_conn *conn = connect_to(doing->db);
	char c;

	while (read(doing->pipe[0], &c, 1) == 1 && c == 'x') {
		int64_t us;

		usleep(20000);
		end_it(conn, COMPLETE);
		us = now_us();
		if (write(doing->answer[1], &us, sizeof(us)) != sizeof(us))
			return 1;
	}
	rp_close(conn);
	return 0;
}

/* On an idle host a wait ends within 5 ms of its job. The limit here is larger,
 * because the host may be busy. */
static void
a_wait_ends_soon_after_its_job(void **state)
{
	struct db *db = *state;
	struct doing doing = { .db = db };
	int64_t late[ENDS];
	pid_t pid;

	assert_int_equal(pipe(doing.pipe), 0);
	assert_int_equal(pipe(doing.answer), 0);
	pid = in_child(complete_when_told, &doing);
	for (int i = 0; i < ENDS; i++) {
		int64_t id = put(db->conn, "q", "x"), ended, waited;

		assert_int_equal(write(doing.pipe[1], "x", 1), 1);
		wait_for(db->conn, id, LONG_MS, 1);
		waited = now_us();
		assert_int_equal(read(doing.answer[0], &ended, sizeof(ended)),
				 sizeof(ended));
		late[i] = waited > ended ? waited - ended : 0;
	}
	assert_int_equal(write(doing.pipe[1], "e", 1), 1);
	expect_success(pid);
	qsort(late, ENDS, sizeof(*late), compare_us);
	print_message("# from the end of a job to the end of its wait: p50 "
		      "%.1f ms, p95 %.1f ms\n",
		      (double)late[ENDS / 2] / 1000,
		      (double)late[ENDS * 95 / 100] / 1000);
	assert_in_range(late[ENDS / 2], 0, 200000);
}

/* ---- a handler that would wait for its own job ---- */

struct handled {
	const struct db *db;
	int64_t id;        /* the job to wait for; 0: the handler's own job */
	const char *queue; /* if not NULL, wait for this queue instead */
	int result;
	char message[232];
};

static int
wait_inside(rp_task *task, const rp_job *job, void *ctx)
{
	struct handled *h = ctx;
	rp_conn *conn = connect_to(h->db);
	int64_t id = h->id ? h->id : job->id;

	(void)task;
	h->result =
		h->queue ? rp_queue_wait(conn, h->queue, 50, -1)
			 : rp_job_wait(conn, &id, 1, RP_WAIT_ALL, 50, -1, NULL);
	strcpy(h->message, rp_last_error(conn)->message);
	rp_close(conn);
	return RP_DONE;
}

static int
handle_one(struct handled *h, int threads, const char *pattern)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;

	put(h->db->conn, "served", "x");
	options.threads = threads;
	options.max_jobs = 1;
	assert_int_equal(rp_worker_new(h->db->url, &options, &worker, &error),
			 0);
	if (pattern)
		ok(NULL, rp_worker_handle_pattern(worker, pattern, NULL,
						  wait_inside, h));
	else
		ok(NULL,
		   rp_worker_handle(worker, "served", NULL, wait_inside, h));
	assert_int_equal(rp_worker_run(worker, &error), 0);
	rp_worker_free(worker);
	return h->result;
}

static int64_t
put_later(struct db *db, const char *queue)
{
	rp_job_spec later = job_of("later");
	rp_added added;

	later.delay_ms = 60000;
	ok(db->conn, rp_enqueue(db->conn, queue, &later, &added));
	return added.id;
}

static void
a_handler_cannot_wait_for_itself(void **state)
{
	struct db *db = *state;
	struct handled h = { .db = db };
	int64_t other = put_later(db, "other");
	int64_t served = put_later(db, "served");

	assert_int_equal(handle_one(&h, 1, NULL), RP_EINVAL);
	assert_non_null(strstr(h.message, "itself"));
	assert_int_equal(handle_one(&h, 2, NULL), RP_EINVAL);
	h.id = served;
	assert_int_equal(handle_one(&h, 1, NULL), RP_EINVAL);
	assert_non_null(strstr(h.message, "one job at a time"));
	assert_int_equal(handle_one(&h, 2, NULL), 0);
	h.id = other;
	assert_int_equal(handle_one(&h, 1, NULL), 0);
	h.queue = "served";
	assert_int_equal(handle_one(&h, 2, NULL), RP_EINVAL);
	h.queue = "other";
	assert_int_equal(handle_one(&h, 1, NULL), 0);
	assert_int_equal(wait_for(db->conn, served, 20, 0).state, 0);
}

static void
a_worker_with_a_pattern_cannot_wait_for_what_it_serves(void **state)
{
	struct db *db = *state;
	struct handled h = { .db = db };
	int64_t other = put_later(db, "other");
	int64_t served = put_later(db, "serves");

	h.id = served;
	assert_int_equal(handle_one(&h, 1, "serve*"), RP_EINVAL);
	assert_non_null(strstr(h.message, "one job at a time"));
	assert_int_equal(handle_one(&h, 2, "serve*"), 0);
	h.id = other;
	assert_int_equal(handle_one(&h, 1, "serve*"), 0);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_job_that_has_ended_ends_a_wait_at_once),
		CASE(a_live_job_is_waited_for_until_the_time_is_over),
		CASE(a_descriptor_ends_a_wait),
		CASE(wrong_arguments_are_refused),
		CASE(each_end_of_a_job_ends_a_wait),
		CASE(a_wait_is_for_one_of_several_jobs_or_for_all),
		CASE(a_wait_for_a_queue_ends_when_no_job_in_it_is_live),
		CASE(no_end_of_a_short_job_is_missed),
		CASE(a_wait_ends_soon_after_its_job),
		CASE(a_handler_cannot_wait_for_itself),
		CASE(a_worker_with_a_pattern_cannot_wait_for_what_it_serves),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("job_wait", tests, NULL, NULL);
}
