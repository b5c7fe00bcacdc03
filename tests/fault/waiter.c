/*
 * waiter.c - test a registered waiter on a server: one allocation of the
 * library fails, or a notification arrives that is not for the waiter.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include "internal.h"
#include "memory.h"

#define WORKER_ID 7

static void
register_for(const struct db *db, rp_conn *conn, struct rp_waiter *waiter)
{
	int64_t registered = 0;
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "select count(*) from \"%s\".waiter where worker_id = %d",
		 db->schema, WORKER_ID);
	while (registered == 0) {
		assert_int_equal(ok(conn, rp__wait(conn, waiter, 0, 50, -1)),
				 0);
		registered = ask_sql(db->conn, sql);
	}
}

/* Register for the queues a and b. Then let an allocation fail while the worker
 * registers for a third queue, too. The notification about the next job must
 * arrive. Returns whether the allocation was made. */
static int
lack_memory_at(const struct db *db, size_t at)
{
	static const char *const two[] = { "a", "b", NULL };
	static const char *const three[] = { "a", "b", "c", NULL };
	struct rp_waiter waiter = { .worker_id = WORKER_ID, .queues = two };
	rp_conn *conn = connect_to(db);
	struct claim c;
	int r;

	register_for(db, conn, &waiter);
	waiter.queues = three;
	waiter.version++;
	memory_fail_at("registering", MEMORY_LIBRARY, at);
	memory_arm(1);
	r = rp__wait(conn, &waiter, 0, 1, -1);
	memory_arm(0);
	assert_int_equal(r, memory.fired ? RP_ENOMEM : 0);
	put(db->conn, "b", "x");
	assert_int_equal(ok(conn, rp__wait(conn, &waiter, 0, 20000, -1)), 1);
	take_one(conn, "b", 60000, &c);
	settle_one(conn, c, RP_DONE, -1);
	ok(conn, rp__wait_end(conn, two, 0));
	rp_close(conn);
	return memory.fired;
}

static void
a_registration_without_memory_can_be_made_again(void **state)
{
	const struct db *db = *state;
	size_t at = 1;

	ok(db->conn, rp__queue_create(db->conn, "a", NULL));
	ok(db->conn, rp__queue_create(db->conn, "b", NULL));
	ok(db->conn, rp__queue_create(db->conn, "c", NULL));
	while (lack_memory_at(db, at))
		at++;
	assert_true(at > 1);
}

static void
the_end_of_a_job_does_not_count_as_a_ready_job(void **state)
{
	static const char *const queues[] = { "a", NULL };
	const struct db *db = *state;
	struct rp_waiter waiter = { .worker_id = WORKER_ID, .queues = queues };
	rp_conn *conn = connect_to(db);
	int64_t id = put(db->conn, "other", "x");
	char sql[200];

	ok(db->conn, rp__queue_create(db->conn, "a", NULL));
	register_for(db, conn, &waiter);
	assert_int_equal(
		ok(conn, rp_job_wait(conn, &id, 1, RP_WAIT_ALL, 10, -1, NULL)),
		0);
	snprintf(sql, sizeof(sql), "notify \"%s.job.%d\"; select 0", db->schema,
		 (int)ask_sql(conn, "select pg_backend_pid()"));
	ask_sql(db->conn, sql);
	assert_int_equal(ok(conn, rp__wait(conn, &waiter, 0, 300, -1)), 0);
	rp_close(conn);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_registration_without_memory_can_be_made_again),
		CASE(the_end_of_a_job_does_not_count_as_a_ready_job),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("waiter", tests, NULL, NULL);
}
