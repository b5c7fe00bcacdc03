/*
 * clients.c - run producers, which enqueue jobs, and workers, which do the
 * jobs, at full speed.
 *
 * Each is a process with a connection of its own. The processes warm up, and
 * then all start at the same time. Their counters are in shared memory.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_CLIENTS 32
/* How long a worker pauses if it found no jobs, and how long a producer pauses
 * if it is too far ahead of the workers, in microseconds. */
#define NAP_US 500

/* Durations are counted in a logarithmic histogram. It begins at a microsecond,
 * and has 24 buckets for each doubling. */
#define PER_DOUBLING 24
#define BUCKETS (32 * PER_DOUBLING)

struct board {
	_Atomic int ready, go;
	double began;
	_Atomic size_t put, finished, batches;
	_Atomic size_t by_second[MOST_SECONDS];
	_Atomic size_t took[BUCKETS];
	_Atomic int64_t longest_us, ended_us;
};

struct clients {
	struct load load;
	struct board *board;
	size_t count;
	pid_t pids[MOST_CLIENTS];
};

/* ---- shared memory ---- */

static void
raise_to(_Atomic int64_t *most, int64_t value)
{
	int64_t seen = atomic_load(most);

	while (seen < value &&
	       !atomic_compare_exchange_weak(most, &seen, value))
		;
}

static void
note_step(struct board *board, double from, double now, size_t n)
{
	double us = (now - from) * 1e6;
	int bucket = us > 1 ? (int)(log2(us) * PER_DOUBLING) : 0;
	size_t second = (size_t)(now - board->began);

	atomic_fetch_add(&board->finished, n);
	atomic_fetch_add(&board->batches, n > 0);
	if (second < MOST_SECONDS)
		atomic_fetch_add(&board->by_second[second], n);
	atomic_fetch_add(&board->took[bucket < BUCKETS ? bucket : BUCKETS - 1],
			 1);
	raise_to(&board->longest_us, (int64_t)us);
}

static double
quantile_ms(const struct board *board, double q)
{
	double total = 0, sum = 0;

	for (size_t i = 0; i < BUCKETS; i++)
		total += (double)board->took[i];
	for (size_t i = 0; i < BUCKETS; i++) {
		sum += (double)board->took[i];
		if (sum > 0 && sum >= q * total)
			return exp2((double)(i + 1) / PER_DOUBLING) / 1e3;
	}
	return NAN;
}

/* ---- functions of the child processes ---- */

static int
is_over(const struct load *load, const struct board *board, double now)
{
	return now - board->began >= load->seconds ||
	       (load->most && atomic_load(&board->finished) >= load->most);
}

static void
produce(const struct load *load, struct board *board, void *handle)
{
	while (!is_over(load, board, seconds_now())) {
		if (load->ahead &&
		    atomic_load(&board->put) >=
			    atomic_load(&board->finished) + load->ahead) {
			sleep_us(NAP_US);
			continue;
		}
		load->side->put(handle);
		atomic_fetch_add(&board->put, load->put);
	}
}

static void
work(const struct load *load, struct board *board, void *handle, int sweeps)
{
	double now = seconds_now(), swept = now, from;
	size_t n;

	while (!is_over(load, board, now)) {
		from = now;
		n = load->side->step(handle);
		now = seconds_now();
		note_step(board, from, now, n);
		if (n == 0 && !load->producers)
			break;
		if (n == 0)
			sleep_us(NAP_US);
		if (sweeps && now - swept >= 1) {
			load->side->sweep(handle);
			swept = now;
		}
		now = seconds_now();
	}
}

static void
live(const struct bench *b, const struct load *load, struct board *board,
     size_t me)
{
	int produces = me < load->producers;
	int sweeps =
		me == load->producers && load->side->sweep && !load->no_sweep;
	void *handle =
		load->side->open(b, load->schema, produces ? load->put : 0,
				 produces ? 0 : load->take);

	if (produces && load->producers > 1)
		load->side->put(handle);
	if (!produces)
		load->side->step(handle);
	atomic_fetch_add(&board->ready, 1);
	while (!atomic_load(&board->go))
		sleep_us(1000);
	if (produces)
		produce(load, board, handle);
	else
		work(load, board, handle, sweeps);
	raise_to(&board->ended_us,
		 (int64_t)((seconds_now() - board->began) * 1e6));
	load->side->close(handle);
}

/* ---- functions of the parent process ---- */

struct clients *
clients_start(const struct bench *b, const struct load *load)
{
	struct clients *c = allocate(sizeof(*c));
	int status;

	c->load = *load;
	c->count = load->producers + load->workers;
	c->board = allocate_shared(sizeof(*c->board));
	for (size_t i = 0; i < c->count; i++) {
		c->pids[i] = fork_child();
		if (c->pids[i] == 0) {
			live(b, load, c->board, i);
			_exit(0);
		}
	}
	while ((size_t)atomic_load(&c->board->ready) < c->count) {
		sleep_us(1000);
		if (waitpid(-1, &status, WNOHANG) > 0)
			die("a client failed");
	}
	c->board->began = seconds_now();
	atomic_store(&c->board->go, 1);
	return c;
}

void
clients_finish(struct clients *c, struct outcome *ret)
{
	struct board *board = c->board;
	double elapsed;

	for (size_t i = 0; i < c->count; i++)
		if (spawn_wait(c->pids[i]) != 0)
			die("a client failed");
	memset(ret, 0, sizeof(*ret));
	elapsed = (double)board->ended_us / 1e6;
	ret->jobs = board->finished;
	ret->batch = (double)board->finished / (double)board->batches;
	ret->put = (double)board->put / elapsed;
	ret->finished = (double)board->finished / elapsed;
	ret->p50 = quantile_ms(board, 0.5);
	ret->p99 = quantile_ms(board, 0.99);
	ret->longest = (double)board->longest_us / 1e3;
	/* Leave out the last second unless it was a full second. */
	while (ret->seconds + 1 <= elapsed + 0.01 &&
	       ret->seconds < MOST_SECONDS) {
		ret->by_second[ret->seconds] =
			(double)board->by_second[ret->seconds];
		ret->seconds++;
	}
	munmap(board, sizeof(*board));
	free(c);
}

void
clients_run(const struct bench *b, const struct load *load, struct outcome *ret)
{
	clients_finish(clients_start(b, load), ret);
}

struct load
steady_load(const struct side *side, const char *schema, double seconds)
{
	struct load load = { .side = side,
			     .schema = schema,
			     .producers = 1,
			     .workers = 2,
			     .put = 100,
			     .take = 100,
			     .seconds = seconds,
			     .ahead = 10000 };

	return load;
}

/* ---- results ---- */

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double
median_by_second(const struct outcome *outcome)
{
	double sorted[MOST_SECONDS];
	size_t n = outcome->seconds;

	if (n == 0)
		return outcome->finished;
	memcpy(sorted, outcome->by_second, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* Return the mean rate of the last five seconds, or the rate of the last second
 * if there are at most ten seconds. */
double
last_seconds(const struct outcome *outcome)
{
	size_t n = outcome->seconds, few = n > 10 ? 5 : 1;
	double sum = 0;

	if (n == 0)
		return outcome->finished;
	for (size_t i = n - few; i < n; i++)
		sum += outcome->by_second[i];
	return sum / (double)few;
}
