/*
 * options.c - parse the options of `readpast stress`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "stress.h"

static int
parse_share(const struct cmd *cmd, const char *text, double *ret)
{
	char *end;

	if (!text)
		return 0;
	*ret = strtod(text, &end);
	if (end == text || *end || !(*ret >= 0 && *ret <= 1))
		return usage(cmd,
			     "--fail-rate %.80s: expected 0 to 1, such "
			     "as 0.05",
			     text);
	return 0;
}

/* Parse the values of --rate and --group-on-failure. NULL: the option was not
 * given. Returns 0, or an exit status after printing an error. */
static int
parse_limits(struct stress *s, const char *rate, const char *failure)
{
	rp_queue queue = { .name = NULL };
	int status = rate ? parse_rate(s->cmd, rate, &queue) : 0;

	if (!status && failure)
		status = parse_on_failure(s->cmd, failure, &queue);
	s->rate = queue.rate_count;
	s->rate_ms = queue.rate_ms;
	s->group_pass = (int)queue.group_pass;
	return status;
}

/* Check that each option is within its range. Returns 0, or an exit status
 * after printing an error. */
static int
in_range(const struct stress *s)
{
	const struct {
		const char *name;
		int64_t value, least, most;
	} limits[] = {
		{ "--producers", s->producers, 1, 256 },
		{ "--workers", s->workers, 1, 256 },
		{ "-j", s->threads, 1, RP_MOST_THREADS },
		{ "--jobs", s->jobs, s->for_ms ? 0 : 1, 100000000 },
		{ "--payload", s->payload, 0, 64 * 1024 * 1024 },
		{ "--batch", s->batch, 1, RP_MOST_CLAIMED },
		{ "--groups", s->groups, 0, 100000000 },
		{ "--group-limit", s->group_limit, 0, RP_MOST_LIMIT },
		{ "--limit", s->limit, 0, RP_MOST_LIMIT },
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].value < limits[i].least ||
		    limits[i].value > limits[i].most)
			return usage(s->cmd, "%s: expected %lld to %lld",
				     limits[i].name, (long long)limits[i].least,
				     (long long)limits[i].most);
	if (s->batch * s->payload > INT64_C(256) * 1024 * 1024)
		return usage(s->cmd, "--batch times --payload must be at "
				     "most 256MiB");
	if (s->lease_ms < 100 || s->lease_ms > 3600000)
		return usage(s->cmd, "--lease: expected 100ms to 1h");
	if (s->group_limit && !s->groups)
		return usage(s->cmd, "--group-limit needs --groups");
	if ((s->kill_ms >= 0 && s->kill_ms < 50) ||
	    (s->stall_ms >= 0 && s->stall_ms < 50))
		return usage(s->cmd, "%s: expected 50ms or more",
			     s->kill_ms >= 0 && s->kill_ms < 50
				     ? "--kill-every"
				     : "--stall-every");
	return 0;
}

/* Set how many jobs the run enqueues, or for how long it enqueues. `jobs` and
 * `for_ms` are -1 if the option was not given. */
static int
set_amount(struct stress *s, int64_t jobs, int64_t for_ms)
{
	if (jobs >= 0 && for_ms >= 0)
		return usage(s->cmd, "give either --jobs or --for, not both");
	if (for_ms == 0)
		return usage(s->cmd, "--for: expected at least 1ms");
	if (for_ms > 0 && s->fill)
		return usage(s->cmd, "--fill needs --jobs, not --for");
	s->for_ms = for_ms > 0 ? for_ms : 0;
	s->jobs = s->for_ms ? 0 : jobs >= 0 ? jobs : 10000;
	return 0;
}

/* Parse the options of the command line. The caller checks the remaining
 * arguments. */
static int
read_options(struct stress *s, int *argc, char **argv)
{
	const char *share = NULL, *rate = NULL, *failure = NULL;
	int64_t jobs = -1, for_ms = -1;
	const struct option options[] = {
		{ "--producers", COUNT, &s->producers, "N",
		  "processes that enqueue (1)" },
		{ "--workers", COUNT, &s->workers, "N",
		  "processes that work (2)" },
		{ "-j", COUNT, &s->threads, "N", "threads of each worker (2)" },
		{ "--jobs", COUNT, &jobs, "N", "number of jobs (10k)" },
		{ "--for", DURATION, &for_ms, "D",
		  "enqueue for this long, in place of --jobs" },
		{ "--fill", FLAG, &s->fill, NULL,
		  "workers start when all jobs are enqueued" },
		{ "--payload", SIZE, &s->payload, "SIZE",
		  "payload size of each job (200)" },
		{ "--batch", COUNT, &s->batch, "N",
		  "jobs enqueued at a time (100)" },
		{ "--work-time", DURATION, &s->work_ms, "D",
		  "how long a handler takes (0)" },
		{ "--fail-rate", TEXT, &share, "P",
		  "share of attempts that fail, 0 to 1 (0)" },
		{ "--groups", COUNT, &s->groups, "N",
		  "number of groups that the jobs belong to" },
		{ "--group-limit", LIMIT, &s->group_limit, "N",
		  "how many jobs of a group run at once" },
		{ "--group-on-failure", TEXT, &failure, "WHAT",
		  "block or pass, as in queue set (block)" },
		{ "--limit", LIMIT, &s->limit, "N",
		  "how many jobs run at once" },
		{ "--rate", TEXT, &rate, "N/D",
		  "how many jobs start within a duration" },
		{ "--lease", DURATION, &s->lease_ms, "D",
		  "how long a claim holds a job (2s)" },
		{ "--kill-every", DURATION, &s->kill_ms, "D",
		  "how often to kill a worker and start another one" },
		{ "--stall-every", DURATION, &s->stall_ms, "D",
		  "how often to stop a worker for longer than its lease" },
		{ "--pin-snapshot", FLAG, &s->pin, NULL,
		  "keep a snapshot of the database open" },
		{ "--seed", COUNT, &s->seed, "N",
		  "repeat the random choices of the run with this seed" },
		{ "--json", FLAG, &s->json, NULL, "JSON" },
		OPTIONS_END,
	};
	int status = parse_options(s->cmd, argc, argv, options);

	if (!status)
		status = parse_share(s->cmd, share, &s->fail_rate);
	if (!status)
		status = parse_limits(s, rate, failure);
	if (!status)
		status = set_amount(s, jobs, for_ms);
	return status;
}

int
stress_parse(struct stress *s, int argc, char **argv)
{
	int status = read_options(s, &argc, argv);

	if (status)
		return status;
	if (argc)
		return usage(s->cmd, "takes no arguments");
	if (s->seed < 0) {
		uint32_t seed = 0;

		getrandom(&seed, sizeof(seed), 0);
		s->seed = seed;
	}
	return in_range(s);
}
