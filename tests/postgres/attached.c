/*
 * attached.c - make all calls of the library on a caller's connection, once
 * outside of a transaction, and once inside a transaction that also installs
 * the schema. The test search_path.py runs this program.
 *
 *   attached URL SCHEMA
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <readpast.h>

static rp_conn *conn;
static rp_batch *batch;

/* Check that a call succeeded, and return its result. */
static int64_t
good(int64_t r)
{
	if (r >= 0)
		return r;
	fprintf(stderr, "attached: %s\n", rp_last_error(conn)->message);
	exit(1);
}

static int64_t
put(const char *unique_key, int64_t delay_ms, int replace)
{
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_added added;

	job.payload = "x";
	job.payload_size = 1;
	job.unique_key = unique_key;
	job.delay_ms = delay_ms;
	job.replace = replace;
	good(rp_enqueue(conn, "q", &job, &added));
	return added.id;
}

static const rp_job *
claim(void)
{
	rp_batch_free(batch);
	good(rp_claim(conn, "q", 1, NULL, &batch));
	if (rp_batch_count(batch) == 1)
		return rp_batch_at(batch, 0);
	fputs("attached: nothing to claim\n", stderr);
	exit(1);
}

static void
look(int64_t id)
{
	rp_batch *jobs;
	rp_stats *stats;
	rp_workers *workers;
	rp_queues *queues;
	rp_why *why;

	good(rp_job_get(conn, id, &jobs));
	rp_batch_free(jobs);
	good(rp_why_get(conn, id, &why));
	rp_why_free(why);
	for (int state = 0; state <= RP_STATE_BLOCKED; state++) {
		good(rp_job_list(conn, "q", state, 10, &jobs));
		rp_batch_free(jobs);
	}
	good(rp_stats_get(conn, NULL, &stats));
	rp_stats_free(stats);
	good(rp_worker_list(conn, &workers));
	rp_workers_free(workers);
	good(rp_queue_list(conn, NULL, &queues));
	rp_queues_free(queues);
}

static void
do_everything(void)
{
	rp_queue queue = RP_QUEUE_INIT;
	rp_job_spec jobs[] = { RP_JOB_SPEC_INIT, RP_JOB_SPEC_INIT };
	const rp_job *job;
	int64_t late;

	queue.name = "q";
	queue.backoff_ms = 0;
	queue.keep_done_ms = 1000;
	good(rp_queue_set(conn, &queue));
	put(NULL, 0, 0);
	put("k", 0, 0);
	put("k", 0, 1);
	late = put(NULL, 100000, 0);
	good(rp_enqueue_many(conn, "q", jobs, 2, NULL));
	job = claim();
	good(rp_extend(conn, job->id, job->claim_no, 1000));
	good(rp_complete(conn, job->id, job->claim_no));
	job = claim();
	good(rp_release(conn, job->id, job->claim_no, 0));
	job = claim();
	good(rp_fail(conn, job->id, job->claim_no, "no"));
	good(rp_sweep(conn, NULL));
	look(late);
	good(rp_job_cancel(conn, late, NULL));
	look(late);
	good(rp_job_retry(conn, late, NULL));
	good(rp_queue_retry_dead(conn, "q", NULL, NULL));
	good(rp_queue_pause(conn, "q", NULL));
	good(rp_queue_resume(conn, "q"));
	good(rp_queue_purge(conn, "q", 0, NULL));
	good(rp_queue_drop(conn, "q"));
}

static void
attach(PGconn *pg, const char *schema)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_error error;

	options.schema = RP_SCHEMA_INSTALL;
	options.schema_name = schema;
	if (rp_attach("postgres", pg, &options, &conn, &error) < 0) {
		fprintf(stderr, "attached: %s\n", error.message);
		exit(1);
	}
}

static void
execute(PGconn *pg, const char *sql)
{
	PGresult *res = PQexec(pg, sql);

	if (PQresultStatus(res) == PGRES_FATAL_ERROR) {
		fprintf(stderr, "attached: %s", PQerrorMessage(pg));
		exit(1);
	}
	PQclear(res);
}

static char *
path_of(PGconn *pg)
{
	PGresult *res = PQexec(pg, "show search_path");
	char *path = strdup(PQgetvalue(res, 0, 0));

	PQclear(res);
	return path;
}

int
main(int argc, char **argv)
{
	PGconn *pg = PQconnectdb(argc == 3 ? argv[1] : "");
	char *before, *after;

	execute(pg, "begin");
	before = path_of(pg);
	attach(pg, argv[2]);
	do_everything();
	after = path_of(pg);
	rp_batch_free(batch);
	batch = NULL;
	rp_close(conn);
	execute(pg, "commit");
	if (strcmp(before, after) != 0) {
		fprintf(stderr, "attached: the path became %s\n", after);
		return 1;
	}
	attach(pg, argv[2]);
	do_everything();
	rp_batch_free(batch);
	rp_close(conn);
	PQfinish(pg);
	free(before);
	free(after);
	return 0;
}
