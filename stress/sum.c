/*
 * sum.c - sum up the logs of all processes of `readpast stress`: counts, rates,
 * latencies.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "stress.h"

#include <stdlib.h>

/* The times of one job's life. A time is 0 if it is not known. */
struct life {
	int64_t id, asked, enqueued, started, done;
	int times_done;
	/* not 0: the verdict "done" was sent, but no answer to it was
	 * recorded */
	int asked_done;
};

struct summing {
	struct stress *stress;
	struct sums *sums;
	struct life *lives; /* array, sorted by id */
	size_t count;
	int64_t *us[LATENCIES]; /* unsorted samples */
	size_t us_count[LATENCIES];
	int64_t began, made_until, done_until;
};

/* ---- jobs ---- */

static void
count_moments(void *ctx, const struct moment *m, const char *client)
{
	struct summing *s = ctx;

	(void)client;
	s->count += m->what == ENQUEUED;
	s->us_count[L_CLAIM] += m->what == CLAIMED;
}

static void
take_enqueued(void *ctx, const struct moment *m, const char *client)
{
	struct summing *s = ctx;

	(void)client;
	if (m->what == ENQUEUED)
		s->lives[s->count++] =
			(struct life){ .id = m->id,
				       .asked = m->at - m->asked_ago_us,
				       .enqueued = m->at };
}

static int
by_id(const void *pa, const void *pb)
{
	const struct life *a = pa, *b = pb;

	return a->id < b->id ? -1 : a->id > b->id;
}

static void
take_worked(void *ctx, const struct moment *m, const char *client)
{
	struct summing *s = ctx;
	struct life *life, key = { .id = m->id };

	(void)client;
	if (m->what == CLAIMED) {
		s->us[L_CLAIM][s->us_count[L_CLAIM]++] = m->asked_ago_us;
		s->sums->claims++;
		s->sums->retries += m->attempt > 1;
	}
	life = bsearch(&key, s->lives, s->count, sizeof(key), by_id);
	if (life && m->what >= STARTED)
		life->asked_done = m->what == SETTLING && m->verdict == RP_DONE;
	if (m->what != STARTED &&
	    (m->what != SETTLED || m->result < 0 || m->verdict == RP_EXTEND))
		return;
	s->sums->dead += m->what == SETTLED && m->state == RP_STATE_DEAD;
	if (!life)
		return;
	if (m->what == STARTED && (!life->started || m->at < life->started))
		life->started = m->at;
	if (m->what == SETTLED && m->verdict == RP_DONE) {
		s->sums->duplicates += life->times_done++ > 0;
		s->sums->done += life->times_done == 1;
		life->done = m->at;
	}
}

/* ---- rates and latencies ---- */

static void
note_span(struct summing *s)
{
	s->began = INT64_MAX;
	for (size_t i = 0; i < s->count; i++) {
		const struct life *life = &s->lives[i];

		if (life->asked < s->began)
			s->began = life->asked;
		if (life->enqueued > s->made_until)
			s->made_until = life->enqueued;
		if (life->done > s->done_until)
			s->done_until = life->done;
	}
}

static double
rate(int64_t count, int64_t us)
{
	return us > 0 ? (double)count * 1e6 / (double)us : 0;
}

static void
fill_bar(const struct summing *s, double *bars, int64_t at)
{
	int64_t bar = (at - s->began) / s->sums->bar_us;

	bars[bar < BARS ? bar : BARS - 1] += 1e6 / (double)s->sums->bar_us;
}

static void
sum_rates(struct summing *s)
{
	int64_t started = INT64_MAX;
	int64_t until =
		s->done_until > s->made_until ? s->done_until : s->made_until;

	s->sums->bar_us = (until - s->began) / BARS + 1;
	for (size_t i = 0; i < s->count; i++) {
		const struct life *life = &s->lives[i];

		fill_bar(s, s->sums->enqueue_bars, life->enqueued);
		if (life->done)
			fill_bar(s, s->sums->done_bars, life->done);
		s->sums->unknown += life->asked_done && !life->done;
		if (life->started && life->started < started)
			started = life->started;
		s->us[L_ENQUEUE][i] = life->enqueued - life->asked;
		/* The answer to the producer may arrive after the job has
		 * started. In that case the latency is 0. */
		if (life->started)
			s->us[L_START][s->us_count[L_START]++] =
				life->started > life->enqueued
					? life->started - life->enqueued
					: 0;
		if (life->done)
			s->us[L_END_TO_END][s->us_count[L_END_TO_END]++] =
				life->done - life->asked;
	}
	s->us_count[L_ENQUEUE] = s->count;
	s->sums->enqueue_rate =
		rate((int64_t)s->count, s->made_until - s->began);
	s->sums->done_rate = rate(s->sums->done, s->done_until - started);
}

static int
by_size(const void *pa, const void *pb)
{
	const int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return a < b ? -1 : a > b;
}

static struct spread
spread_of(int64_t *us, size_t n)
{
	if (!n)
		return (struct spread){ -1, -1, -1, -1 };
	qsort(us, n, sizeof(*us), by_size);
	return (struct spread){ us[n / 2], us[n * 9 / 10], us[n * 99 / 100],
				us[n - 1] };
}

static int
sum_all(struct summing *s)
{
	int r = -1;

	log_each(s->stress, count_moments, s);
	s->lives = calloc(s->count + 1, sizeof(*s->lives));
	for (int i = 0; i < LATENCIES; i++) {
		size_t n = i == L_CLAIM ? s->us_count[i] : s->count;

		s->us[i] = calloc(n + 1, sizeof(**s->us));
		s->us_count[i] = 0;
	}
	if (!s->lives || !s->us[0] || !s->us[1] || !s->us[2] || !s->us[3])
		goto fail;
	s->count = 0;
	log_each(s->stress, take_enqueued, s);
	if (s->count)
		qsort(s->lives, s->count, sizeof(*s->lives), by_id);
	log_each(s->stress, take_worked, s);
	s->sums->enqueued = (int64_t)s->count;
	if (s->count) {
		note_span(s);
		sum_rates(s);
	}
	for (int i = 0; i < LATENCIES; i++)
		s->sums->latency[i] = spread_of(s->us[i], s->us_count[i]);
	r = 0;
fail:
	for (int i = 0; i < LATENCIES; i++)
		free(s->us[i]);
	free(s->lives);
	return r;
}

/* Return the bytes that the processes of this run passed to write(), or -1 if
 * they are not known. With SQLite these are the bytes of the log and of
 * checkpoints. Linux adds the count of a child to that of its parent when the
 * parent waits for the child. */
static int64_t
written(void)
{
	FILE *file = fopen("/proc/self/io", "r");
	long long bytes = -1;

	if (!file)
		return -1;
	if (fscanf(file, "rchar: %*s wchar: %lld", &bytes) != 1)
		bytes = -1;
	fclose(file);
	return bytes;
}

int
sum_up(struct stress *stress, struct sums *ret)
{
	struct summing summing = { .stress = stress, .sums = ret };

	ret->written = written();
	return sum_all(&summing) < 0 ? complain(FAILED, "out of memory") : 0;
}
