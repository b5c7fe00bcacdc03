/*
 * lost.c - test a client while one call to the database fails. Each call fails
 * once in each possible way.
 *
 * A chapter is a sequence of calls of a client. It is run many times: first its
 * first call fails, in the next run its second call, and so on to its last
 * call. This is repeated for each way to fail. Every acknowledged change must
 * be kept. A job may be enqueued twice only if an outcome was unknown. Each
 * change must be complete or absent.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "story.h"

#include "flaky.h"

static const char *const modes[FLAKY_MODES] = { "before", "half", "after",
						"lost" };

/* Run a chapter, in which the call with the number `call` fails. Returns
 * whether the chapter made that many calls. */
static int
play(const struct chapter *chapter, size_t call, enum flaky_mode mode)
{
	struct story *story = story_open(chapter);
	struct flaky flaky;

	if (getenv("FAULT_VERBOSE"))
		print_message("# %s: call %zu %s\n", chapter->name, call,
			      modes[mode]);
	flaky_on(&flaky, story->conn, call, mode);
	chapter->play(story);
	flaky_off(&flaky, story->conn);
	if (story->failures > flaky.fired || flaky.depth || flaky.real_depth)
		fail_msg("%d failures seen, %d made, depth %d", story->failures,
			 flaky.fired, flaky.depth);
	story_close(story, chapter);
	return flaky.fired;
}

static void
play_all(const char *name)
{
	const struct chapter *chapter = chapter_named(name);

	for (int mode = 0; mode < FLAKY_MODES; mode++) {
		size_t call = 1;

		while (play(chapter, call, (enum flaky_mode)mode))
			call++;
		assert_true(call > 4);
	}
}

#define CHAPTER(function, name)                                                \
	static void function(void **state)                                     \
	{                                                                      \
		(void)state;                                                   \
		play_all(name);                                                \
	}

CHAPTER(jobs_are_in_once_or_twice_if_in_doubt_and_never_by_halves, "enqueue")
CHAPTER(a_job_with_a_key_is_in_once_even_if_in_doubt, "unique")
CHAPTER(a_claimed_job_is_held_once_and_settled_once, "work")
CHAPTER(a_wait_that_failed_can_be_made_again, "wait")
CHAPTER(a_turn_settles_and_claims_or_does_neither, "turn")
CHAPTER(what_people_do_to_jobs_is_done_once, "change")
CHAPTER(a_queue_is_set_or_not, "settings")
CHAPTER(a_transaction_is_done_or_vanishes, "transaction")
CHAPTER(looking_at_jobs_fails_cleanly, "look")

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			jobs_are_in_once_or_twice_if_in_doubt_and_never_by_halves),
		cmocka_unit_test(a_job_with_a_key_is_in_once_even_if_in_doubt),
		cmocka_unit_test(a_claimed_job_is_held_once_and_settled_once),
		cmocka_unit_test(a_wait_that_failed_can_be_made_again),
		cmocka_unit_test(a_turn_settles_and_claims_or_does_neither),
		cmocka_unit_test(what_people_do_to_jobs_is_done_once),
		cmocka_unit_test(a_queue_is_set_or_not),
		cmocka_unit_test(a_transaction_is_done_or_vanishes),
		cmocka_unit_test(looking_at_jobs_fails_cleanly),
	};
	int r;

	if (stories_start(argc, argv) < 0)
		return 99;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	stories_end();
	return r;
}
