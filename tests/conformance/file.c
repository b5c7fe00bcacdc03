/*
 * file.c - the database file is deleted, replaced, damaged or protected while
 * it is open. SQLite.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <sys/stat.h>
#include <unistd.h>

/* What a handler does to the file under its own worker. */
struct harm {
	struct db *db;
	void (*do_it)(const struct db *db);
	rp_worker *worker;
	int calls;
};

static int
do_harm(rp_task *task, const rp_job *job, void *ctx)
{
	struct harm *harm = ctx;

	(void)task;
	(void)job;
	if (harm->calls++ == 0)
		harm->do_it(harm->db);
	return RP_DONE;
}

static int
work_and(struct db *db, void (*do_it)(const struct db *), rp_error *reterr)
{
	struct harm harm = { .db = db, .do_it = do_it };
	rp_worker_options options = RP_WORKER_INIT;
	int r;

	options.drain = 1;
	assert_int_equal(rp_worker_new(db->url, &options, &harm.worker, NULL),
			 0);
	assert_int_equal(
		rp_worker_handle(harm.worker, "q", NULL, do_harm, &harm), 0);
	r = rp_worker_run(harm.worker, reterr);
	rp_worker_free(harm.worker);
	return r;
}

static void
delete_it(const struct db *db)
{
	unlink(db->path);
}

/* With what belongs to it, as whoever moves a SQLite file has to. */
static void
move(const struct db *db, const char *from, const char *to)
{
	char command[900];

	snprintf(command, sizeof(command),
		 "mkdir -p '%s/away'; cd '%s/%s' && mv test.db* '%s/%s/'",
		 db->dir, db->dir, from, db->dir, to);
	if (system(command) != 0)
		print_error("%s: failed\n", command);
}

static void
move_it_away(const struct db *db)
{
	move(db, ".", "away");
}

static void
a_worker_ends_when_its_file_is_deleted(void **state)
{
	struct db *db = *state;
	rp_new job = job_of("x");
	rp_error error;

	put(db->conn, "q", "x");
	assert_int_equal(work_and(db, delete_it, &error), RP_ENODB);
	assert_non_null(strstr(error.message, "deleted or replaced"));
	assert_int_equal(rp_enqueue(db->conn, "q", &job, NULL), RP_ENODB);
}

static void
what_was_moved_away_is_whole_and_its_successor_is_left_alone(void **state)
{
	struct db *db = *state;
	rp_error error;
	rp_conn *other;

	for (int i = 0; i < 5; i++)
		put(db->conn, "q", "x");
	assert_int_equal(work_and(db, move_it_away, &error), RP_ENODB);
	rp_close(db->conn);
	other = connect_to(db); /* a new one, in its place */
	put(other, "q", "new");
	assert_int_equal(stats_of(other, "q").ready, 1);
	rp_close(other);
	move(db, "away", ".");
	db->conn = connect_to(db);
	assert_int_equal(stats_of(db->conn, "q").ready +
				 stats_of(db->conn, "q").running,
			 5);
}

static void
overwrite_it(const struct db *db)
{
	FILE *file = fopen(db->path, "r+");

	for (int i = 0; i < 60000; i++)
		fputs("not a page ", file);
	fclose(file);
}

static void
a_damaged_file_is_an_error_and_not_a_loop(void **state)
{
	struct db *db = *state;
	rp_error error;
	rp_conn *conn;

	for (int i = 0; i < 2000; i++)
		put(db->conn, "q", "x");
	rp_close(db->conn); /* all of it is in the file now */
	db->conn = NULL;
	overwrite_it(db);
	assert_int_equal(rp_open(db->url, NULL, &conn, &error), RP_EDAMAGED);
	assert_non_null(strstr(error.message, db->path));
	assert_int_equal(work_and(db, overwrite_it, &error), RP_EDAMAGED);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		CASE(a_worker_ends_when_its_file_is_deleted),
		CASE(what_was_moved_away_is_whole_and_its_successor_is_left_alone),
		CASE(a_damaged_file_is_an_error_and_not_a_loop),
	};

	databases_at(argc, argv);
	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
