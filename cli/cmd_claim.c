/*
 * cmd_claim.c - the command `claim`: claim jobs and print them as JSON lines.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>

#include "history.h"
#include "internal.h"

/* Release the claimed jobs. Call this if they could not be printed, because
 * then the user does not know the claims ID:CLAIMNO, which are needed to settle
 * the jobs. */
static int
give_back(struct cmd *cmd, const rp_batch *batch)
{
	size_t n = rp_batch_count(batch);
	rp_verdict *v = calloc(n, sizeof(*v));
	int64_t asked = monotonic_us();
	int r = v ? 0 : RP_ENOMEM;

	for (size_t i = 0; i < n && v; i++) {
		const rp_job *job = rp_batch_at(batch, i);

		v[i] = rp__verdict(job->id, job->claim_no, RP_RELEASE);
		history_settling(cmd->history, v[i].id, v[i].claim_no,
				 RP_RELEASE, -1);
	}
	if (v)
		r = rp_settle(cmd->conn, v, n);
	for (size_t i = 0; i < n && r >= 0; i++)
		history_settled(cmd->history, v[i].id, v[i].claim_no,
				RP_RELEASE, -1, v[i].result, v[i].state, asked);
	free(v);
	cmd->output_reported = 1;
	return complain(FAILED, "cannot write to standard output: the jobs %s",
			r < 0 ? "stay claimed until their lease is over"
			      : "were released");
}

static int
print_batch(struct cmd *cmd, const rp_batch *batch, int64_t asked)
{
	int failed = 0;

	for (size_t i = 0; i < rp_batch_count(batch); i++) {
		history_claimed(cmd->history, rp_batch_at(batch, i), asked);
		failed |= print_json(json_job(rp_batch_at(batch, i)));
	}
	failed |= fflush(stdout) == EOF || ferror(stdout);
	return failed && rp_batch_count(batch) ? give_back(cmd, batch) : DONE;
}

/* Claim jobs. If no job is ready, wait and try again. The loop is needed
 * because another worker may take the job that ended the wait. A partial claim
 * did not look at all ready jobs, so the next claim goes on after a pause, in
 * which other connections can write. */
static int
claim(struct cmd *cmd, const char *queue, size_t n,
      const rp_claim_options *options, int64_t wait_ms)
{
	const char *const queues[] = { queue, NULL };
	int64_t end = monotonic_us() / 1000 + wait_ms;

	for (;;) {
		int64_t asked = monotonic_us();
		rp_batch *batch;
		int status, is_partial, r = rp_sweep(cmd->conn, NULL);

		if (r >= 0)
			r = rp_claim(cmd->conn, queue, n, options, &batch);
		if (r < 0)
			return cmd_failed(cmd, r);
		status = print_batch(cmd, batch, asked);
		is_partial = rp_batch_is_partial(batch);
		rp_batch_free(batch);
		if (r > 0)
			return status;
		if (is_partial) {
			rp__nap_us(RP_PARTIAL_PAUSE_US);
			continue;
		}
		wait_ms = end - monotonic_us() / 1000;
		if (wait_ms <= 0)
			return NOTHING;
		r = rp_wait(cmd->conn, queues, wait_ms, -1);
		if (r < 0)
			return cmd_failed(cmd, r);
	}
}

int
cmd_claim(struct cmd *cmd, int argc, char **argv)
{
	rp_claim_options claim_options = RP_CLAIM_INIT;
	int64_t n = 1, wait_ms = 0, lease_ms = -1;
	int json;
	const struct option options[] = {
		{ "-n", COUNT, &n, "N", "at most this many jobs (1)" },
		{ "--lease", DURATION, &lease_ms, "D",
		  "length of the lease (default: the queue's)" },
		{ "--wait", DURATION, &wait_ms, "D",
		  "wait this long for the first job" },
		{ "--json", FLAG, &json, NULL,
		  "print JSON lines (the default)" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc != 1)
		return usage(cmd,
			     argc ? "expected only one queue" : "which queue?");
	status = check_new_queue(cmd, argv[0]);
	if (status)
		return status;
	if (n < 1 || n > RP_MOST_CLAIMED)
		return usage(cmd, "-n %lld: expected 1 to %d", (long long)n,
			     RP_MOST_CLAIMED);
	if (lease_ms == 0)
		return usage(cmd, "--lease: expected at least 1ms");
	claim_options.lease_ms = lease_ms < 0 ? 0 : lease_ms;
	status = cmd_open(cmd);
	if (status)
		return status;
	/* With --wait, a queue that does not exist is created, and the command
	 * waits for its first job. */
	status = find_queue(cmd, argv[0], wait_ms > 0);
	if (status)
		return status;
	return claim(cmd, argv[0], (size_t)n, &claim_options, wait_ms);
}
