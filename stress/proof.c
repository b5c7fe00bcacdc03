/*
 * proof.c - convert the logs of all processes of `readpast stress` to history
 * lines, and pass them to the checker.
 *
 * A child process writes the lines to a pipe, and the parent process reads them
 * from the pipe. So the lines take no space on the disk. With --history the
 * child process also writes them to the history file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "check.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "history.h"
#include "stress.h"

/* Data for the child process that writes the history as lines of JSON. */
struct telling {
	const struct stress *stress;
	FILE *to, *history;
};

/* Format the names of the job's queue and group. */
static void
tell_names(char *to, size_t room, const struct moment *m, const char *queue)
{
	char group[GROUP_ROOM];

	group_name(group, m->group);
	snprintf(to, room, "\"queue\":\"%s\"%s%s%s", queue,
		 m->group ? ",\"group\":\"" : "", m->group ? group : "",
		 m->group ? "\"" : "");
}

/* Format the fields that docs/history.md defines for this kind of event. */
static void
tell_fields(char *to, size_t room, const struct moment *m, const char *queue)
{
	long long claim = (long long)m->claim_no;
	long long asked = (long long)(m->at - m->asked_ago_us);
	const char *state = m->result == 0 ? rp_state_text(m->state) : NULL;
	char names[200];

	tell_names(names, sizeof(names), m, queue);
	if (m->what == ENQUEUED)
		snprintf(to, room, "%s,\"outcome\":\"added\",\"asked\":%lld",
			 names, asked);
	else if (m->what == CLAIMED)
		snprintf(to, room,
			 "%s,\"claim\":%lld,\"attempt\":%u,"
			 "\"max_attempts\":%u,\"lease_ms\":%u,"
			 "\"asked\":%lld",
			 names, claim, m->attempt, m->max_attempts, m->lease_ms,
			 asked);
	else if (m->what == STARTED)
		snprintf(to, room, "\"claim\":%lld", claim);
	else if (m->what == LOST)
		snprintf(to, room, "\"claim\":%lld,\"result\":\"%s\"", claim,
			 history_result(m->result));
	else if (m->what == SETTLING)
		snprintf(to, room, "\"claim\":%lld,\"verdict\":\"%s\"", claim,
			 history_verdict(m->verdict));
	else
		snprintf(to, room,
			 "\"claim\":%lld,\"verdict\":\"%s\",\"lease_ms\":%u,"
			 "\"result\":\"%s\"%s%s%s,\"asked\":%lld",
			 claim, history_verdict(m->verdict), m->lease_ms,
			 history_result(m->result),
			 state ? ",\"state\":\"" : "", state ? state : "",
			 state ? "\"" : "", asked);
}

static void
put(struct telling *t, const char *line)
{
	fputs(line, t->to);
	if (t->history)
		fputs(line, t->history);
}

static void
tell(void *ctx, const struct moment *m, const char *client)
{
	static const char *const events[] = { "enqueued", "claimed", "started",
					      "settling", "settled", "lost" };
	struct telling *t = ctx;
	char fields[500], line[740];

	tell_fields(fields, sizeof(fields), m, t->stress->queue);
	snprintf(line, sizeof(line),
		 "{\"at\":%lld,\"client\":\"%s\",\"event\":\"%s\",\"id\":%lld,"
		 "%s}\n",
		 (long long)m->at, client, events[m->what], (long long)m->id,
		 fields);
	put(t, line);
}

/* Write the event `limits` with the limits of the queue. The time of the event
 * is the start of the run, because the queue had its limits before the first
 * process started. */
static void
tell_limits(struct telling *t)
{
	const struct stress *s = t->stress;
	char line[400];

	snprintf(line, sizeof(line),
		 "{\"at\":%lld,\"client\":\"stress\",\"event\":\"limits\","
		 "\"queue\":\"%s\",\"limit\":%lld,\"group_limit\":%lld,"
		 "\"group_on_failure\":\"%s\",\"rate\":%lld,"
		 "\"rate_ms\":%lld,\"asked\":%lld}\n",
		 (long long)s->began_at, s->queue, (long long)s->limit,
		 (long long)s->group_limit, s->group_pass ? "pass" : "block",
		 (long long)s->rate, (long long)s->rate_ms,
		 (long long)s->began_at);
	put(t, line);
}

static void
tell_all(const struct stress *stress, int fd)
{
	int kept = history_fd(stress->cmd->history);
	struct telling t = { stress, fdopen(fd, "w"), NULL };

	if (!t.to)
		_exit(FAILED);
	if (kept >= 0)
		t.history = fdopen(kept, "a");
	if (stress->limit || stress->group_limit || stress->rate)
		tell_limits(&t);
	log_each(stress, tell, &t);
	if (fflush(t.to) == EOF || (t.history && fflush(t.history) == EOF))
		_exit(FAILED);
	_exit(DONE);
}

static int
read_all(struct stress *stress, struct checker *checker)
{
	char why[300] = "cannot start the process that writes the history";
	int ends[2], r = -1, status = FAILED;
	FILE *from = NULL;
	pid_t pid;

	if (pipe(ends) < 0)
		return complain(FAILED, "a pipe: %s", strerror(errno));
	fflush(stdout);
	pid = spawn();
	if (pid == 0) {
		close(ends[0]);
		tell_all(stress, ends[1]);
	}
	close(ends[1]);
	if (pid > 0)
		from = fdopen(ends[0], "r");
	if (from)
		r = checker_read(checker, from, "history", why, sizeof(why));
	if (from)
		fclose(from);
	else
		close(ends[0]);
	if (pid > 0)
		status = spawn_wait(pid);
	if (r == 0 && status != 0)
		return complain(FAILED, "cannot write the history of this run, "
					"so the run is not checked");
	return r < 0 ? complain(FAILED, "%s", why) : 0;
}

static void
found(void *ctx, enum promise promise, const char *text)
{
	struct sums *sums = ctx;

	if (sums->found[promise] < FINDINGS)
		snprintf(sums->findings[promise][sums->found[promise]++],
			 sizeof(sums->findings[0][0]), "%s", text);
}

int
prove(struct stress *stress, struct sums *ret)
{
	struct checker *checker = checker_new();
	int status;

	if (!checker)
		return complain(FAILED, "out of memory");
	status = read_all(stress, checker);
	if (!status)
		status = check_left(stress->cmd, checker, stress->queue);
	if (!status && checker_run(checker, found, ret, &ret->verdicts) < 0)
		status = complain(FAILED, "out of memory");
	checker_free(checker);
	return status;
}
