/*
 * copy.c - test that after rp_copy() the target has everything that the source
 * had.
 *
 * The two arguments are the kinds of the source and of the target.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "kinds.h"
#include "pair.h"

static rp_error error;

static int
copy(struct pair *pair, int move, rp_copied *ret)
{
	rp_copy_options o = RP_COPY_INIT;

	o.move = move;
	return rp_copy(pair->from->conn, pair->to->conn, &o, ret, &error);
}

static void
expect_done(int r)
{
	if (r < 0)
		fail_msg("%s", error.message);
}

/* ---- complete copies ---- */

static void
a_copy_is_the_same_in_every_field(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;

	expect_done(copy(pair, 0, &copied));
	expect_copied(pair, 0);
	assert_int_equal(copied.queues, 3);
	assert_int_equal(copied.written, pair->jobs->count);
	assert_int_equal(copied.live + copied.kept, pair->jobs->count);
	assert_int_equal(copied.removed, 0);
	assert_int_equal(copied.shift, 0);
	assert_int_equal(copied.schedules, 2);
}

/* The caller may have been compiled with an older header, in which the struct
 * is shorter. */
static void
a_copy_writes_only_the_fields_that_the_struct_has(void **state)
{
	struct pair *pair = *state;
	rp_copied old = RP_COPIED_INIT;

	old.size = offsetof(rp_copied, schedules);
	old.schedules = 7;
	expect_done(copy(pair, 0, &old));
	assert_int_equal(old.size, offsetof(rp_copied, schedules));
	assert_int_equal(old.queues, 3);
	assert_int_equal(old.schedules, 7);
}

static void
a_copy_made_again_finds_nothing_to_do(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;

	expect_done(copy(pair, 0, NULL));
	expect_done(copy(pair, 0, &copied));
	expect_copied(pair, 0);
	assert_int_equal(copied.written, 0);
	assert_int_equal(copied.live + copied.kept, pair->jobs->count);
}

static void
a_copy_made_again_brings_what_is_new_and_takes_what_is_gone(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;

	expect_done(copy(pair, 0, NULL));
	put(pair->from->conn, "mail", "new");
	ok(pair->from->conn,
	   rp_queue_purge(pair->from->conn, "other", 0, NULL));
	free_jobs(pair->jobs);
	pair->jobs = jobs_of(pair->from->conn);
	expect_done(copy(pair, 0, &copied));
	expect_copied(pair, 0);
	assert_int_equal(copied.written, 1);
}

static void
a_move_leaves_no_job_in_the_source(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;

	expect_done(copy(pair, 1, &copied));
	expect_moved(pair, 0);
	assert_int_equal(copied.written, pair->jobs->count);
	assert_int_equal(copied.removed, pair->jobs->count);
	expect_done(copy(pair, 1, &copied));
	expect_moved(pair, 0);
	assert_int_equal(copied.written, 0);
	assert_int_equal(copied.removed, 0);
}

static void
jobs_of_a_group_keep_their_order(void **state)
{
	struct pair *pair = *state;
	int64_t ids[5];

	limit_groups(pair->from->conn, 1);
	for (int i = 0; i < 5; i++)
		ids[i] = put_in_group(pair->from->conn, "g", "x");
	expect_done(copy(pair, 0, NULL));
	ok(pair->to->conn, rp_queue_resume(pair->to->conn, "q"));
	ok(pair->to->conn, rp_sweep(pair->to->conn, NULL));
	expect_states(pair->to->conn, ids, "rbbbb");
	for (int i = 0; i < 5; i++) {
		struct claim c = claim_one(pair->to->conn, 60000);

		assert_int_equal(c.id, ids[i]);
		settle_one(pair->to->conn, c, RP_DONE, 0);
	}
}

/* The source has fired a schedule, but could not compute the next instant,
 * because it could not read the schedule's time zone. Only SQLite has this
 * case. */
static void
an_instant_that_has_fired_does_not_fire_again_after_a_move(void **state)
{
	struct pair *pair = *state;
	rp_swept swept = RP_SWEPT_INIT;
	rp_schedules *list;
	int64_t now;

	if (strcmp(pair->from->kind->scheme, "sqlite") != 0)
		return;
	assert_int_equal(run_sql(pair->from->conn,
				 "update readpast_schedule "
				 "set next_at = last_at, "
				 "retry_at = last_at + 60000, "
				 "overlap = 0 "
				 "where name = 'nightly'",
				 NULL),
			 0);
	expect_done(copy(pair, 1, NULL));
	ok(pair->to->conn, rp_sweep(pair->to->conn, &swept));
	assert_int_equal(swept.fired, 0);
	ok(pair->to->conn, rp_schedule_list(pair->to->conn, "nightly", &list));
	ok(pair->to->conn, rp_now(pair->to->conn, &now));
	assert_true(rp_schedules_at(list, 0)->next_at > now);
	rp_schedules_free(list);
}

static void
a_copy_is_made_a_move_later(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;

	expect_done(copy(pair, 0, NULL));
	expect_done(copy(pair, 1, &copied));
	expect_moved(pair, 0);
	assert_int_equal(copied.written, 0);
	assert_int_equal(copied.removed, pair->jobs->count);
}

static void
ids_that_the_target_has_given_are_not_given_again(void **state)
{
	struct pair *pair = *state;
	rp_copied copied = RP_COPIED_INIT;
	int64_t last = 0;

	for (int i = 0; i < 30; i++)
		last = put(pair->to->conn, "first", "x");
	ok(pair->to->conn, rp_queue_purge(pair->to->conn, "first", 0, NULL));
	ok(pair->to->conn, rp_queue_drop(pair->to->conn, "first"));
	expect_done(copy(pair, 0, &copied));
	assert_true(copied.shift >= last);
	expect_copied(pair, copied.shift);
	expect_done(copy(pair, 1, &copied));
	expect_moved(pair, copied.shift);
}

/* ---- running jobs ---- */

struct holder {
	rp_conn *conn;
	struct claim claim;
	int told;
};

static int
complete_it(const rp_copied *so_far, void *ctx)
{
	struct holder *holder = ctx;

	if (so_far->doing == RP_COPY_WAITING && so_far->running == 1 &&
	    holder->told++ == 0)
		ok(holder->conn, rp_complete(holder->conn, holder->claim.id,
					     holder->claim.no));
	return 0;
}

static void
a_copy_waits_for_running_jobs(void **state)
{
	struct pair *pair = *state;
	struct holder holder = { .conn = connect_to(pair->from) };
	rp_copy_options o = RP_COPY_INIT;

	assert_int_equal(take_one(holder.conn, "mail", 60000, &holder.claim),
			 1);
	o.progress = complete_it;
	o.progress_ctx = &holder;
	expect_done(
		rp_copy(pair->from->conn, pair->to->conn, &o, NULL, &error));
	assert_int_equal(holder.told, 1);
	assert_int_equal(state_of(pair->to->conn, holder.claim.id),
			 RP_STATE_DONE);
	rp_close(holder.conn);
}

static void
running_jobs_stay_if_that_is_wanted(void **state)
{
	struct pair *pair = *state;
	rp_copy_options o = RP_COPY_INIT;
	struct claim claim;
	rp_copied copied = RP_COPIED_INIT;

	assert_int_equal(take_one(pair->from->conn, "mail", 60000, &claim), 1);
	o.move = o.leave_running = 1;
	expect_done(
		rp_copy(pair->from->conn, pair->to->conn, &o, &copied, &error));
	assert_int_equal(copied.running, 1);
	assert_int_equal(state_of(pair->from->conn, claim.id),
			 RP_STATE_RUNNING);
	assert_int_equal(state_of(pair->to->conn, claim.id), 0);
}

/* ---- interrupted copies ---- */

static int
stop_at_once(const rp_copied *so_far, void *ctx)
{
	(void)so_far;
	++*(int *)ctx;
	return 1;
}

/* The interrupted copy has paused the queue in both databases. The queue stays
 * paused until the copy is run again. */
static void
a_copy_that_was_interrupted_goes_on(void **state)
{
	struct pair *pair = *state;
	rp_copy_options o = RP_COPY_INIT;
	int told = 0;

	o.progress = stop_at_once;
	o.progress_ctx = &told;
	assert_int_equal(
		rp_copy(pair->from->conn, pair->to->conn, &o, NULL, &error),
		RP_ECANCELLED);
	assert_int_equal(told, 1);
	assert_true(is_paused(pair->from->conn, "mail"));
	assert_true(is_paused(pair->to->conn, "mail"));
	expect_done(copy(pair, 0, NULL));
	expect_copied(pair, 0);
}

struct interruption {
	struct pair *pair;
	int has_trigger;
};

/* The progress function. When the move begins to remove rows from the source,
 * add a trigger to the source that refuses to delete schedules. The trigger
 * cannot be added earlier, because a move first tests whether it may delete
 * schedules. */
static int
keep_schedules(const rp_copied *so_far, void *ctx)
{
	struct interruption *i = ctx;
	struct pair *pair = i->pair;
	const char *sql = *pair->from->schema
				  ? "create function stay() returns trigger "
				    "language plpgsql as "
				    "'begin raise exception ''stay''; end'; "
				    "create trigger stay before delete on "
				    "schedule for each row "
				    "execute function stay()"
				  : "create trigger stay before delete on "
				    "readpast_schedule begin "
				    "select raise(abort, 'stay'); end";
	rp_conn *conn;

	if (so_far->doing != RP_COPY_REMOVING || i->has_trigger)
		return 0;
	conn = connect_to(pair->from);
	assert_int_equal(run_sql(conn, sql, NULL), 0);
	rp_close(conn);
	i->has_trigger = 1;
	return 0;
}

/* Interrupt a move after it has written the schedules to the target, and before
 * it deletes the schedules from the source. */
static void
interrupt_the_move_of_schedules(struct pair *pair)
{
	rp_conn *from = pair->from->conn;
	rp_copy_options o = RP_COPY_INIT;
	struct interruption i = { pair, 0 };

	o.move = 1;
	o.progress = keep_schedules;
	o.progress_ctx = &i;
	assert_int_equal(rp_copy(from, pair->to->conn, &o, NULL, &error),
			 RP_EDB);
	assert_int_equal(run_sql(from,
				 *pair->from->schema
					 ? "drop function stay() cascade"
					 : "drop trigger stay",
				 NULL),
			 0);
}

/* Interrupt a move when both databases have the schedules. Then, in one of the
 * databases, pause `nightly`, which was not paused before the move, and resume
 * `asleep`, which was paused before the move. The next run of the move must
 * keep both changes. */
static void
a_pause_and_a_resume_outlast_the_move(struct pair *pair, rp_conn *side)
{
	rp_schedules *list;

	interrupt_the_move_of_schedules(pair);
	ok(side, rp_schedule_pause(side, "nightly"));
	ok(side, rp_schedule_resume(side, "asleep"));
	expect_done(copy(pair, 1, NULL));
	ok(pair->from->conn, rp_schedule_list(pair->from->conn, NULL, &list));
	assert_int_equal(rp_schedules_count(list), 0);
	rp_schedules_free(list);
	ok(pair->to->conn, rp_schedule_list(pair->to->conn, NULL, &list));
	assert_int_equal(rp_schedules_count(list), 2);
	assert_string_equal(rp_schedules_at(list, 0)->name, "asleep");
	assert_int_equal(rp_schedules_at(list, 0)->paused_at, 0);
	assert_string_equal(rp_schedules_at(list, 1)->name, "nightly");
	assert_true(rp_schedules_at(list, 1)->paused_at > 0);
	rp_schedules_free(list);
}

static void
a_pause_in_the_source_of_an_interrupted_move_outlasts_it(void **state)
{
	struct pair *pair = *state;

	a_pause_and_a_resume_outlast_the_move(pair, pair->from->conn);
}

static void
a_pause_in_the_target_of_an_interrupted_move_outlasts_it(void **state)
{
	struct pair *pair = *state;

	a_pause_and_a_resume_outlast_the_move(pair, pair->to->conn);
}

static int
copy_as_well(const rp_copied *so_far, void *ctx)
{
	struct pair *pair = ctx;
	rp_conn *from, *to;

	if (so_far->doing != RP_COPY_COPYING || so_far->position)
		return 0;
	from = connect_to(pair->from);
	to = connect_to(pair->to);
	assert_int_equal(rp_copy(from, to, NULL, NULL, NULL), 0);
	rp_close(from);
	rp_close(to);
	return 0;
}

static void
another_run_of_the_copy_takes_over(void **state)
{
	struct pair *pair = *state;
	rp_copy_options o = RP_COPY_INIT;

	o.progress = copy_as_well;
	o.progress_ctx = pair;
	assert_int_equal(
		rp_copy(pair->from->conn, pair->to->conn, &o, NULL, &error),
		RP_ETAKEN);
	assert_string_equal(error.message,
			    "another run of this copy has taken over");
	expect_copied(pair, 0);
}

static void
a_key_that_was_taken_in_the_target_meanwhile_is_said(void **state)
{
	struct pair *pair = *state;
	rp_job_spec job = job_of("here and there");
	struct jobs *jobs;

	expect_done(copy(pair, 0, NULL));
	job.unique_key = "both";
	ok(pair->to->conn, rp_enqueue(pair->to->conn, "mail", &job, NULL));
	ok(pair->from->conn, rp_enqueue(pair->from->conn, "mail", &job, NULL));
	assert_int_equal(copy(pair, 0, NULL), RP_ETAKEN);
	assert_non_null(strstr(error.message, "has the unique key"));
	ok(pair->to->conn, rp_queue_purge(pair->to->conn, "mail", 0, NULL));
	expect_done(copy(pair, 0, NULL));
	jobs = jobs_of(pair->to->conn);
	assert_int_equal(jobs->count, pair->jobs->count + 1);
	free_jobs(jobs);
}

/* A copy reads 4,000 jobs at a time, and a move deletes them from the source in
 * a transaction. */
static void
P11_a_move_keeps_the_order_of_a_large_group(void **state)
{
	enum { JOBS = 4500 };
	static rp_job_spec jobs[JOBS];
	struct pair *pair = *state;
	rp_conn *to = pair->to->conn;
	rp_queue large = RP_QUEUE_INIT;
	rp_batch *batch = NULL;
	int64_t last = 0;

	large.name = "large";
	large.group_limit = 1;
	ok(pair->from->conn, rp_queue_set(pair->from->conn, &large));
	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job_of("x");
		jobs[i].group_key = "g";
	}
	ok(pair->from->conn,
	   rp_enqueue_many(pair->from->conn, "large", jobs, JOBS, NULL));
	expect_done(copy(pair, 1, NULL));
	ok(to, rp_queue_resume(to, "large"));
	ok(to, rp_sweep(to, NULL));
	/* A wrong order shows at once: the first job of each slice comes too
	 * early. */
	for (int i = 0; i < 20; i++) {
		const rp_job *job;

		/* The first claims may only take jobs out of the ready line. */
		for (int turn = 0; turn < 20; turn++) {
			batch = take(to, "large", 2, 60000);
			if (rp_batch_count(batch))
				break;
			rp_batch_free(batch);
			batch = NULL;
		}
		assert_non_null(batch);
		assert_int_equal(rp_batch_count(batch), 1);
		job = rp_batch_at(batch, 0);
		assert_true(i == 0 || job->id == last + 1);
		last = job->id;
		ok(to, rp_complete(to, job->id, job->claim_no));
		rp_batch_free(batch);
	}
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		PAIR(a_copy_is_the_same_in_every_field),
		PAIR(a_copy_writes_only_the_fields_that_the_struct_has),
		PAIR(a_copy_made_again_finds_nothing_to_do),
		PAIR(a_copy_made_again_brings_what_is_new_and_takes_what_is_gone),
		PAIR(a_move_leaves_no_job_in_the_source),
		PAIR(jobs_of_a_group_keep_their_order),
		PAIR(an_instant_that_has_fired_does_not_fire_again_after_a_move),
		PAIR(a_copy_is_made_a_move_later),
		PAIR(ids_that_the_target_has_given_are_not_given_again),
		PAIR(a_copy_waits_for_running_jobs),
		PAIR(running_jobs_stay_if_that_is_wanted),
		PAIR(a_copy_that_was_interrupted_goes_on),
		PAIR(a_pause_in_the_source_of_an_interrupted_move_outlasts_it),
		PAIR(a_pause_in_the_target_of_an_interrupted_move_outlasts_it),
		PAIR(another_run_of_the_copy_takes_over),
		PAIR(a_key_that_was_taken_in_the_target_meanwhile_is_said),
		PAIR(P11_a_move_keeps_the_order_of_a_large_group),
	};

	pairs_of(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
