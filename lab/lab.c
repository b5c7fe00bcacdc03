/*
 * lab.c - run one technique of taking rows from a table, once. A run makes a
 * scratch (a temporary schema or file), starts N worker processes, and collects
 * their results.
 *
 * The workers connect, and wait until all may begin. The measured time starts
 * at that moment. To do a job, a worker pauses for a fixed time, and counts the
 * job in shared memory. A worker that finds no row ends when all jobs are done.
 * A worker also ends when no job was done for PATIENCE_US. In that case the
 * remaining jobs count as lost.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "db/databases.h"
#include "process.h"

/* pause between two checks for workers that have ended or wait for a lock */
#define LOOK_US 5000
/* pause of a worker that has found nothing to do */
#define IDLE_US 1000
/* A run is ended if no job was done for this time. */
#define PATIENCE_US 2000000

/* The memory that all processes of a run share. */
struct board {
	size_t size;
	int64_t left, runs, progress_us;
	int failed; /* not 0: a worker has failed, and `why` is set */
	char why[LAB_WHY];
	/* an array in the same memory, after `jobs` */
	struct lab_account *accounts;
	/* how often each job has run; job numbers begin with 1 */
	int32_t jobs[];
};

struct worker {
	struct lab *lab;
	const struct lab_script *script;
	struct board *board;
	struct lab_side side;
	int64_t patience_us;
};

const struct lab_script *
lab_dialect(const char *dialect)
{
	const struct lab_scripts *s = lab_dialects;

	while (s->dialect && strcmp(s->dialect, dialect) != 0)
		s++;
	return s->scripts;
}

const struct lab_script *
lab_scripts(const char *url)
{
	static const struct lab_script none[] = { { .name = NULL } };
	const struct lab_script *scripts;
	struct rp_url parsed;

	if (rp__url_parse(url, &parsed, NULL) < 0)
		return none;
	scripts = lab_dialect(parsed.database->schemes[0]);
	rp__url_free(&parsed);
	return scripts ? scripts : none;
}

const struct lab_script *
lab_find(const struct lab_script *scripts, const char *name)
{
	while (scripts->name && strcmp(scripts->name, name) != 0)
		scripts++;
	return scripts->name ? scripts : NULL;
}

static int
open_side(const struct lab *lab, struct lab_side *side, int schema)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_error error;
	char number[LAB_VALUE];

	options.schema = schema;
	if (rp_open(lab->url, &options, &side->conn, &error) < 0)
		return lab_fail(side->why, "%s", error.message);
	snprintf(number, sizeof(number), "%d", lab->options->jobs);
	lab_set(&side->vars, "jobs", number);
	snprintf(number, sizeof(number), "%d", LAB_BATCH);
	lab_set(&side->vars, "batch", number);
	lab_set(&side->vars, "scratch", lab->name);
	rp__measure(side->conn, &side->account->usage);
	return lab->place->session(lab, side);
}

void
lab_close(struct lab_side *side)
{
	rp_close(side->conn);
	side->conn = NULL;
}

/* ---- a worker ---- */

static void
work(void *ctx, int64_t job)
{
	struct worker *w = ctx;
	struct board *board = w->board;

	sleep_us(w->lab->options->delay_ms * 1000);
	__atomic_store_n(&board->progress_us, monotonic_us(), __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&board->runs, 1, __ATOMIC_SEQ_CST);
	if (job < 1 || job > w->lab->options->jobs)
		return;
	if (__atomic_add_fetch(&board->jobs[job], 1, __ATOMIC_SEQ_CST) == 1)
		__atomic_sub_fetch(&board->left, 1, __ATOMIC_SEQ_CST);
}

static int
loop(struct worker *w)
{
	struct board *board = w->board;
	int r;

	while ((r = lab_step(&w->side, w->script, work, w)) >= 0) {
		int64_t since =
			__atomic_load_n(&board->progress_us, __ATOMIC_SEQ_CST);

		if (r == 0 &&
		    __atomic_load_n(&board->left, __ATOMIC_SEQ_CST) == 0)
			return 0;
		if (monotonic_us() - since > w->patience_us)
			return 0;
		if (r == 0)
			sleep_us(IDLE_US);
	}
	return r;
}

/* The main function of a worker process. It connects, and begins to do jobs
 * when the parent closes the pipe `go`. */
static void
live(struct worker *w, int number, int ready, int go)
{
	struct lab_side *side = &w->side;
	char name[LAB_VALUE], why[LAB_WHY], byte = 0;
	int r;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	side->account = &w->board->accounts[number];
	side->why = why;
	snprintf(name, sizeof(name), "worker %d", number + 1);
	lab_set(&side->vars, "worker", name);
	r = open_side(w->lab, side, RP_SCHEMA_REQUIRE) == 0 ? 0 : LAB_FAILED;
	if (r == 0) {
		/* The measurement begins here, so the cost of connecting does
		 * not count. */
		rp__measure(side->conn, &side->account->usage);
		if (write(ready, &byte, 1) != 1)
			_exit(1);
		close(ready);
		if (read(go, &byte, 1) < 0)
			_exit(1);
		r = loop(w);
		side->account->ended_us = monotonic_us();
		rp__measure(side->conn, &side->account->usage);
	}
	if (r < 0 &&
	    !__atomic_exchange_n(&w->board->failed, 1, __ATOMIC_SEQ_CST))
		snprintf(w->board->why, LAB_WHY, "%s: %.300s", name, why);
	lab_close(side);
	_exit(r < 0);
}

/* ---- all workers ---- */

static struct board *
board_new(const struct lab_options *o)
{
	size_t jobs = ((size_t)o->jobs / 2 + 1) * 2 * sizeof(int32_t);
	size_t size = sizeof(struct board) + jobs +
		      (size_t)o->workers * sizeof(struct lab_account);
	struct board *board = shared_memory(size);

	if (!board)
		return NULL;
	board->size = size;
	board->left = o->jobs;
	board->accounts = (void *)((char *)board->jobs + jobs);
	return board;
}

static void
kill_all(const struct worker *w, const pid_t *pids)
{
	for (int i = 0; i < w->lab->options->workers; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
}

/* Start the workers, and wait until each of them is ready or has ended. They
 * begin to do jobs when the caller closes `go`. */
static int
start(struct worker *w, pid_t *pids, int *go)
{
	int n = w->lab->options->workers, there = 0;
	int ready_ends[2], go_ends[2];
	char byte;

	if (pipe(ready_ends) < 0)
		return lab_fail(w->lab->control.why, "%s", strerror(errno));
	if (pipe(go_ends) < 0) {
		close(ready_ends[0]);
		close(ready_ends[1]);
		return lab_fail(w->lab->control.why, "%s", strerror(errno));
	}
	for (int i = 0; i < n && (i == 0 || pids[i - 1] > 0); i++) {
		pids[i] = spawn();
		if (pids[i] == 0) {
			close(go_ends[1]);
			live(w, i, ready_ends[1], go_ends[0]);
		}
	}
	close(ready_ends[1]);
	close(go_ends[0]);
	*go = go_ends[1];
	while (there < n && read(ready_ends[0], &byte, 1) == 1)
		there++;
	close(ready_ends[0]);
	return there == n
		       ? 0
		       : lab_fail(w->lab->control.why,
				  "not all of %d workers could be started", n);
}

/* Wait until all workers have ended. If one of them fails, or the user
 * interrupts the run, kill the others. */
static int
watch(struct worker *w, pid_t *pids, int killed)
{
	struct lab *lab = w->lab;
	int64_t before = monotonic_us(), now;
	int alive = 1, r = 0, status;

	while (alive) {
		alive = 0;
		for (int i = 0; i < lab->options->workers; i++) {
			if (pids[i] <= 0)
				continue;
			if (waitpid(pids[i], &status, WNOHANG) == 0) {
				alive = 1;
				continue;
			}
			pids[i] = 0;
			if (status != 0 && !killed)
				r = lab_fail(lab->control.why,
					     "a worker was killed");
		}
		if ((r != 0 || *lab->options->stop) && !killed) {
			killed = 1;
			kill_all(w, pids);
		}
		now = monotonic_us();
		if (r == 0 && !killed)
			r = lab->place->watch(lab, now - before);
		before = now;
		sleep_us(LOOK_US);
	}
	return *lab->options->stop ? LAB_STOPPED : r;
}

static void
add_up(struct lab *lab, const struct board *board, int64_t began_us)
{
	struct lab_result *result = &lab->result;

	for (int job = 1; job <= lab->options->jobs; job++) {
		result->processed += board->jobs[job] > 0;
		result->twice += board->jobs[job] > 1;
		result->lost += board->jobs[job] == 0;
	}
	result->runs = board->runs;
	for (int i = 0; i < lab->options->workers; i++) {
		const struct lab_account *a = &board->accounts[i];

		result->blocked_us += a->usage.waited_us;
		result->deadlocks += a->deadlocks;
		result->statements += a->usage.statements;
		result->log_bytes += a->usage.log_bytes;
		if (a->ended_us - began_us > result->elapsed_us)
			result->elapsed_us = a->ended_us - began_us;
	}
}

static int
work_all(struct lab *lab, const struct lab_script *script)
{
	struct worker w = { .lab = lab, .script = script };
	pid_t *pids = calloc((size_t)lab->options->workers, sizeof(*pids));
	int go = -1, r, watched;
	int64_t began_us;

	w.board = pids ? board_new(lab->options) : NULL;
	if (!w.board) {
		free(pids);
		return lab_fail(lab->control.why, "out of memory");
	}
	w.patience_us = PATIENCE_US + lab->options->delay_ms * 10000;
	r = start(&w, pids, &go);
	if (r == 0)
		r = lab->place->begin(lab);
	w.board->progress_us = began_us = monotonic_us();
	if (r < 0)
		kill_all(&w, pids);
	if (go >= 0)
		close(go);
	watched = watch(&w, pids, r < 0);
	if (watched < 0 && (r == 0 || watched == LAB_STOPPED))
		r = watched;
	if (w.board->failed)
		snprintf(lab->control.why, LAB_WHY, "%s", w.board->why);
	if (r == 0)
		add_up(lab, w.board, began_us);
	munmap(w.board, w.board->size);
	free(pids);
	return r;
}

/* ---- one run ---- */

/* Enqueue the jobs with the library, for the script that takes them with
 * rp_settle_and_claim(). The other scripts create their own table of jobs. */
static int
enqueue_all(struct lab *lab)
{
	char text[24];
	int r = rp_begin(lab->control.conn);

	for (int i = 1; i <= lab->options->jobs && r == 0; i++) {
		rp_job_spec job = RP_JOB_SPEC_INIT;

		job.payload = text;
		job.payload_size =
			(size_t)snprintf(text, sizeof(text), "%d", i);
		r = rp_enqueue(lab->control.conn, "lab", &job, NULL);
	}
	if (r == 0)
		r = rp_commit(lab->control.conn);
	return r < 0 ? lab_fail(lab->control.why, "%s",
				rp_last_error(lab->control.conn)->message)
		     : 0;
}

static int
open_scratch(struct lab *lab)
{
	char why[LAB_WHY];

	if (open_side(lab, &lab->control, RP_SCHEMA_INSTALL) == 0)
		return 0;
	snprintf(why, sizeof(why), "%s", lab->control.why);
	return lab_fail(lab->control.why,
			"cannot create a schema or file for the lab: %.300s",
			why);
}

static int
run(struct lab *lab, const struct lab_script *script)
{
	int r = open_scratch(lab);

	if (r == 0)
		r = lab->place->prepare(lab, script);
	if (r == 0 && !script->sections->name)
		r = enqueue_all(lab);
	if (r == 0)
		r = lab_section(&lab->control, script, "setup", NULL);
	if (r == 0 && lab->place->dies_at_fork)
		lab_close(&lab->control);
	if (r == 0)
		r = work_all(lab, script);
	return r;
}

int
lab_run(const struct lab_options *options, const struct lab_script *script,
	void (*left)(const char *what), struct lab_result *ret,
	char why[LAB_WHY])
{
	struct lab lab = { .options = options,
			   .left = left,
			   .control.why = why };
	char ignored[LAB_WHY];
	int r;

	*why = '\0';
	if (script->cannot) {
		lab_fail(why, "%s", script->cannot);
		return LAB_CANNOT;
	}
	lab.control.account = &lab.own;
	lab.scripts = lab_scripts(options->url);
	lab.place = lab_find(lab.scripts, "scratch") ? &lab_server : &lab_file;
	lab.url = lab.place->url_of(&lab);
	if (!lab.url)
		return lab_fail(why, "out of memory");
	r = run(&lab, script);
	if (r != 0)
		lab.control.why = ignored;
	if (r == 0)
		r = lab.place->finish(&lab);
	if (r == 0)
		r = lab.place->remove(&lab);
	else
		lab.place->remove(&lab);
	lab_close(&lab.control);
	free(lab.url);
	if (r == 0)
		*ret = lab.result;
	return r > 0 ? LAB_FAILED : r;
}
