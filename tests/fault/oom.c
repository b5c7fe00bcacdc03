/*
 * oom.c - test a client while one allocation fails. Each allocation of the
 * library fails once, and so do many allocations of SQLite.
 *
 * A chapter is a sequence of calls, see chapters.c. Each chapter is run many
 * times: first its first allocation fails, in the next run a later one, and so
 * on. The call that needs the memory either reports the failure or works
 * without this memory. Each change is complete or absent, and the handle can be
 * used afterwards.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "story.h"

#include <unistd.h>

#include "memory.h"

/* ---- the chapters ---- */

/* Run a chapter, in which allocation number `at` fails. Returns whether the
 * chapter made that many allocations. */
static int
play(const struct chapter *chapter, enum memory_kind kind, size_t at)
{
	struct story *story = story_open(chapter);

	memory_fail_at(chapter->name, kind, at);
	story->arm = memory_arm;
	chapter->play(story);
	calm(story);
	if (story->failures > memory.fired ||
	    (story->failures && story->last != RP_ENOMEM))
		fail_msg("%d failures seen, %d made, the last is %d: %s",
			 story->failures, memory.fired, story->last,
			 rp_error_text(story->last));
	story_close(story, chapter);
	return memory.fired;
}

static void
play_all(const char *name)
{
	const struct chapter *chapter = chapter_named(name);

	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		size_t by, at = 1;

		play(chapter, (enum memory_kind)kind, 0);
		by = memory_step((enum memory_kind)kind, memory.made[kind]);
		while (play(chapter, (enum memory_kind)kind, at))
			at += by;
	}
}

/* ---- opening ---- */

typedef int open_fn(struct story *story, rp_conn **ret, rp_error *reterr);

static int
open_new(struct story *s, rp_conn **ret, rp_error *reterr)
{
	char url[300];

	snprintf(url, sizeof(url), "sqlite:%s-new", s->path);
	return rp_open(url, NULL, ret, reterr);
}

static int
open_old(struct story *s, rp_conn **ret, rp_error *reterr)
{
	return rp_open(s->url, NULL, ret, reterr);
}

static int
attach(struct story *s, rp_conn **ret, rp_error *reterr)
{
	return rp_attach("sqlite", rp_conn_native(s->other), NULL, ret, reterr);
}

static void
remove_new(const struct story *s)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[300];

	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s-new%s", s->path, ends[i]);
		unlink(path);
	}
}

/* Open the database. If the first attempt fails, try again with enough
 * memory. */
static int
open_twice(struct story *s, open_fn *open)
{
	rp_conn *conn;
	rp_error error;
	int r;

	memset(&conn, UNTOUCHED, sizeof(conn));
	memory_arm(1);
	r = open(s, &conn, &error);
	memory_arm(0);
	if (r < 0) {
		assert_true(memory.fired);
		assert_int_equal(r, RP_ENOMEM);
		assert_int_equal(error.code, r);
		assert_true(*error.message);
		expect_untouched(&conn, sizeof(conn));
		assert_int_equal(open(s, &conn, &error), 0);
	}
	put(conn, "q", "0");
	rp_close(conn);
	remove_new(s);
	return memory.fired;
}

static void
open_all(const char *what, open_fn *open)
{
	const struct chapter *chapter = chapter_named("look");
	struct story *s = story_open(chapter);

	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		size_t by, at = 1;

		memory_fail_at(what, (enum memory_kind)kind, 0);
		open_twice(s, open);
		by = memory_step((enum memory_kind)kind, memory.made[kind]);
		do {
			memory_fail_at(what, (enum memory_kind)kind, at);
			at += by;
		} while (open_twice(s, open));
	}
	s->known[0].maybe = 100000;
	s->known[0].group = -1;
	story_close(s, NULL);
}

/* ---- a worker finds a new queue ---- */

struct finding {
	struct db *db;
	int ran;
};

/* A handler. The first job enqueues another job into a new queue. */
static int
put_another(rp_task *task, const rp_job *job, void *ctx)
{
	struct finding *f = ctx;

	(void)task;
	(void)job;
	if (++f->ran == 1)
		put(f->db->conn, "t.new", "x");
	return RP_DONE;
}

/* Let an allocation fail between the end of the first job and the claim of the
 * second job. During that time only the thread that claims jobs allocates
 * memory. */
static void
arm_between_jobs(const rp_event *event, void *ctx)
{
	const struct finding *f = ctx;

	if (event->what == RP_EVENT_SETTLED && event->verdict != RP_EXTEND)
		memory_arm(f->ran == 1);
	else if (event->what == RP_EVENT_CLAIM)
		memory_arm(0);
}

/* Run a worker that finds a new queue, while allocation number `at` fails.
 * Returns 1 if the worker made that allocation. */
static int
find_a_queue(size_t at)
{
	struct finding f = { .db = make_db("sqlite:") };
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;

	put(f.db->conn, "t.old", "x");
	options.drain = RP_DRAIN_READY;
	options.lease_ms = 1000;
	options.observer = arm_between_jobs;
	options.observer_ctx = &f;
	assert_int_equal(rp_worker_new(f.db->url, &options, &worker, NULL), 0);
	assert_int_equal(
		rp_worker_handle_pattern(worker, "t.*", NULL, put_another, &f),
		0);
	memory_fail_at("a new queue", MEMORY_LIBRARY, at);
	/* A search or a claim that gets no memory is repeated. A job that was
	 * claimed, but that the worker could not start, is claimed again when
	 * its lease is over. So the worker always finds the new queue, runs its
	 * job, and ends normally. */
	assert_int_equal(rp_worker_run(worker, NULL), 0);
	memory_arm(0);
	assert_int_equal(f.ran, 2);
	rp_worker_free(worker);
	remove_db(f.db);
	return memory.fired;
}

static void
a_new_queue_is_found_once_there_is_memory(void **state)
{
	(void)state;
	for (size_t at = 1; find_a_queue(at);)
		at++;
}

#define CHAPTER(function, name)                                                \
	static void function(void **state)                                     \
	{                                                                      \
		(void)state;                                                   \
		play_all(name);                                                \
	}
#define OPENING(function, open)                                                \
	static void function(void **state)                                     \
	{                                                                      \
		(void)state;                                                   \
		open_all(#open, open);                                         \
	}

OPENING(a_new_database_is_opened_or_not, open_new)
OPENING(a_database_is_opened_or_not, open_old)
OPENING(a_connection_is_attached_to_or_not, attach)
CHAPTER(enqueueing_without_memory_changes_nothing, "enqueue")
CHAPTER(a_key_without_memory_stays_free, "unique")
CHAPTER(a_job_is_claimed_and_settled_or_not, "work")
CHAPTER(a_wait_without_memory_can_be_made_again, "wait")
CHAPTER(a_turn_without_memory_changes_nothing, "turn")
CHAPTER(what_people_do_is_done_or_not, "change")
CHAPTER(settings_are_made_or_not, "settings")
CHAPTER(a_transaction_without_memory_vanishes, "transaction")
CHAPTER(looking_without_memory_fails_cleanly, "look")

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_new_database_is_opened_or_not),
		cmocka_unit_test(a_database_is_opened_or_not),
		cmocka_unit_test(a_connection_is_attached_to_or_not),
		cmocka_unit_test(enqueueing_without_memory_changes_nothing),
		cmocka_unit_test(a_key_without_memory_stays_free),
		cmocka_unit_test(a_job_is_claimed_and_settled_or_not),
		cmocka_unit_test(a_wait_without_memory_can_be_made_again),
		cmocka_unit_test(a_turn_without_memory_changes_nothing),
		cmocka_unit_test(what_people_do_is_done_or_not),
		cmocka_unit_test(settings_are_made_or_not),
		cmocka_unit_test(a_transaction_without_memory_vanishes),
		cmocka_unit_test(looking_without_memory_fails_cleanly),
		cmocka_unit_test(a_new_queue_is_found_once_there_is_memory),
	};
	int r;

	if (memory_use() < 0 || stories_start(argc, argv) < 0)
		return 99;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	stories_end();
	return r;
}
