/*
 * readpast_ext.c - the list of SQL functions of the loadable SQLite extension.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * The host is the program that loads the extension. The library is compiled
 * once more for the extension, so that it calls the host's copy of SQLite. Two
 * copies of SQLite in one process would break each other's locks on a file.
 */
#ifdef RP_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT1
#endif

#include <unistd.h>

#include "ext.h"

#define ANSWER(name) ext_do_##name, NULL, NULL
#define TABLE(name, columns) NULL, columns, ext_##name##_rows
#define BOTH(name, columns) ext_do_##name, columns, ext_##name##_rows

/* The names of the fields as a list, for example "id, queue, state". */
#define COMMA_AND_NAME(field, FIELD, type) ", " #field
#define LISTED(FIELDS) &(FIELDS(COMMA_AND_NAME))[2]

/* The functions. Each has the arguments of PostgreSQL's routine of the same
 * name, in the same order. Only `claim` has an argument that the routine does
 * not have: `holding`, which therefore comes last. */
const struct ext_function ext_functions[] = {
	/* clang-format off */
	{ "enqueue", 2,
	  { P_QUEUE, P_PAYLOAD, P_PRIORITY, P_DELAY, P_RUN_AT, P_MAX_ATTEMPTS,
	    P_KIND, P_HEADERS, P_UNIQUE_KEY, P_REPLACE, P_KEEP, P_JOB_TIMEOUT,
	    P_EXPIRE, P_BACKOFF_LIST, P_UNIQUE_FOR, P_GROUP_KEY },
	  BOTH(enqueue, "id, outcome"), 0 },
	{ "enqueue_many", 2,
	  { P_QUEUE, P_PAYLOADS, P_PRIORITY, P_DELAYS, P_MAX_ATTEMPTS, P_KINDS,
	    P_HEADERS_OF_EACH, P_KEEP, P_JOB_TIMEOUT, P_EXPIRE,
	    P_BACKOFF_LIST, P_GROUP_KEY },
	  TABLE(enqueue_many, "id"), 0 },
	{ "claim", 1,
	  { P_QUEUE, P_N, P_LEASE, P_WORKER, P_WORKER_ID, P_HOLDING },
	  TABLE(claim, LISTED(EXT_CLAIM_FIELDS)), 0 },
	{ "complete", 2, { P_ID, P_CLAIM_NO, P_RESULT }, ANSWER(complete), 0 },
	{ "complete", 2, { P_IDS, P_CLAIM_NOS, P_RESULTS },
	  TABLE(complete, "id, accepted"), 0 },
	{ "fail", 2,
	  { P_ID, P_CLAIM_NO, P_ERROR, P_DELAY, P_FOR_GOOD, P_HOLD, P_HOLD_FOR },
	  ANSWER(fail), 0 },
	{ "release", 2, { P_ID, P_CLAIM_NO, P_DELAY, P_HOLD, P_HOLD_FOR },
	  ANSWER(release), 0 },
	{ "extend", 2, { P_ID, P_CLAIM_NO, P_LEASE, P_PROGRESS },
	  ANSWER(extend), 0 },
	{ "sweep", 0, { NO_PARAM },
	  BOTH(sweep, "due, recovered, dead, dropped, expired, fired"), 0 },
	{ "queue_create", 1, { P_QUEUE }, ANSWER(queue_create), 0 },
	{ "queue_set", 1,
	  { P_QUEUE, P_MAX_ATTEMPTS, P_LEASE, P_BACKOFF, P_BACKOFF_MAX,
	    P_PRIORITY, P_KEEP_DONE, P_KEEP_DEAD, P_MAX_PAYLOAD,
	    P_QUEUE_TIMEOUT, P_DEAD_TO, P_RUN_LIMIT, P_GROUP_LIMIT,
	    P_GROUP_ON_FAILURE, P_RATE, P_PER },
	  ANSWER(queue_set), 0 },
	{ "queue_list", 0, { P_QUEUE },
	  TABLE(queue_list, "name, paused_at, pause_reason, max_attempts,"
			    " lease_ms, backoff_ms, backoff_max_ms, priority,"
			    " keep_done_ms, keep_dead_ms, max_payload,"
			    " timeout_ms, dead_to, run_limit, group_limit,"
			    " group_on_failure, rate, per, held_until"), 0 },
	{ "pause", 1, { P_QUEUE, P_REASON }, ANSWER(pause), 0 },
	{ "resume", 1, { P_QUEUE }, ANSWER(resume), 0 },
	{ "hold", 2, { P_QUEUE, P_DURATION, P_GROUP_KEY }, ANSWER(hold), 0 },
	{ "clear_hold", 1, { P_QUEUE, P_GROUP_KEY }, ANSWER(clear_hold), 0 },
	{ "groups", 1, { P_QUEUE, P_BLOCKED, P_AFTER, P_MOST },
	  TABLE(groups, "name, waiting, ready, running, held_until,"
			" waiting_at_least"), 0 },
	{ "drop_queue", 1, { P_QUEUE }, ANSWER(drop_queue), 0 },
	{ "cancel", 1, { P_ID, P_KIND }, ANSWER(cancel), 0 },
	{ "retry", 1, { P_ID, P_KIND }, ANSWER(retry), 0 },
	{ "change", 1,
	  { P_ID, P_PRIORITY, P_DELAY, P_RUN_AT, P_NEW_QUEUE,
	    P_MAX_ATTEMPTS, P_KIND },
	  ANSWER(change), 0 },
	{ "retry_dead", 1, { P_QUEUE, P_KIND }, ANSWER(retry_dead), 0 },
	{ "purge", 2, { P_QUEUE, P_STATE, P_KIND }, ANSWER(purge), 0 },
	{ "get", 1, { P_JOB_ID },
	  TABLE(get, LISTED(RP_JOB_FIELDS)), 0 },
	{ "list", 1, { P_QUEUE, P_STATE, P_N },
	  TABLE(list, LISTED(RP_JOB_FIELDS)), 0 },
	{ "stats", 0, { P_QUEUE },
	  TABLE(stats, "name, paused, pause_reason, scheduled, ready, running,"
		       " done, dead, cancelled, oldest_ready_ms,"
		       " longest_running_ms, workers, done_recently,"
		       " failed_recently, scheduled_at_least, ready_at_least,"
		       " running_at_least, blocked, blocked_at_least,"
		       " held_until, done_total, failed_total,"
		       " dead_total"), 0 },
	{ "why", 1, { P_JOB_ID },
	  TABLE(why, "now, paused_at, pause_reason, ahead, suspect, workers,"
		     " queue_workers, worker_id, host, pid, silent_ms,"
		     " renewed, run_limit, running, held_until,"
		     " group_held_until, group_limit, group_busy, group_ahead,"
		     " group_waiting, group_next, rate_count, rate_ms,"
		     " rate_in_ms"), 0 },
	{ "probe", 1, { P_QUEUE },
	  TABLE(probe, "ready, running, due_in_ms, expires_in_ms, paused,"
		      " suspects, behind, blocked"), 0 },
	{ "schedule_set", 4,
	  { P_SCHEDULE, P_QUEUE, P_SPEC, P_PAYLOAD, P_ZONE, P_KIND, P_HEADERS,
	    P_PRIORITY, P_MISSED, P_OVERLAP, P_REPLACE },
	  ANSWER(schedule_set), 0 },
	{ "schedule_pause", 1, { P_SCHEDULE }, ANSWER(schedule_pause), 0 },
	{ "schedule_resume", 1, { P_SCHEDULE }, ANSWER(schedule_resume), 0 },
	{ "schedule_run", 1, { P_SCHEDULE }, ANSWER(schedule_run), 0 },
	{ "schedule_remove", 1, { P_SCHEDULE }, ANSWER(schedule_remove), 0 },
	{ "schedules", 0, { P_SCHEDULE },
	  TABLE(schedules, "name, queue, spec, zone, payload, kind, headers,"
			   " priority, missed, overlap, next_at, last_at,"
			   " last_job_id, last_state, last_error, paused_at,"
			   " created_at"), 0 },
	{ "wait", 1, { P_WAITED, P_TIMEOUT }, ANSWER(wait), 1 },
	{ "worker_start", 2, { P_WORKER, P_QUEUES }, ANSWER(worker_start), 1 },
	{ "worker_beat", 0, { NO_PARAM }, ANSWER(worker_beat), 1 },
	{ "worker_stop", 0, { NO_PARAM }, ANSWER(worker_stop), 1 },
	{ "worker_list", 0, { NO_PARAM },
	  TABLE(worker_list, "id, name, host, pid, queues, started_at, seen_at,"
			     " silent_ms, running, done, failed, dead,"
			     " released, running_at_least"), 0 },
	{ "functions", 0, { NO_PARAM },
	  TABLE(functions, "name, arguments, columns"), 0 },
	{ NULL, 0, { NO_PARAM }, NULL, NULL, NULL, 0 },
	/* clang-format on */
};

/* ---- functions that return one value ---- */

struct binding {
	struct ext *ext;
	const struct ext_function *function;
};

static void
answer(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct binding *binding = sqlite3_user_data(context);
	sqlite3_value *arguments[EXT_MOST_ARGUMENTS + 1] = { NULL };
	struct rp_value value = { .type = RP_NULL };
	struct ext_call call;
	int r;

	for (int i = 0; i < argc; i++)
		arguments[i] = argv[i];
	r = ext_begin(&call, binding->ext, binding->function, arguments);
	if (r == 0)
		r = binding->function->answer(&call, &value);
	if (r < 0)
		ext_result_error(context, ext_error(&call));
	else
		ext_result(context, &value);
	ext_end(&call);
}

static void
release_binding(void *p)
{
	struct binding *binding = p;

	ext_release(binding->ext);
	sqlite3_free(binding);
}

static int
make_function(sqlite3 *db, struct ext *ext, const struct ext_function *function,
	      int arguments)
{
	struct binding *binding = sqlite3_malloc(sizeof(*binding));
	char *name = sqlite3_mprintf("readpast_%s", function->name);
	int rc = SQLITE_NOMEM;

	if (binding && name) {
		*binding = (struct binding){ ext, function };
		ext->uses++; /* release_binding() undoes this. SQLite calls
			      * release_binding() even if the next call fails */
		rc = sqlite3_create_function_v2(
			db, name, arguments, SQLITE_UTF8 | SQLITE_DIRECTONLY,
			binding, answer, NULL, NULL, release_binding);
	} else {
		sqlite3_free(binding);
	}
	sqlite3_free(name);
	return rc;
}

static int
make_functions(sqlite3 *db, struct ext *ext)
{
	int rc = SQLITE_OK;

	for (const struct ext_function *f = ext_functions; f->name; f++) {
		for (int n = f->least;
		     f->answer && n <= ext_arguments(f) && rc == SQLITE_OK; n++)
			rc = make_function(db, ext, f, n);
		if (f->fetch && rc == SQLITE_OK)
			rc = ext_table_module(db, ext, f);
	}
	return rc;
}

#ifdef RP_EXTENSION
__attribute__((visibility("default")))
#endif
int
sqlite3_readpast_init(sqlite3 *db, char **reterr,
		      const sqlite3_api_routines *api);

int
sqlite3_readpast_init(sqlite3 *db, char **reterr,
		      const sqlite3_api_routines *api)
{
	struct ext *ext;
	int rc;

	SQLITE_EXTENSION_INIT2(api);
	if (sqlite3_libversion_number() < 3038000) {
		*reterr = sqlite3_mprintf("readpast needs SQLite 3.38 or "
					  "newer; this one is %s",
					  sqlite3_libversion());
		return SQLITE_ERROR;
	}
	ext = sqlite3_malloc(sizeof(*ext));
	if (!ext)
		return SQLITE_NOMEM;
	*ext = (struct ext){ .db = db, .uses = 1, .pid = getpid() };
	rc = make_functions(db, ext);
	ext_release(ext);
	return rc;
}
