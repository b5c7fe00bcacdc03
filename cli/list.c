/*
 * list.c - print jobs as a table or as JSON lines.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "list.h"

#define SHOWN 60 /* how many characters of a payload are printed */
#define DRY_RUN_ROWS 3

static void
print_head(int with_queue)
{
	printf("%10s ", "ID");
	if (with_queue)
		printf("%-20s ", "QUEUE");
	printf("%-9s %4s %8s  %s\n", "STATE", "PRIO", "ATTEMPT", "PAYLOAD");
}

static void
print_row(const rp_job *job, int with_queue)
{
	char attempt[48];

	snprintf(attempt, sizeof(attempt), "%lld/%lld", (long long)job->attempt,
		 (long long)job->max_attempts);
	printf("%10lld ", (long long)job->id);
	if (with_queue)
		printf("%-20s ", job->queue);
	printf("%-9s %4d %8s  ", rp_state_text(job->state), job->priority,
	       attempt);
	print_text(stdout, job->payload, job->payload_size, SHOWN);
	putchar('\n');
}

/* ---- jobs in a batch ---- */

/* Print one job of a list as JSON. If the list has only the beginning of the
 * payload, the job is read again. If the job no longer exists, nothing is
 * printed. */
static int
print_listed_json(struct cmd *cmd, const rp_job *job)
{
	rp_batch *whole;
	int r, status;

	if (job->payload_size == job->payload_total)
		return print_json(json_job(job));
	r = rp_job_get(cmd->conn, job->id, &whole);
	if (r == RP_ENOENT)
		return 0;
	if (r < 0)
		return cmd_failed(cmd, r);
	status = print_json(json_job(rp_batch_at(whole, 0)));
	rp_batch_free(whole);
	return status;
}

int
print_list(struct cmd *cmd, const rp_batch *batch, int json)
{
	int status = 0;

	if (!json && rp_batch_count(batch))
		print_head(0);
	for (size_t i = 0; i < rp_batch_count(batch) && !status; i++)
		if (json)
			status = print_listed_json(cmd, rp_batch_at(batch, i));
		else
			print_row(rp_batch_at(batch, i), 0);
	return status;
}

/* ---- jobs that a filter found ---- */

int
print_found(struct cmd *cmd, const struct found *found, size_t most,
	    int with_queue, int json)
{
	size_t printed = 0;
	int status = 0;

	for (size_t i = 0; i < found->count && printed < most && !status; i++) {
		rp_batch *batch;
		int r = rp_job_get(cmd->conn, found->ids[i], &batch);

		if (r == RP_ENOENT) /* the job was removed after the search */
			continue;
		if (r < 0)
			return cmd_failed(cmd, r);
		if (printed++ == 0 && !json)
			print_head(with_queue);
		if (json)
			status = print_json(json_job(rp_batch_at(batch, 0)));
		else
			print_row(rp_batch_at(batch, 0), with_queue);
		rp_batch_free(batch);
	}
	return status;
}

int
print_dry_run(struct cmd *cmd, const struct found *found, const char *done,
	      int json)
{
	int status = 0;

	if (json) {
		const struct member members[] = {
			{ "would_be", json_text(done) },
			{ "jobs", json_integer((json_int_t)found->count) },
		};

		status = print_json(JSON_MEMBERS(members));
	} else {
		printf("%zu job%s would be %s\n", found->count,
		       plural((int64_t)found->count), done);
	}
	return status ? status : print_found(cmd, found, DRY_RUN_ROWS, 1, json);
}
