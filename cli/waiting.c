/*
 * waiting.c - wait for jobs to end, and print how they ended. The command
 * `wait` and the option --wait of `enqueue` use this.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "waiting.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Return the worse of two exit statuses. The table begins with the worst: an
 * error, wrong usage, an id that no job ever had, a wait that timed out, a dead
 * job, a cancelled job. */
static int
worse(int a, int b)
{
	static const int order[] = { FAILED,    USAGE, NOTHING,
				     TIMED_OUT, DIED,  CANCELLED };

	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return DONE;
}

/* ---- messages about a job ---- */

static int
status_of_state(int state)
{
	return state == RP_STATE_DEAD        ? DIED
	       : state == RP_STATE_CANCELLED ? CANCELLED
	       : state == RP_STATE_DONE      ? DONE
					     : TIMED_OUT;
}

static json_t *
json_outcome(const rp_outcome *outcome, const rp_job *job)
{
	int state = outcome->state ? outcome->state : job ? job->state : 0;
	int died = outcome->state == RP_STATE_DEAD;
	const rp_job none = { .result = NULL };
	const struct member members[] = {
		{ "id", json_integer(outcome->id) },
		{ "state", json_text(rp_state_text(state)) },
		{ "kept", json_boolean(outcome->kept) },
		{ "error", json_text(job && died ? job->last_error : NULL) },
	};
	json_t *object = JSON_MEMBERS(members);

	json_put_result(&object, job ? job : &none);
	return object;
}

static void
say_not_ended(const struct waiting *w, const rp_outcome *outcome,
	      const rp_job *job)
{
	char time[40], left[40], due[60] = "";
	int64_t now;

	print_duration(time, sizeof(time), w->timeout_ms);
	if (job && job->state == RP_STATE_SCHEDULED &&
	    rp_now(w->cmd->conn, &now) == 0 && job->run_at > now) {
		print_duration_short(left, sizeof(left), job->run_at - now);
		snprintf(due, sizeof(due), " (due in %s)", left);
	}
	complain(TIMED_OUT, "timed out after %s; job %lld is %s%s%s", time,
		 (long long)outcome->id,
		 job && rp__is_finished(job->state) ? "" : "still ",
		 job ? rp_state_text(job->state) : "unfinished", due);
}

static void
print_state(const rp_outcome *outcome)
{
	printf("%lld %s%s\n", (long long)outcome->id,
	       rp_state_text(outcome->state),
	       outcome->kept                          ? ""
	       : outcome->state == RP_STATE_CANCELLED ? " (queue dropped)"
						      : " (not kept)");
}

/* The error may come from a handler, so it is escaped. */
static void
say_dead(long long id, const char *error)
{
	char *escaped = error ? escape_text(error, SIZE_MAX) : NULL;

	complain(DIED, "job %lld is dead: %s", id,
		 escaped ? escaped
		 : error ? "out of memory"
			 : "no error is known");
	free(escaped);
}

/* Print a problem to standard error. Print to standard output how the job ended
 * or, with --result, only its result. */
static void
say(const struct waiting *w, const rp_outcome *outcome, const rp_job *job)
{
	long long id = outcome->id;
	int is_done = outcome->state == RP_STATE_DONE;

	if (outcome->state == 0)
		say_not_ended(w, outcome, job);
	else if (outcome->state == RP_STATE_DEAD)
		say_dead(id, job ? job->last_error : NULL);
	else if (w->result && !is_done)
		complain(CANCELLED, "job %lld was cancelled", id);
	else if (w->result && !outcome->kept)
		complain(DONE,
			 "job %lld is done, but was not kept, so it has no "
			 "result%s",
			 id,
			 w->existed ? ": the enqueue that added the job did "
				      "not ask for a result"
				    : "");
	if (w->result && job && job->result)
		fwrite(job->result, 1, job->result_size, stdout);
	else if (outcome->state && !w->result && !w->quiet)
		print_state(outcome);
}

/* Print that a job has ended but cannot be read, for example because the role
 * lacks a grant. Returns the exit status: without the result or the error that
 * the user has asked for, the command fails. */
static int
say_unreadable(const struct waiting *w, const rp_outcome *outcome, int code)
{
	int died = outcome->state == RP_STATE_DEAD;

	if (!w->result && !w->json && !w->quiet)
		print_state(outcome);
	return complain(died && !w->json ? DIED : status_of(code),
			"job %lld is %s, but its %s cannot be read: %s",
			(long long)outcome->id, rp_state_text(outcome->state),
			died ? "error" : "result",
			rp_last_error(w->cmd->conn)->message);
}

/* Print how a job ended. If the job was purged after the wait ended, `outcome`
 * still has its state. Returns an exit status. */
static int
tell_one(const struct waiting *w, const rp_outcome *outcome)
{
	int died = outcome->state == RP_STATE_DEAD, r = 0;
	int has_result = outcome->state == RP_STATE_DONE;
	rp_batch *batch = NULL;
	const rp_job *job = NULL;

	if (outcome->kept || outcome->state == 0)
		r = rp_job_get(w->cmd->conn, outcome->id, &batch);
	if (r < 0 && (died || (has_result && (w->result || w->json))))
		return say_unreadable(w, outcome, r);
	if (r > 0)
		job = rp_batch_at(batch, 0);
	if (w->json)
		print_json(json_outcome(outcome, job));
	else
		say(w, outcome, job);
	rp_batch_free(batch);
	return status_of_state(outcome->state);
}

/* Print how the jobs ended, and return the worst status. Jobs that have not
 * ended are reported only if the wait timed out (`over` is 0). Otherwise such
 * jobs are expected: with --any, the wait ends with the first job. */
static int
tell(const struct waiting *w, const rp_outcome *outcomes, size_t n, int over)
{
	int status = DONE;

	for (size_t i = 0; i < n && status != FAILED; i++)
		if (outcomes[i].state || !over)
			status = worse(status, tell_one(w, &outcomes[i]));
	return status;
}

/* ---- waiting ---- */

/* If a signal came during the wait, end this process. The jobs continue. */
void
end_if_told(struct cmd *cmd)
{
	if (!interrupted())
		return;
	rp_close(cmd->conn);
	cmd->conn = NULL;
	end_if_interrupted();
}

/* Print why the wait of `enqueue --wait` has ended, and that the jobs, which
 * are enqueued, do not depend on it. */
static int
say_ended_early(int status, const char *why, const char *what,
		const int64_t *ids, size_t n)
{
	return complain(status,
			"%s; job %lld%s %s (readpast wait waits for %s again)",
			why, (long long)ids[0],
			n > 1 ? " and those after it are" : " is", what,
			n > 1 ? "them" : "it");
}

static int
wait_for_part(const struct waiting *w, const int64_t *ids, size_t n,
	      int64_t timeout_ms)
{
	rp_outcome *outcomes = calloc(n, sizeof(*outcomes));
	int status, fd = interrupt_fd(), r;

	if (!outcomes)
		return complain(FAILED, "out of memory");
	catch_interrupts();
	r = rp_job_wait(w->cmd->conn, ids, n,
			w->any ? RP_WAIT_ANY : RP_WAIT_ALL, timeout_ms, fd,
			outcomes);
	if (interrupted() && w->goes_on)
		say_ended_early(FAILED, "interrupted", "not cancelled", ids, n);
	end_if_told(w->cmd);
	status = r >= 0 ? tell(w, outcomes, n, r > 0)
		 : w->goes_on
			 ? say_ended_early(status_of(r),
					   rp_last_error(w->cmd->conn)->message,
					   "enqueued", ids, n)
			 : cmd_failed(w->cmd, r);
	free(outcomes);
	return status;
}

int
wait_for_jobs(const struct waiting *w, const int64_t *ids, size_t n)
{
	int64_t end = monotonic_us() / 1000 + w->timeout_ms;
	int status = DONE;

	for (size_t i = 0; i < n && status != FAILED && status != USAGE;
	     i += RP_MOST_CLAIMED) {
		size_t part = n - i < RP_MOST_CLAIMED ? n - i : RP_MOST_CLAIMED;
		int64_t left = end - monotonic_us() / 1000;

		left = w->timeout_ms < 0 ? -1 : left < 0 ? 0 : left;
		status = worse(status, wait_for_part(w, ids + i, part, left));
	}
	return status;
}
