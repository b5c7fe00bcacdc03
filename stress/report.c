/*
 * report.c - print the progress and the results of `readpast stress`.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "stress.h"

/* how many kinds of waits the report lists */
#define NAMED 3

static const char *const latency_names[LATENCIES] = { "enqueue", "claim",
						      "start", "end to end" };

void
report_progress(const struct stress *stress, int over)
{
	struct shared *s = stress->shared;
	int64_t us = monotonic_us() - stress->began_at;
	long long done = (long long)atomic_load(&s->done);

	if (!isatty(STDERR_FILENO))
		return;
	if (over) {
		fputs("\r\033[K", stderr);
		return;
	}
	fprintf(stderr,
		"\r%lld enqueued, %lld done, %lld failed, %lld dead; "
		"%lld killed; %.0f/s\033[K",
		(long long)atomic_load(&s->enqueued), done,
		(long long)atomic_load(&s->failed),
		(long long)atomic_load(&s->dead),
		(long long)atomic_load(&s->kills),
		us > 0 ? (double)done * 1e6 / (double)us : 0);
}

/* ---- derived figures ---- */

static double
per_job(const struct sums *sums, int64_t n)
{
	return sums->done ? (double)n / (double)sums->done : 0;
}

static int
by_samples(const void *pa, const void *pb)
{
	const struct wait *a = pa, *b = pb;

	return (a->samples < b->samples) - (a->samples > b->samples);
}

/* Each sample counts the sessions that are busy. Return the sum of all samples.
 * *ret_locks becomes the part of it for sessions that waited for a lock. */
static int64_t
count_samples(const struct shared *s, int64_t *ret_locks)
{
	int64_t all = 0;

	*ret_locks = 0;
	for (size_t i = 0; i < WAITS; i++) {
		all += s->waits[i].samples;
		if (strcmp(s->waits[i].type, "Lock") == 0)
			*ret_locks += s->waits[i].samples;
	}
	return all;
}

static double
percent(int64_t part, int64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

/* Convert a result of count_samples() to seconds. A session that was busy in a
 * sample is taken to be busy for the whole time between two samples. */
static double
sampled_seconds(const struct stress *stress, int64_t samples)
{
	const struct shared *s = stress->shared;
	double us = (double)(stress->ended_at - stress->began_at);

	return s->samples ? (double)samples * us / 1e6 / (double)s->samples : 0;
}

/* ---- for people ---- */

/* Format a number with thousands separators, such as 1,234,567. */
static const char *
grouped(char *to, size_t room, int64_t n)
{
	char digits[32];
	int length = snprintf(digits, sizeof(digits), "%lld", (long long)n);
	size_t k = 0;

	for (int i = 0; i < length && k + 2 < room; i++) {
		if (i && (length - i) % 3 == 0)
			to[k++] = ',';
		to[k++] = digits[i];
	}
	to[k] = '\0';
	return to;
}

static void
print_plot(const char *name, const double *bars, double mean)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄",
					      "▅", "▆", "▇", "█" };
	double most = 0;
	char number[32];

	for (int i = 0; i < BARS; i++)
		most = bars[i] > most ? bars[i] : most;
	printf("  %-11s", name);
	for (int i = 0; i < BARS; i++) {
		int height = most > 0 ? (int)(bars[i] * 8 / most + 0.5) : 0;

		fputs(blocks[bars[i] > 0 && height == 0 ? 1 : height], stdout);
	}
	printf("  %s/s", grouped(number, sizeof(number), (int64_t)mean));
	printf(", at most %s\n",
	       grouped(number, sizeof(number), (int64_t)most));
}

static void
print_us(int64_t us)
{
	char text[32];

	if (us < 0)
		snprintf(text, sizeof(text), "n/a");
	else if (us < 10000)
		snprintf(text, sizeof(text), "%.2f ms", (double)us / 1e3);
	else if (us < 10000000)
		snprintf(text, sizeof(text), "%.0f ms", (double)us / 1e3);
	else
		snprintf(text, sizeof(text), "%.1f s", (double)us / 1e6);
	printf("%11s", text);
}

static void
print_latencies(const struct sums *sums)
{
	printf("\n  %-11s%11s%11s%11s%11s\n", "latency", "p50", "p90", "p99",
	       "max");
	for (int i = 0; i < LATENCIES; i++) {
		printf("  %-11s", latency_names[i]);
		print_us(sums->latency[i].p50);
		print_us(sums->latency[i].p90);
		print_us(sums->latency[i].p99);
		print_us(sums->latency[i].max);
		putchar('\n');
	}
}

static void
print_waits(const struct stress *stress)
{
	struct shared *s = stress->shared;
	int64_t locks, all = count_samples(s, &locks);

	if (!s->has_counters) {
		puts("  blocked    n/a (SQLite counts no waits)");
		return;
	}
	printf("  blocked    %.2f s on locks, of %.2f s at work",
	       sampled_seconds(stress, locks), sampled_seconds(stress, all));
	qsort(s->waits, WAITS, sizeof(*s->waits), by_samples);
	for (size_t i = 0, named = 0; i < WAITS && named < NAMED; i++) {
		const struct wait *wait = &s->waits[i];

		if (!wait->samples || !*wait->type)
			continue;
		printf("%s%s %s %.0f %%", named ? ", " : "\n             ",
		       wait->type, wait->event, percent(wait->samples, all));
		named++;
	}
	putchar('\n');
}

static void
print_costs(const struct stress *stress, const struct sums *sums)
{
	const struct server *a = &stress->shared->before,
			    *b = &stress->shared->after;

	if (stress->shared->has_counters && b->statements < 0)
		printf("  per job    statements n/a (pg_stat_statements is not "
		       "available);\n             ");
	else if (stress->shared->has_counters)
		printf("  per job    %.3f statements, ",
		       per_job(sums, b->statements - a->statements));
	if (stress->shared->has_counters)
		printf("%.3f transactions, %.1f buffers, %.0f "
		       "bytes of WAL\n  deadlocks  %lld\n",
		       per_job(sums, b->transactions - a->transactions),
		       per_job(sums, b->buffers - a->buffers),
		       per_job(sums, b->wal_bytes - a->wal_bytes),
		       (long long)(b->deadlocks - a->deadlocks));
	else if (sums->written >= 0)
		printf("  per job    %.0f bytes written, WAL and checkpoints; "
		       "statements, buffers n/a\n",
		       per_job(sums, sums->written));
	else
		puts("  per job    n/a (cannot read /proc/self/io)");
}

static void
print_findings(const struct sums *sums)
{
	const struct verdicts *v = &sums->verdicts;

	for (int p = 0; p < PROMISES; p++) {
		for (int i = 0; i < sums->found[p]; i++)
			printf("  %s %s\n", promise_names[p],
			       sums->findings[p][i]);
		if (v->broken[p] > sums->found[p])
			printf("  %s and %lld more\n", promise_names[p],
			       (long long)v->broken[p] - sums->found[p]);
	}
	verdicts_print(v);
}

static void
print_head(const struct stress *s, const struct sums *sums)
{
	char number[32];

	printf("%s job%s of %lld byte%s in batches of %lld by %lld "
	       "producer%s\n",
	       grouped(number, sizeof(number), sums->enqueued),
	       plural(sums->enqueued), (long long)s->payload,
	       plural(s->payload), (long long)s->batch, (long long)s->producers,
	       plural(s->producers));
	printf("%lld worker%s of %lld thread%s", (long long)s->workers,
	       plural(s->workers), (long long)s->threads, plural(s->threads));
	if (s->kill_ms >= 0)
		printf(", %lld killed", (long long)s->shared->kills);
	if (s->stall_ms >= 0)
		printf(", %lld stalled", (long long)s->shared->stalls);
	printf("%s; seed %lld\n\n", s->pin ? "; with an old snapshot open" : "",
	       (long long)s->seed);
}

static void
print_report(const struct stress *stress, const struct sums *sums)
{
	const struct verdicts *v = &sums->verdicts;

	print_head(stress, sums);
	print_plot("enqueued", sums->enqueue_bars, sums->enqueue_rate);
	print_plot("done", sums->done_bars, sums->done_rate);
	printf("  each bar %.0f ms\n", (double)sums->bar_us / 1e3);
	print_latencies(sums);
	printf("\n  jobs       %lld done, %lld dead, %lld unknown (killed "
	       "before the answer);\n             %lld retries, %lld "
	       "duplicates, %lld lost\n",
	       (long long)sums->done, (long long)sums->dead,
	       (long long)sums->unknown, (long long)sums->retries,
	       (long long)sums->duplicates, (long long)v->broken[P1]);
	print_waits(stress);
	print_costs(stress, sums);
	printf("\n%lld event%s", (long long)v->events, plural(v->events));
	verdicts_print_claims(v);
	print_findings(sums);
}

/* ---- for programs ---- */

static json_t *
json_latencies(const struct sums *sums)
{
	static const char *const names[LATENCIES] = { "enqueue", "claim",
						      "start", "end_to_end" };
	json_t *object = json_object();

	for (int i = 0; i < LATENCIES; i++) {
		const struct spread *l = &sums->latency[i];
		const struct member members[] = {
			{ "p50", json_integer(l->p50) },
			{ "p90", json_integer(l->p90) },
			{ "p99", json_integer(l->p99) },
			{ "max", json_integer(l->max) },
		};

		json_object_set_new(object, names[i], JSON_MEMBERS(members));
	}
	return object;
}

static json_t *
json_bars(const double *bars)
{
	json_t *array = json_array();

	for (int i = 0; i < BARS; i++)
		json_array_append_new(array, json_integer((json_int_t)bars[i]));
	return array;
}

static json_t *
json_waits(const struct shared *s)
{
	json_t *object = json_object();

	for (size_t i = 0; i < WAITS && s->has_counters; i++) {
		const struct wait *wait = &s->waits[i];
		char name[80];

		if (!wait->samples)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", wait->type,
			 *wait->type ? " " : "running", wait->event);
		json_object_set_new(object, name,
				    json_integer((json_int_t)wait->samples));
	}
	return object;
}

static json_t *
json_per_job(const struct sums *sums, int64_t n)
{
	return json_real(per_job(sums, n));
}

/* SQLite has few counters, so most members are null. */
static json_t *
json_costs_in_file(const struct sums *sums)
{
	const struct member members[] = {
		{ "statements", json_null() },
		{ "transactions", json_null() },
		{ "buffers", json_null() },
		{ "wal_bytes", json_null() },
		{ "deadlocks", json_null() },
		{ "blocked_seconds", json_null() },
		{ "written", sums->written < 0
				     ? json_null()
				     : json_per_job(sums, sums->written) },
	};

	return JSON_MEMBERS(members);
}

static json_t *
json_costs_on_server(const struct stress *stress, const struct sums *sums)
{
	const struct server *a = &stress->shared->before,
			    *b = &stress->shared->after;
	int64_t statements = b->statements - a->statements;
	int64_t transactions = b->transactions - a->transactions;
	int64_t buffers = b->buffers - a->buffers;
	int64_t wal = b->wal_bytes - a->wal_bytes;
	int64_t locks, all = count_samples(stress->shared, &locks);
	const struct member members[] = {
		{ "statements", b->statements < 0
					? json_null()
					: json_per_job(sums, statements) },
		{ "transactions", json_per_job(sums, transactions) },
		{ "buffers", json_per_job(sums, buffers) },
		{ "wal_bytes", json_per_job(sums, wal) },
		{ "deadlocks", json_integer(b->deadlocks - a->deadlocks) },
		{ "blocked_seconds",
		  json_real(sampled_seconds(stress, locks)) },
		{ "written", json_null() },
	};

	(void)all;
	return JSON_MEMBERS(members);
}

static json_t *
json_costs(const struct stress *stress, const struct sums *sums)
{
	return stress->shared->has_counters ? json_costs_on_server(stress, sums)
					    : json_costs_in_file(sums);
}

static json_t *
json_findings(const struct sums *sums)
{
	json_t *array = json_array();

	for (int p = 0; p < PROMISES; p++)
		for (int i = 0; i < sums->found[p]; i++)
			json_array_append_new(
				array, json_pack("{ss ss}", "promise",
						 promise_names[p], "finding",
						 sums->findings[p][i]));
	return array;
}

static void
print_json_report(const struct stress *s, const struct sums *sums)
{
	const struct verdicts *v = &sums->verdicts;
	const struct member members[] = {
		{ "seed", json_integer(s->seed) },
		{ "enqueued", json_integer(sums->enqueued) },
		{ "done", json_integer(sums->done) },
		{ "dead", json_integer(sums->dead) },
		{ "unknown", json_integer(sums->unknown) },
		{ "retries", json_integer(sums->retries) },
		{ "duplicates", json_integer(sums->duplicates) },
		{ "lost", json_integer(v->broken[P1]) },
		{ "claims", json_integer(sums->claims) },
		{ "kills", json_integer(s->shared->kills) },
		{ "stalls", json_integer(s->shared->stalls) },
		{ "events", json_integer((json_int_t)v->events) },
		{ "enqueue_rate", json_real(sums->enqueue_rate) },
		{ "done_rate", json_real(sums->done_rate) },
		{ "bar_us", json_integer(sums->bar_us) },
		{ "enqueue_bars", json_bars(sums->enqueue_bars) },
		{ "done_bars", json_bars(sums->done_bars) },
		{ "latency_us", json_latencies(sums) },
		{ "waits", json_waits(s->shared) },
		{ "per_job", json_costs(s, sums) },
		{ "findings", json_findings(sums) },
	};
	json_t *object = JSON_MEMBERS(members);

	print_json(verdicts_json(v, object));
}

void
report(const struct stress *stress, const struct sums *sums)
{
	if (stress->json)
		print_json_report(stress, sums);
	else
		print_report(stress, sums);
}
