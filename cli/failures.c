/*
 * failures.c - print the failed attempts of a job. The database stores them as
 * JSON.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

/* Returns the failure that ended the last counted attempt, or NULL if that
 * attempt did not fail. A released attempt is not counted. The caller owns a
 * reference to the result. */
static json_t *
last_failure(const rp_job *job)
{
	json_t *list =
		job->failures ? json_loads(job->failures, 0, NULL) : NULL;
	size_t n = json_array_size(list);
	json_t *last = n ? json_incref(json_array_get(list, n - 1)) : NULL;

	json_decref(list);
	if (json_integer_value(json_object_get(last, "attempt")) ==
	    job->attempt)
		return last;
	json_decref(last);
	return NULL;
}

int
has_failed(const rp_job *job)
{
	json_t *last = last_failure(job);
	int failed = last != NULL;

	json_decref(last);
	return failed;
}

/* If the attempt failed because its lease ran out, print when its worker was
 * last seen. */
static int
print_lost(FILE *to, json_t *failure)
{
	int64_t seen_at =
		json_integer_value(json_object_get(failure, "seen_at"));
	const char *worker =
		json_string_value(json_object_get(failure, "worker"));
	const char *host = json_string_value(json_object_get(failure, "host"));
	char at[48];

	if (!seen_at)
		return 0;
	format_time(at, sizeof(at), seen_at);
	if (worker) {
		fputs("worker ", to);
		print_text(to, worker, strlen(worker), SIZE_MAX);
	} else {
		fputs("a client that is not a worker", to);
	}
	if (host && *host) {
		fputs(" on host ", to);
		print_text(to, host, strlen(host), SIZE_MAX);
	}
	fprintf(to, " had not been heard from since %s", at);
	return 1;
}

/* If the job is ready again because the lease of its last attempt ran out,
 * print this reason. */
int
print_came_back(FILE *to, const char *before, const rp_job *job)
{
	json_t *last = last_failure(job);
	int lost = json_integer_value(json_object_get(last, "seen_at")) != 0;

	if (lost) {
		fprintf(to, "%scame back because ", before);
		print_lost(to, last);
		fputs("; attempt counted", to);
	}
	json_decref(last);
	return lost;
}

void
print_failures(const rp_job *job)
{
	json_t *list =
		job->failures ? json_loads(job->failures, 0, NULL) : NULL;
	json_t *one;
	size_t i;

	if (json_array_size(list))
		puts("failed attempts");
	json_array_foreach (list, i, one) {
		const char *worker =
			json_string_value(json_object_get(one, "worker"));
		const char *text =
			json_string_value(json_object_get(one, "text"));
		char at[48];

		format_time(at, sizeof(at),
			    json_integer_value(json_object_get(one, "at")));
		printf("  %lld  %s  %s\n    ",
		       (long long)json_integer_value(
			       json_object_get(one, "attempt")),
		       at, worker ? worker : "-");
		if (text)
			print_text(stdout, text, strlen(text), SIZE_MAX);
		if (json_object_get(one, "seen_at"))
			fputs(": ", stdout);
		print_lost(stdout, one);
		putchar('\n');
	}
	json_decref(list);
}

/* Returns the failed attempts as a JSON array. The times have the same format
 * as in all our JSON output. */
json_t *
json_failures(const rp_job *job)
{
	static const char *const times[] = { "at", "seen_at" };
	json_t *list = job->failures ? json_loads(job->failures, 0, NULL)
				     : json_array();
	json_t *one;
	size_t i;

	json_array_foreach (list, i, one)
		for (size_t t = 0; t < 2; t++) {
			json_t *ms = json_object_get(one, times[t]);

			if (ms)
				json_object_set_new(
					one, times[t],
					json_time(json_integer_value(ms)));
		}
	return list;
}
