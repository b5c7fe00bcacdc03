/*
 * bench.c - the raw floor and the library, side by side.
 *
 * A parent that does nothing but wait and clean up, so that no way of ending,
 * a crash included, leaves databases behind; its child measures. All rows are
 * measured once a round, so that what else the machine does falls on all.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "floor.h"

/* ---- helpers ---- */

void
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	/* Not exit(): a child would run what its parent registered. */
	_exit(1);
}

void *
allocate(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		die("out of memory");
	return p;
}

char *
text(const char *format, ...)
{
	va_list args;
	char *ret;

	va_start(args, format);
	if (vasprintf(&ret, format, args) < 0)
		die("out of memory");
	va_end(args);
	return ret;
}

double
seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
sleep_us(int64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&t, NULL);
}

void
progress(const struct bench *b, const char *what, int round)
{
	if (!b->progress)
		return;
	if (round < 0)
		fprintf(stderr, "\r%-40s", what);
	else
		fprintf(stderr, "\rround %d of %d: %-24s", round + 1, b->rounds,
			what);
}

/* ---- databases ---- */

char *
database_path(const struct bench *b, const char *name)
{
	return text("%s/%s.db", b->dir, name);
}

void
database_fill(const char *path, size_t jobs)
{
	if (access(path, F_OK) < 0) {
		char *url = text("sqlite:%s", path);
		rp_queue queue = RP_QUEUE_INIT;
		rp_error error;
		rp_conn *conn;

		queue.name = QUEUE;
		if (rp_open(url, NULL, &conn, &error) < 0)
			die("rp_open: %s", error.message);
		if (rp_queue_set(conn, &queue) < 0)
			die("library: %s", rp_last_error(conn)->message);
		rp_close(conn);
		free(url);
	}
	floor_fill(path, jobs, 1);
}

/* ---- measuring ---- */

static void
machine_rows(const struct bench *b)
{
	report_row(b->report, "processors", "-", NULL, 0);
	report_sample(b->report, "processors",
		      (double)sysconf(_SC_NPROCESSORS_ONLN));
	report_row(b->report, "rounds", "-", NULL, 0);
	report_sample(b->report, "rounds", b->rounds);
	report_row(b->report, "sample", "ms", NULL, 0);
	report_sample(b->report, "sample", b->seconds * 1000);
}

static void
measure(struct bench *b)
{
	char *floor = database_path(b, "floor");
	char *library = database_path(b, "library");

	b->report = report_new();
	machine_rows(b);
	pairs_rows(b);
	worker_rows(b);
	starts_rows(b);
	processes_rows(b);
	backlog_rows(b);
	cost_rows(b);
	database_fill(floor, 0);
	database_fill(library, 0);
	for (int round = -1; round < b->rounds; round++) {
		progress(b, "one process", round);
		pairs_round(b, round);
		progress(b, "a worker", round);
		worker_round(b, round);
		progress(b, "four processes", round);
		processes_round(b, round);
		progress(b, "the backlog", round);
		backlog_round(b, round);
	}
	starts_run(b);
	cost_run(b);
	progress(b, "", -1);
	if (b->progress)
		fputc('\r', stderr);
	report_print(b->report, b->markdown);
	report_free(b->report);
	free(floor);
	free(library);
}

/* ---- the parent ---- */

static void
remove_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	if (rmdir(path) < 0)
		perror(path);
}

/* Wait for the child; a signal ends it, and then its children with it. The
 * exit status. */
static int
watch(pid_t child, const sigset_t *signals)
{
	int status, ended = 0;

	for (;;) {
		int number = sigwaitinfo(signals, NULL);

		if (number > 0 && number != SIGCHLD) {
			ended = 128 + number;
			kill(child, SIGKILL);
		}
		if (waitpid(child, &status, WNOHANG) == child)
			break;
	}
	if (ended)
		return ended;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "bench: ended by signal %d\n", WTERMSIG(status));
	return 1;
}

static int
measure_in_child(struct bench *b)
{
	sigset_t signals, before;
	pid_t child;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &before);
	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sigprocmask(SIG_SETMASK, &before, NULL);
		measure(b);
		exit(fflush(stdout) == 0 ? 0 : 1);
	}
	return watch(child, &signals);
}

static int
set_size(struct bench *b, const char *size)
{
	if (strcmp(size, "") == 0)
		return 0;
	if (strcmp(size, "full") == 0) {
		b->seconds = 0.8;
		b->backlog = 5000000;
		b->starts = 5000;
	} else if (strcmp(size, "smoke") == 0) {
		b->rounds = 1;
		b->seconds = 0.004;
		b->backlog = 20000;
		b->starts = 20;
	} else {
		return -1;
	}
	return 0;
}

static char *
make_directory(void)
{
	const char *dir = getenv("BENCH_DIR"), *tmp = getenv("TMPDIR");
	char *path;

	if (!dir || !*dir)
		dir = tmp && *tmp ? tmp : "/tmp";
	path = text("%s/readpast-bench.XXXXXX", dir);
	if (!mkdtemp(path)) {
		perror(path);
		free(path);
		return NULL;
	}
	return path;
}

int
main(int argc, char **argv)
{
	struct bench b = { .rounds = 7,
			   .seconds = 0.4,
			   .backlog = 500000,
			   .starts = 1000,
			   .progress = isatty(STDERR_FILENO) };
	const char *size = getenv("BENCH");
	char *dir;
	int status;

	b.markdown = argc == 2 && strcmp(argv[1], "--markdown") == 0;
	if (argc > 1 + b.markdown || set_size(&b, size ? size : "") < 0) {
		fputs("usage: [BENCH=full|smoke] [BENCH_DIR=DIR] bench "
		      "[--markdown]\n",
		      stderr);
		return 2;
	}
	dir = make_directory();
	if (!dir)
		return 1;
	b.dir = dir;
	status = measure_in_child(&b);
	remove_directory(dir);
	free(dir);
	return status;
}
