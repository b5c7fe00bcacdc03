/*
 * queue.c - make and remove the queue of one run of `readpast stress`. No other
 * program uses this queue.
 *
 * The queue's name, stress-HOST-PID-RANDOM, says which process made the queue.
 * So the next run can find and remove queues that killed runs have left.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stress.h"

#define CANCEL_AT_A_TIME 1000

static void
host_name(char *to, size_t room)
{
	memset(to, 0, room);
	gethostname(to, room - 1);
}

int
scratch_make(struct stress *stress)
{
	rp_queue queue = RP_QUEUE_INIT;
	char host[65];
	int r;

	host_name(host, sizeof(host));
	snprintf(stress->queue, sizeof(stress->queue), "stress-%s-%ld-%08x",
		 host, (long)getpid(),
		 (unsigned)stress_random((uint64_t)monotonic_us(),
					 (uint64_t)getpid(), 0));
	queue.name = stress->queue;
	queue.lease_ms = stress->lease_ms;
	queue.max_attempts = 5;
	queue.backoff_ms = 100;
	queue.backoff_max_ms = 1000;
	queue.run_limit = stress->limit;
	queue.group_limit = stress->group_limit;
	queue.group_pass = stress->group_pass;
	if (stress->rate) {
		queue.rate_count = stress->rate;
		queue.rate_ms = stress->rate_ms;
	}
	if (stress->payload > 1024 * 1024)
		queue.max_payload = stress->payload;
	r = rp_queue_set(stress->cmd->conn, &queue);
	return r < 0 ? cmd_failed(stress->cmd, r) : 0;
}

/* Cancel the running jobs. The queue cannot be dropped while it has running
 * jobs. */
static int
cancel_running(rp_conn *conn, const char *queue)
{
	rp_batch *batch;
	int r = rp_job_list(conn, queue, RP_STATE_RUNNING, CANCEL_AT_A_TIME,
			    &batch);

	if (r < 0)
		return r;
	r = rp_begin(conn);
	for (size_t i = 0; i < rp_batch_count(batch) && r >= 0; i++) {
		r = rp_job_cancel(conn, rp_batch_at(batch, i)->id, NULL);
		if (r == RP_ENOENT || r == RP_EGONE)
			r = 0;
	}
	rp_batch_free(batch);
	return r < 0 ? r : rp_commit(conn);
}

int
scratch_remove(struct cmd *cmd, const char *queue)
{
	int64_t r;

	do {
		r = rp_queue_purge(cmd->conn, queue, 0, NULL);
		if (r >= 0)
			r = rp_queue_drop(cmd->conn, queue);
		if (r == RP_ETAKEN)
			r = cancel_running(cmd->conn, queue) < 0 ? RP_EDB : 1;
	} while (r > 0);
	if (r == 0 || r == RP_ENOENT)
		return 0;
	cmd_failed(cmd, (int)r);
	return complain(FAILED,
			"the queue %s was not removed; to remove it: readpast "
			"queue drop %s --yes",
			queue, queue);
}

/* Return whether a run of `readpast stress` made the queue of this name. Such a
 * name has the form stress-HOST-PID-RANDOM. If so, ret_host and *ret_pid become
 * the host and the process id in the name. */
static int
is_ours(const char *name, char *ret_host, size_t room, long *ret_pid)
{
	const char *random = strrchr(name, '-'), *pid = random;
	char *end;

	if (strncmp(name, "stress-", 7) != 0 || !random ||
	    strlen(random + 1) != 8 ||
	    strspn(random + 1, "0123456789abcdef") != 8)
		return 0;
	while (pid > name + 7 && *--pid != '-')
		;
	*ret_pid = strtol(pid + 1, &end, 10);
	if (*pid != '-' || end != random || *ret_pid < 1)
		return 0;
	snprintf(ret_host, room, "%.*s", (int)(pid - name - 7), name + 7);
	return 1;
}

static int
sweep_one(struct cmd *cmd, const char *name)
{
	char here[65], host[129], word[SHELL_WORD(RP_MOST_NAME)];
	long pid;

	if (!is_ours(name, host, sizeof(host), &pid))
		return 0;
	host_name(here, sizeof(here));
	if (strcmp(host, here) != 0) {
		complain(0,
			 "queue %s belongs to a run on host %s; if that run is "
			 "over: readpast queue drop %s --yes",
			 name, host, shell_word(word, sizeof(word), name));
		return 0;
	}
	if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return 0;
	complain(0, "removed queue %s, left by a run that was killed", name);
	return scratch_remove(cmd, name);
}

int
scratch_sweep(struct cmd *cmd)
{
	rp_queues *queues;
	int status = 0;
	int r = rp_queue_list(cmd->conn, NULL, &queues);

	if (r < 0)
		return cmd_failed(cmd, r);
	for (size_t i = 0; i < rp_queues_count(queues) && !status; i++)
		status = sweep_one(cmd, rp_queues_at(queues, i)->name);
	rp_queues_free(queues);
	return status;
}
