/*
 * cmd_top.c - queues as they go, on a terminal: what `stats`, `workers` and
 * `list` tell, once a second, and keys for what one does then.
 *
 * A key acts on the row that the cursor is on, which is always on the screen,
 * and asks before it changes anything.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <curses.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#define MOST_JOBS 50
#define GONE (-1000) /* the terminal; no RP_E* is that */

static void
forget(struct top *t)
{
	rp_stats_free(t->stats);
	rp_workers_free(t->workers);
	rp_batch_free(t->jobs[RUNNING]);
	rp_batch_free(t->jobs[DEAD]);
	t->stats = NULL;
	t->workers = NULL;
	t->jobs[RUNNING] = t->jobs[DEAD] = NULL;
}

size_t
top_count(const struct top *t, int pane)
{
	return pane == QUEUES ? rp_stats_count(t->stats)
			      : rp_batch_count(t->jobs[pane]);
}

static const char *
queue_of(const struct top *t)
{
	const rp_queue_stats *s = rp_stats_at(t->stats, t->panes[QUEUES].at);

	return s ? s->queue : NULL;
}

/* ---- the cursor ---- */

static int
is_cursors(const struct top *t, int pane, size_t row)
{
	const struct pane *p = &t->panes[pane];

	return pane == QUEUES ? strcmp(rp_stats_at(t->stats, row)->queue,
				       p->queue) == 0
			      : rp_batch_at(t->jobs[pane], row)->id == p->id;
}

static void
go_to(struct top *t, int pane, size_t row)
{
	struct pane *p = &t->panes[pane];
	size_t n = top_count(t, pane);

	p->at = row < n ? row : n ? n - 1 : 0;
	if (n && pane == QUEUES)
		snprintf(p->queue, sizeof(p->queue), "%s",
			 rp_stats_at(t->stats, p->at)->queue);
	else if (n)
		p->id = rp_batch_at(t->jobs[pane], p->at)->id;
}

/* Rows have come and gone: the cursor stays on its queue or job. */
static void
find_cursor(struct top *t, int pane)
{
	size_t row = 0;

	while (row < top_count(t, pane) && !is_cursors(t, pane, row))
		row++;
	go_to(t, pane, row < top_count(t, pane) ? row : t->panes[pane].at);
}

/* ---- the database ---- */

/* The jobs of the queue that the cursor is on. It may have been dropped since
 * the queues were read. */
static int
read_jobs(struct top *t)
{
	static const int states[] = {
		[RUNNING] = RP_STATE_RUNNING, [DEAD] = RP_STATE_DEAD
	};
	int r = 0;

	for (int pane = RUNNING; pane < PANES; pane++) {
		rp_batch_free(t->jobs[pane]);
		t->jobs[pane] = NULL;
		if (r >= 0 && queue_of(t))
			r = rp_job_list(t->cmd->conn, queue_of(t), states[pane],
					MOST_JOBS, &t->jobs[pane]);
		find_cursor(t, pane);
	}
	return r == RP_ENOENT || r > 0 ? 0 : r;
}

static int
read_all(struct top *t)
{
	rp_conn *conn = t->cmd->conn;
	int r;

	forget(t);
	r = rp_stats_get(conn, NULL, &t->stats);
	if (r == 0)
		r = rp_worker_list(conn, &t->workers);
	if (r == 0)
		r = rp_now(conn, &t->now);
	find_cursor(t, QUEUES);
	return r < 0 ? r : read_jobs(t);
}

/* ---- the keys ---- */

/* The next key within `ms` (-1: no end); ERR: none, or a signal; GONE. A
 * terminal that has gone away can be read at once, for ever. */
static int
next_key(int ms)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };
	struct termios ignored;
	int key;

	timeout(0);
	key = getch();
	if (key != ERR || poll(&p, 1, ms) <= 0)
		return key;
	if (tcgetattr(STDIN_FILENO, &ignored) < 0)
		return GONE;
	return getch();
}

/* 1: the answer was y; 0: it was not; GONE. */
static int
is_sure(struct top *t, const char *what)
{
	int key;

	snprintf(t->question, sizeof(t->question), "y or n: %s?", what);
	do {
		top_draw(t);
		key = next_key(-1);
	} while (key == ERR || key == KEY_RESIZE);
	*t->question = '\0';
	return key == GONE ? GONE : key == 'y';
}

static void
say(struct top *t, int r, const char *what)
{
	snprintf(t->said, sizeof(t->said), "%s",
		 r < 0 ? rp_last_error(t->cmd->conn)->message : what);
}

static int
change_queue(struct top *t, int key)
{
	char queue[sizeof(t->panes->queue)], what[200];
	rp_conn *conn = t->cmd->conn;
	int sure;

	if (!queue_of(t))
		return 0;
	snprintf(queue, sizeof(queue), "%s", queue_of(t));
	snprintf(what, sizeof(what), "%s queue %s",
		 key == 'p' ? "pause" : "resume", queue);
	sure = is_sure(t, what);
	if (sure > 0 && key == 'p')
		say(t, rp_queue_pause(conn, queue), "paused");
	else if (sure > 0)
		say(t, rp_queue_resume(conn, queue), "resumed");
	return sure;
}

static int
change_job(struct top *t, int key)
{
	int pane = key == 'c' ? RUNNING : DEAD, sure;
	const rp_job *job = rp_batch_at(t->jobs[pane], t->panes[pane].at);
	char what[60];
	int64_t id;

	if (!job || t->pane != pane) {
		snprintf(t->said, sizeof(t->said),
			 "go to the %s job with tab, up and down",
			 pane == RUNNING ? "running" : "dead");
		return 0;
	}
	id = job->id;
	snprintf(what, sizeof(what), "%s job %lld",
		 key == 'c' ? "cancel" : "retry", (long long)id);
	sure = is_sure(t, what);
	if (sure > 0 && key == 'c')
		say(t, rp_job_cancel(t->cmd->conn, id, NULL), "cancelled");
	else if (sure > 0)
		say(t, rp_job_retry(t->cmd->conn, id, NULL), "ready again");
	return sure;
}

static int
move_cursor(struct top *t, int key)
{
	const struct pane *p = &t->panes[t->pane];
	size_t page = p->rows > 1 ? (size_t)p->rows - 1 : 1;

	if (key == KEY_UP && p->at > 0)
		go_to(t, t->pane, p->at - 1);
	else if (key == KEY_DOWN)
		go_to(t, t->pane, p->at + 1);
	else if (key == KEY_PPAGE)
		go_to(t, t->pane, p->at > page ? p->at - page : 0);
	else if (key == KEY_NPAGE)
		go_to(t, t->pane, p->at + page);
	else if (key == KEY_HOME)
		go_to(t, t->pane, 0);
	else if (key == KEY_END)
		go_to(t, t->pane, SIZE_MAX);
	return t->pane == QUEUES && key != ERR ? read_jobs(t) : 0;
}

/* 1: go on; 0: quit; a failure, or GONE. */
static int
on_key(struct top *t, int key)
{
	int r = 0;

	if (key == GONE || key == 'q')
		return key == 'q' ? 0 : GONE;
	if (key != ERR)
		*t->said = '\0';
	if (key == '\t')
		t->pane = (t->pane + 1) % PANES;
	else if (key == 'p' || key == 'u')
		r = change_queue(t, key);
	else if (key == 'c' || key == 'r')
		r = change_job(t, key);
	else
		r = move_cursor(t, key);
	t->changed = r > 0;
	return r < 0 ? r : 1;
}

/* Read the database now and then, which is to take a tenth of the time at the
 * most; and when a key has changed something. */
static int
run(struct top *t)
{
	int64_t next_at = 0, now;
	int r = 1;

	while (r > 0) {
		now = monotonic_us();
		if (now >= next_at || t->changed) {
			int64_t every = t->interval_ms * 1000, took;

			r = read_all(t);
			if (r < 0)
				break;
			took = monotonic_us() - now;
			next_at = now + (took * 10 > every ? took * 10 : every);
		}
		top_draw(t);
		now = monotonic_us();
		r = on_key(t,
			   next_key(now < next_at
					    ? (int)((next_at - now) / 1000) + 1
					    : 0));
	}
	return r;
}

static int
on_screen(struct top *t)
{
	const char *terminal = getenv("TERM");
	SCREEN *screen;
	int r;

	setlocale(LC_CTYPE, "");
	screen = newterm(terminal, stdout, stdin);
	if (!screen)
		return complain(FAILED, "top: no such terminal: %.40s",
				terminal ? terminal : "TERM is not set");
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	r = run(t);
	endwin();
	delscreen(screen);
	if (r == GONE)
		return complain(FAILED, "top: the terminal is gone");
	return r < 0 ? cmd_failed(t->cmd, r) : DONE;
}

int
cmd_top(struct cmd *cmd, int argc, char **argv)
{
	struct top top = { .cmd = cmd, .interval_ms = 1000 };
	const struct option options[] = {
		{ "--interval", DURATION, &top.interval_ms, "D",
		  "look so often (1s)" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments");
	if (top.interval_ms < 100 || top.interval_ms > 3600000)
		return usage(cmd, "--interval: expected 100ms to 1h");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage(cmd, "this is no terminal; stats prints it once");
	status = cmd_open(cmd);
	if (status)
		return status;
	status = on_screen(&top);
	forget(&top);
	return status;
}
