/*
 * cmd_top.c - queues as they go, on a terminal: what `stats`, `workers` and
 * `list` tell, once a second, and keys for what one does then.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS 50

/* What the cursor is in. */
enum { QUEUES, RUNNING, DEAD, PANES };

struct top {
	struct cmd *cmd;
	int64_t interval_ms;
	rp_stats *stats;
	rp_workers *workers;
	rp_batch *jobs[PANES]; /* of the queue: running, dead */
	int pane;
	size_t at[PANES];
	char said[240]; /* the last line: what a key did */
};

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

static size_t
count(const struct top *t, int pane)
{
	return pane == QUEUES ? rp_stats_count(t->stats)
			      : rp_batch_count(t->jobs[pane]);
}

static const char *
queue_of(const struct top *t)
{
	const rp_queue_stats *s = rp_stats_at(t->stats, t->at[QUEUES]);

	return s ? s->queue : NULL;
}

/* Look at the database. A queue may be dropped between two of the looks. */
static int
look(struct top *t)
{
	rp_conn *conn = t->cmd->conn;
	int r;

	forget(t);
	r = rp_stats_get(conn, NULL, &t->stats);
	if (r == 0)
		r = rp_worker_list(conn, &t->workers);
	if (t->at[QUEUES] >= count(t, QUEUES))
		t->at[QUEUES] = 0;
	if (r == 0 && queue_of(t))
		r = rp_job_list(conn, queue_of(t), RP_STATE_RUNNING, MOST_JOBS,
				&t->jobs[RUNNING]);
	if (r >= 0 && queue_of(t))
		r = rp_job_list(conn, queue_of(t), RP_STATE_DEAD, MOST_JOBS,
				&t->jobs[DEAD]);
	for (int i = RUNNING; i < PANES; i++)
		if (t->at[i] >= count(t, i))
			t->at[i] = count(t, i) ? count(t, i) - 1 : 0;
	return r == RP_ENOENT || r > 0 ? 0 : r;
}

/* ---- the screen ---- */

/* Text from outside: nothing in it moves the cursor. */
static void
add_text(const char *text, int most)
{
	for (; text && *text && most > 0; text++, most--) {
		unsigned char c = (unsigned char)*text;

		addch(c >= 0x20 && c < 0x7f ? c : '?');
	}
}

/* A line of a pane; marked when the cursor is on it. 0: no room. */
static int
begin_line(const struct top *t, int *y, int pane, size_t i)
{
	if (*y >= LINES - 2)
		return 0;
	move((*y)++, 0);
	if (pane == t->pane && i == t->at[pane])
		attron(A_REVERSE);
	return 1;
}

static void
heading(int *y, const char *text)
{
	if (*y >= LINES - 2)
		return;
	attron(A_BOLD);
	mvaddnstr((*y)++, 0, text, COLS);
	attroff(A_BOLD);
}

static void
draw_queues(const struct top *t, int *y)
{
	heading(y, "QUEUE                 SCHEDULED     READY  RUNNING     "
		   "DEAD  OLDEST  LONGEST WORKERS   DONE/s FAILED/s");
	for (size_t i = 0; i < count(t, QUEUES); i++) {
		const rp_queue_stats *s = rp_stats_at(t->stats, i);
		char oldest[32], longest[32];

		if (!begin_line(t, y, QUEUES, i))
			return;
		print_duration_short(oldest, sizeof(oldest),
				     s->oldest_ready_ms);
		print_duration_short(longest, sizeof(longest),
				     s->longest_running_ms);
		add_text(s->queue, 20);
		mvprintw(*y - 1, 21,
			 "%10lld %9lld %8lld %8lld %7s %8s %7lld %8.1f %8.1f%s",
			 (long long)s->scheduled, (long long)s->ready,
			 (long long)s->running, (long long)s->dead, oldest,
			 longest, (long long)s->workers,
			 (double)s->done_10s / 10, (double)s->failed_10s / 10,
			 s->paused ? "  paused" : "");
		attroff(A_REVERSE);
	}
}

static void
draw_workers(const struct top *t, int *y)
{
	size_t n = rp_workers_count(t->workers);
	size_t most = (size_t)(LINES > 24 ? LINES / 4 : 4);

	heading(y, "WORKER                             SEEN  RUNNING      "
		   "DONE   FAILED RELEASED");
	for (size_t i = 0; i < n && i < most && *y < LINES - 2; i++) {
		const rp_worker_info *w = rp_workers_at(t->workers, i);
		char seen[32];

		print_duration_short(seen, sizeof(seen), w->silent_ms);
		move((*y)++, 0);
		add_text(w->name, 30);
		mvprintw(*y - 1, 31, "%8s %8lld %9lld %8lld %8lld", seen,
			 (long long)w->running, (long long)w->done,
			 (long long)(w->failed + w->dead),
			 (long long)w->released);
	}
}

static void
draw_jobs(const struct top *t, int pane, int *y, int end)
{
	int64_t now = 0;

	heading(y, pane == RUNNING ? "RUNNING       ATTEMPT       FOR  WORKER"
				   : "DEAD          ATTEMPT            ERROR");
	rp_now(t->cmd->conn, &now);
	for (size_t i = 0; i < count(t, pane) && *y < end; i++) {
		const rp_job *job = rp_batch_at(t->jobs[pane], i);
		char since[32] = "";

		if (!begin_line(t, y, pane, i))
			return;
		if (pane == RUNNING)
			print_duration_short(since, sizeof(since),
					     now > job->claimed_at
						     ? now - job->claimed_at
						     : 0);
		printw("%-12lld %5lld/%-5lld %6s  ", (long long)job->id,
		       (long long)job->attempt, (long long)job->max_attempts,
		       since);
		add_text(pane == RUNNING ? job->worker : job->last_error,
			 COLS - 36);
		attroff(A_REVERSE);
	}
}

static void
draw(const struct top *t)
{
	int y = 0;

	erase();
	draw_queues(t, &y);
	y++;
	draw_workers(t, &y);
	y++;
	draw_jobs(t, RUNNING, &y, y + (LINES - y) / 2);
	y++;
	draw_jobs(t, DEAD, &y, LINES);
	mvaddnstr(LINES - 2, 0, t->said, COLS);
	attron(A_REVERSE);
	mvaddnstr(LINES - 1, 0,
		  "tab: pane  up, down  p pause  u resume  c cancel  r retry  "
		  "q quit",
		  COLS);
	attroff(A_REVERSE);
	refresh();
}

/* ---- the keys ---- */

/* 1: the key was y. */
static int
sure(struct top *t, const char *what, int64_t id)
{
	int key;

	snprintf(t->said, sizeof(t->said), "%s job %lld? y or n", what,
		 (long long)id);
	draw(t);
	timeout(-1);
	key = getch();
	*t->said = '\0';
	return key == 'y';
}

static void
say(struct top *t, int r, const char *what)
{
	snprintf(t->said, sizeof(t->said), "%s",
		 r < 0 ? rp_last_error(t->cmd->conn)->message : what);
}

static void
change_queue(struct top *t, int key)
{
	const char *queue = queue_of(t);

	if (!queue)
		return;
	if (key == 'p')
		say(t, rp_queue_pause(t->cmd->conn, queue), "paused");
	else
		say(t, rp_queue_resume(t->cmd->conn, queue), "resumed");
}

static void
change_job(struct top *t, int key)
{
	int pane = key == 'c' ? RUNNING : DEAD;
	const rp_job *job = rp_batch_at(t->jobs[pane], t->at[pane]);

	if (!job || t->pane != pane)
		snprintf(t->said, sizeof(t->said),
			 "go to the %s job with tab, up and down",
			 pane == RUNNING ? "running" : "dead");
	else if (key == 'c' && sure(t, "cancel", job->id))
		say(t, rp_job_cancel(t->cmd->conn, job->id, NULL), "cancelled");
	else if (key == 'r' && sure(t, "retry", job->id))
		say(t, rp_job_retry(t->cmd->conn, job->id, NULL),
		    "ready again");
}

/* 0: quit. */
static int
on_key(struct top *t, int key)
{
	size_t *at = &t->at[t->pane];

	if (key != ERR)
		*t->said = '\0';
	if (key == '\t')
		t->pane = (t->pane + 1) % PANES;
	else if (key == KEY_UP && *at > 0)
		--*at;
	else if (key == KEY_DOWN && *at + 1 < count(t, t->pane))
		++*at;
	else if (key == 'p' || key == 'u')
		change_queue(t, key);
	else if (key == 'c' || key == 'r')
		change_job(t, key);
	return key != 'q';
}

/* Looking is to take a tenth of the time at the most. */
static int
run(struct top *t)
{
	int r;

	do {
		int64_t from = monotonic_us(), took;

		r = look(t);
		if (r < 0)
			return r;
		draw(t);
		took = (monotonic_us() - from) / 1000;
		timeout((int)(took * 10 > t->interval_ms ? took * 10
							 : t->interval_ms));
	} while (on_key(t, getch()));
	return 0;
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
	return r < 0 ? cmd_failed(t->cmd, r) : DONE;
}

int
cmd_top(struct cmd *cmd, int argc, char **argv)
{
	struct top top = { .cmd = cmd, .interval_ms = 1000 };
	const struct option options[] = { { "--interval", DURATION,
					    &top.interval_ms },
					  { NULL, FLAG, NULL } };
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
