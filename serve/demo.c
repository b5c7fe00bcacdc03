/*
 * demo.c - the option --demo: a scratch database with a small load, so that
 * every page of the dashboard has something to show.
 *
 * A child process enqueues the jobs and runs them. Its handlers only sleep.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "demo.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "internal.h"

#define ROUND_US 500000
#define IMPORTS 9
#define PAUSE_AT 12 /* the round in which the imports are paused */

/* ---- the queues ---- */

static int
add(rp_conn *conn, const char *queue, const char *kind, const char *format,
    int number)
{
	rp_job_spec spec = RP_JOB_SPEC_INIT;
	char payload[100];

	spec.payload_size =
		(size_t)snprintf(payload, sizeof(payload), "%s%d%s", format,
				 number, *format == '{' ? "}" : ".csv");
	spec.payload = payload;
	spec.kind = kind;
	if (*format == '{')
		spec.headers = "{\"content-type\":\"application/json\"}";
	return rp_enqueue(conn, queue, &spec, NULL);
}

static int
set_queues(rp_conn *conn)
{
	static const struct {
		const char *name;
		int64_t attempts, backoff_ms, run_limit;
	} queues[] = {
		{ "orders", 5, 3000, 0 },     { "mail", 2, 2000, 0 },
		{ "imports", 1, 1000, 0 },    { "reports", 3, 1000, 0 },
		{ "thumbnails", 3, 1000, 2 },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(queues) / sizeof(*queues) && r == 0;
	     i++) {
		rp_queue queue = RP_QUEUE_INIT;

		queue.name = queues[i].name;
		queue.max_attempts = queues[i].attempts;
		queue.backoff_ms = queues[i].backoff_ms;
		queue.run_limit = queues[i].run_limit;
		queue.keep_done_ms = 3600000;
		r = rp_queue_set(conn, &queue);
	}
	return r;
}

static int
set_schedules(rp_conn *conn)
{
	static const char *const schedules[][4] = {
		{ "nightly", "reports", "30 2 * * *", "UTC" },
		{ "digest", "mail", "every 1m", NULL },
		{ "yearly", "reports", "@yearly", NULL },
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(schedules) / sizeof(*schedules) && r == 0;
	     i++) {
		rp_schedule schedule = RP_SCHEDULE_INIT;

		schedule.name = schedules[i][0];
		schedule.queue = schedules[i][1];
		schedule.spec = schedules[i][2];
		schedule.zone = schedules[i][3];
		schedule.kind = schedule.name;
		r = rp_schedule_set(conn, &schedule, 1);
	}
	return r < 0 ? r : rp_schedule_pause(conn, "yearly");
}

static int
fill(rp_conn *conn)
{
	int r = set_queues(conn);

	if (r == 0)
		r = set_schedules(conn);
	for (int i = 1; i <= IMPORTS && r == 0; i++)
		r = add(conn, "imports", "csv", "file-", i);
	return r;
}

/* ---- the load ---- */

/* Enqueue the jobs of one round. The number of orders rises and falls, so that
 * the charts have waves. */
static int
add_round(rp_conn *conn, int round)
{
	static const int waves[] = { 2, 4, 6, 8, 6, 4, 2, 1, 0, 0, 1, 1 };
	int n = waves[round % (int)(sizeof(waves) / sizeof(*waves))], r = 0;

	for (int i = 0; i < n && r == 0; i++)
		r = add(conn, "orders", "settle",
			"{\"order\":", 1000 + 10 * round + i);
	if (r == 0 && round % 3 == 0)
		r = add(conn, "mail", "welcome", "{\"user\":", round);
	if (r == 0 && round % 4 == 0)
		r = add(conn, "thumbnails", "jpeg", "{\"photo\":", round);
	if (round != PAUSE_AT || r < 0)
		return r;
	r = rp_queue_pause(conn, "imports",
			   "the partner sends broken files: ask Ada");
	return r < 0 ? r : add(conn, "imports", "csv", "file-", IMPORTS + 1);
}

static void *
enqueue_all(void *ctx)
{
	rp_conn *conn = ctx;

	for (int round = 0; add_round(conn, round) == 0; round++)
		usleep(ROUND_US);
	return NULL;
}

static int
fail(rp_task *task, int verdict, const char *error)
{
	rp_task_error(task, error);
	return verdict;
}

static int
run_job(rp_task *task, const rp_job *job, void *ctx)
{
	int64_t id = job->id;

	(void)ctx;
	if (strcmp(job->queue, "imports") == 0)
		return fail(task, RP_DEAD, "line 12: column 4 is not a number");
	if (strcmp(job->queue, "thumbnails") == 0) {
		usleep(1500000);
		rp_task_progress(task, "half of the sizes");
		usleep(1500000);
		return RP_DONE;
	}
	usleep((useconds_t)(50000 + id % 7 * 50000));
	if (strcmp(job->queue, "mail") == 0 && id % 2 == 0)
		return fail(task, RP_FAIL,
			    "smtp.example.org: 421 try again later");
	if (id % 11 == 0)
		return fail(task, RP_FAIL, "order service: HTTP status 500");
	rp_task_result(task, "{\"ok\":true}", strlen("{\"ok\":true}"));
	return RP_DONE;
}

/* Enqueue and run jobs until this process is killed. */
static void
run_load(const char *url)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker = NULL;
	rp_conn *conn = NULL;
	pthread_t thread;
	rp_error error;
	int r = rp_open(url, NULL, &conn, &error);

	options.threads = 6;
	if (r == 0)
		r = rp_worker_new(url, &options, &worker, &error);
	if (r == 0)
		r = rp_worker_handle_pattern(worker, "*", NULL, run_job, NULL);
	if (r == 0 && pthread_create(&thread, NULL, enqueue_all, conn) == 0)
		r = rp_worker_run(worker, &error);
	if (r < 0)
		complain(FAILED,
			 "--demo does not enqueue and run jobs any more: %s",
			 error.message);
}

/* ---- beginning and end ---- */

static int
make_database(const struct demo *demo)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_conn *conn;
	rp_error error;
	int r;

	options.schema = RP_SCHEMA_CREATE;
	r = rp_open(demo->url, &options, &conn, &error);
	if (r < 0)
		return complain(status_of(r), "%s", error.message);
	r = fill(conn);
	if (r < 0)
		complain(status_of(r), "%s", rp_last_error(conn)->message);
	rp_close(conn);
	return r < 0 ? status_of(r) : 0;
}

int
demo_start(struct demo *demo)
{
	const char *folder = getenv("TMPDIR");
	pid_t parent = getpid();
	int status, n;

	n = snprintf(demo->folder, sizeof(demo->folder), "%s/readpast-XXXXXX",
		     folder && *folder ? folder : "/tmp");
	if (n >= (int)sizeof(demo->folder))
		errno = ENAMETOOLONG;
	if (n >= (int)sizeof(demo->folder) || !mkdtemp(demo->folder)) {
		*demo->folder = '\0';
		return complain(FAILED, "cannot make a folder for --demo: %s",
				strerror(errno));
	}
	strcpy(rp__url_escape(stpcpy(demo->url, "sqlite:"), demo->folder),
	       "/demo.db");
	status = make_database(demo);
	if (status)
		return status;
	demo->pid = fork();
	if (demo->pid < 0)
		return complain(FAILED, "cannot start a process for --demo: %s",
				strerror(errno));
	if (demo->pid > 0)
		return 0;
	/* The server ends this process, the child. If the server is killed, the
	 * kernel kills the child. Ctrl-C and Ctrl-\ would reach both processes,
	 * so the child ignores them. The other signals end the child. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	if (getppid() == parent)
		run_load(demo->url);
	_exit(FAILED);
}

/* Delete a folder that has no subfolders. */
static void
remove_folder(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *file;

	while (folder && (file = readdir(folder)))
		unlinkat(dirfd(folder), file->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

void
demo_end(struct demo *demo)
{
	if (demo->pid > 0) {
		kill(demo->pid, SIGKILL);
		waitpid(demo->pid, NULL, 0);
	}
	if (*demo->folder)
		remove_folder(demo->folder);
}
