/*
 * copy.c - test rp_copy() while one call to a database, or one allocation,
 * fails.
 *
 * Each call fails in each possible way. The copy must not crash or leak memory.
 * If it fails before it has begun to copy, the source is unchanged. A second
 * run completes the copy, with each job once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pair.h"

#include "flaky.h"
#include "memory.h"

/* One run of the copy. It begins with the saved state of both databases. */
struct attempt {
	struct pair *pair;
	int move;
	int begun;    /* not 0: the copy has reported progress */
	int failures; /* number of failures in all runs */
};

static int
note_begun(const rp_copied *so_far, void *ctx)
{
	struct attempt *a = ctx;

	(void)so_far;
	a->begun = 1;
	return 0;
}

static int
copy(struct attempt *a, rp_copied *ret, rp_error *reterr)
{
	rp_copy_options o = RP_COPY_INIT;

	o.move = a->move;
	o.progress = note_begun;
	o.progress_ctx = a;
	return rp_copy(a->pair->from->conn, a->pair->to->conn, &o, ret, reterr);
}

static void
expect_complete(struct attempt *a)
{
	rp_copied copied = RP_COPIED_INIT;
	rp_error error;

	if (copy(a, &copied, &error) < 0)
		fail_msg("made again: %s", error.message);
	if (a->move)
		expect_moved(a->pair, copied.shift);
	else
		expect_copied(a->pair, copied.shift);
}

/* Check the error of a failed copy, and that a second run completes the copy.
 * `unsure` is not 0 if the failed copy may have changed the source. */
static void
check(struct attempt *a, int r, const rp_error *error, int unsure)
{
	assert_int_equal(a->pair->from->conn->depth, 0);
	assert_int_equal(a->pair->to->conn->depth, 0);
	if (r < 0) {
		a->failures++;
		assert_int_equal(error->code, r);
		assert_true(*error->message);
		if (getenv("FAULT_VERBOSE"))
			print_message("# %s: %s\n",
				      a->begun ? "begun" : "refused",
				      error->message);
		if (!a->begun && !unsure)
			expect_source_untouched(a->pair);
	}
	expect_complete(a);
}

/* ---- each call ---- */

static int
copy_with_call(struct attempt *a, rp_conn *conn, size_t call,
	       enum flaky_mode mode)
{
	struct flaky flaky;
	rp_error error;
	int r;

	if (getenv("FAULT_VERBOSE"))
		print_message("# %s: call %zu, mode %d\n",
			      conn == a->pair->from->conn ? "source" : "target",
			      call, mode);
	restore_pair(a->pair);
	a->begun = 0;
	flaky_on(&flaky, conn, call, mode);
	r = copy(a, NULL, &error);
	flaky_off(&flaky, conn);
	assert_int_equal(flaky.depth, 0);
	assert_int_equal(flaky.real_depth, 0);
	check(a, r, &error, conn == a->pair->from->conn && r == RP_ELOST);
	return flaky.fired;
}

/* Run the copy or move many times. In each run one call fails, in one of the
 * modes of enum flaky_mode. With FAULT_ALL in the environment, each call fails
 * once in each mode. Without it, each call fails in only one mode, to save
 * time: the modes take turns, and a move begins with another mode than a copy.
 */
static void
fail_each_call(struct attempt *a, rp_conn *conn)
{
	size_t by = getenv("FAULT_ALL") ? 1 : FLAKY_MODES;

	for (int mode = 0; mode < FLAKY_MODES; mode++) {
		size_t call = 1 + (size_t)(mode + a->move) % by;

		while (copy_with_call(a, conn, call, (enum flaky_mode)mode))
			call += by;
		assert_true(call > 20);
	}
}

static void
fail_each_call_of_both(struct pair *pair, int move)
{
	struct attempt a = { .pair = pair, .move = move };

	save_pair(pair);
	fail_each_call(&a, pair->from->conn);
	fail_each_call(&a, pair->to->conn);
	assert_true(a.failures > 100);
}

static void
a_copy_goes_on_whichever_call_has_failed(void **state)
{
	fail_each_call_of_both(*state, 0);
}

static void
a_move_goes_on_whichever_call_has_failed(void **state)
{
	fail_each_call_of_both(*state, 1);
}

/* ---- each allocation ---- */

static int
copy_with_allocation(struct attempt *a, enum memory_kind kind, size_t at)
{
	rp_error error;
	int r;

	restore_pair(a->pair);
	a->begun = 0;
	memory_fail_at("copy", kind, at);
	memory_arm(1);
	r = copy(a, NULL, &error);
	memory_arm(0);
	if (r < 0) {
		assert_true(memory.fired);
		/* After some failed allocations SQLite reports only that it has
		 * rolled back the transaction. */
		if (r != RP_ENOMEM && (r != RP_EDB || kind != MEMORY_SQLITE))
			fail_msg("%d: %s", r, error.message);
	}
	check(a, r, &error, 0);
	return memory.fired;
}

static void
fail_each_allocation(struct pair *pair, int move)
{
	struct attempt a = { .pair = pair, .move = move };

	save_pair(pair);
	for (int kind = 0; kind < MEMORY_KINDS; kind++) {
		size_t by, at = 1;

		copy_with_allocation(&a, (enum memory_kind)kind, 0);
		by = memory_step((enum memory_kind)kind, memory.made[kind]);
		while (copy_with_allocation(&a, (enum memory_kind)kind, at))
			at += by;
	}
	assert_true(a.failures > 50);
}

static void
a_copy_goes_on_whichever_allocation_has_failed(void **state)
{
	fail_each_allocation(*state, 0);
}

static void
a_move_goes_on_whichever_allocation_has_failed(void **state)
{
	fail_each_allocation(*state, 1);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PAIR(a_copy_goes_on_whichever_call_has_failed),
		PAIR(a_move_goes_on_whichever_call_has_failed),
		PAIR(a_copy_goes_on_whichever_allocation_has_failed),
		PAIR(a_move_goes_on_whichever_allocation_has_failed),
	};

	if (memory_use() < 0)
		return 99;
	pairs_of(argc, argv);
	/* PostgreSQL reads all its time zones when the first schedule of a zone
	 * other than UTC comes. In each of the many copies this would take
	 * longer than all the rest. */
	schedules_in("UTC");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
