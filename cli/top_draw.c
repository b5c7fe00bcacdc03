/*
 * top_draw.c - the screen of `readpast top`: four lists, one above the other.
 *
 * A list has columns of figures, and a text that takes what room is left. On a
 * narrow screen the last columns are left out, never cut; on a low one each
 * list shows fewer rows, and scrolls.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#define NCURSES_WIDECHAR 1
#include "top.h"

#include <curses.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define CELL 32
#define MOST_COLUMNS 12
#define LEAST_TEXT 12 /* columns of the screen */
#define LEAST_ROWS 2  /* of a list, if it has so many */

struct column {
	const char *title;
	int width; /* with a space in front */
};

/* A list: its columns in order of importance, ended by a NULL title, and a text
 * in front of them, or behind. */
struct list {
	const char *text;
	const struct column *columns;
	int most_text; /* it takes no more room than this */
	int text_is_last;
};

static const struct column queue_columns[] = {
	{ "", 7 },        { "READY", 9 },  { "RUNNING", 8 },
	{ "DEAD", 8 },    { "OLDEST", 8 }, { "SCHEDULED", 10 },
	{ "WORKERS", 8 }, { "DONE/s", 9 }, { "FAILED/s", 9 },
	{ "LONGEST", 8 }, { NULL, 0 },
};
static const struct column worker_columns[] = {
	{ "SEEN", 8 },   { "RUNNING", 8 },  { "DONE", 10 },
	{ "FAILED", 9 }, { "RELEASED", 9 }, { NULL, 0 },
};
static const struct column running_columns[] = {
	{ "RUNNING", 12 },
	{ "ATTEMPT", 10 },
	{ "FOR", 8 },
	{ NULL, 0 },
};
static const struct column dead_columns[] = {
	{ "DEAD", 12 },
	{ "ATTEMPT", 10 },
	{ NULL, 0 },
};
static const struct list queues = { "QUEUE", queue_columns, 40, 0 };
static const struct list workers = { "WORKER", worker_columns, 40, 0 };
static const struct list jobs[] = {
	[RUNNING] = { "WORKER", running_columns, INT_MAX, 1 },
	[DEAD] = { "ERROR", dead_columns, INT_MAX, 1 },
};

/* ---- text ---- */

/* Write at most `width` columns of a text, and blanks up to there. Text from
 * outside: nothing in it moves the cursor. */
static void
add_text(const char *text, int width)
{
	mbstate_t state = { 0 };
	size_t left = text ? strlen(text) : 0;

	while (left && width > 0) {
		wchar_t c[2] = { L'?', L'\0' };
		size_t n = mbrtowc(c, text, left, &state);
		int columns;

		if (n == (size_t)-1 || n == (size_t)-2 || n == 0) {
			memset(&state, 0, sizeof(state));
			n = 1;
			*c = L'?';
		}
		columns = wcwidth(*c);
		if (columns < 0) {
			*c = L'?';
			columns = 1;
		}
		if (columns > width)
			break;
		addwstr(c);
		text += n;
		left -= n;
		width -= columns;
	}
	while (width-- > 0)
		addch(' ');
}

/* How many columns there is room for, and how much they leave to the text. */
static int
fit(const struct list *list, int *ret_text)
{
	int room = COLS - LEAST_TEXT, n = 0;

	while (list->columns[n].title && room >= list->columns[n].width)
		room -= list->columns[n++].width;
	room += LEAST_TEXT;
	*ret_text = room < list->most_text ? room : list->most_text;
	return n;
}

static void
add_row(int y, const struct list *list, const char *text,
	const char cells[][CELL])
{
	int width, columns = fit(list, &width);

	move(y, 0);
	if (!list->text_is_last)
		add_text(text, width);
	for (int i = 0; i < columns; i++) {
		int room = list->columns[i].width - 1;

		addch(' ');
		printw("%*.*s", room, room, cells[i]);
	}
	if (list->text_is_last) {
		addch(' ');
		add_text(text, width - 1);
	}
}

static void
add_heading(int y, const struct list *list)
{
	char cells[MOST_COLUMNS][CELL];

	for (int i = 0; list->columns[i].title; i++)
		snprintf(cells[i], CELL, "%s", list->columns[i].title);
	attron(A_BOLD);
	add_row(y, list, list->text, (const char(*)[CELL])cells);
	attroff(A_BOLD);
}

/* ---- the rows ---- */

static void
put_number(char *cell, int64_t number)
{
	snprintf(cell, CELL, "%lld", (long long)number);
}

static void
draw_queue(const struct top *t, size_t i, int y)
{
	const rp_queue_stats *s = rp_stats_at(t->stats, i);
	char cells[MOST_COLUMNS][CELL];
	int n = 0;

	snprintf(cells[n++], CELL, "%s", s->paused ? "paused" : "");
	put_number(cells[n++], s->ready);
	put_number(cells[n++], s->running);
	put_number(cells[n++], s->dead);
	print_duration_short(cells[n++], CELL, s->oldest_ready_ms);
	put_number(cells[n++], s->scheduled);
	put_number(cells[n++], s->workers);
	snprintf(cells[n++], CELL, "%.1f", (double)s->done_10s / 10);
	snprintf(cells[n++], CELL, "%.1f", (double)s->failed_10s / 10);
	print_duration_short(cells[n++], CELL, s->longest_running_ms);
	add_row(y, &queues, s->queue, (const char(*)[CELL])cells);
}

static void
draw_worker(const struct top *t, size_t i, int y)
{
	const rp_worker_info *w = rp_workers_at(t->workers, i);
	char cells[MOST_COLUMNS][CELL];
	int n = 0;

	print_duration_short(cells[n++], CELL, w->silent_ms);
	put_number(cells[n++], w->running);
	put_number(cells[n++], w->done);
	put_number(cells[n++], w->failed + w->dead);
	put_number(cells[n++], w->released);
	add_row(y, &workers, w->name, (const char(*)[CELL])cells);
}

static void
draw_job(const struct top *t, int pane, size_t i, int y)
{
	const rp_job *job = rp_batch_at(t->jobs[pane], i);
	char cells[MOST_COLUMNS][CELL];
	int64_t since = t->now > job->claimed_at ? t->now - job->claimed_at : 0;

	put_number(cells[0], job->id);
	snprintf(cells[1], CELL, "%lld/%lld", (long long)job->attempt,
		 (long long)job->max_attempts);
	print_duration_short(cells[2], CELL, since);
	add_row(y, &jobs[pane], pane == RUNNING ? job->worker : job->last_error,
		(const char(*)[CELL])cells);
}

/* ---- the lists ---- */

/* Share the rows of the screen: each list gets a few, and those that have more
 * to show get the rest in turn, the queues first. */
static void
share(int rows, const size_t want[], int ret[], size_t n)
{
	int given;

	for (size_t i = 0; i < n; i++) {
		ret[i] = want[i] < LEAST_ROWS ? (int)want[i] : LEAST_ROWS;
		if (ret[i] > rows)
			ret[i] = rows;
		rows -= ret[i];
	}
	do {
		given = 0;
		for (size_t i = 0; i < n && rows > 0; i++)
			if ((size_t)ret[i] < want[i]) {
				ret[i]++;
				rows--;
				given = 1;
			}
	} while (given);
}

/* Scroll so that the cursor's row is among those that are shown. */
static void
scroll_to_cursor(struct pane *pane, size_t count)
{
	size_t rows = (size_t)pane->rows;

	if (pane->at < pane->first || rows == 0)
		pane->first = pane->at;
	else if (pane->at >= pane->first + rows)
		pane->first = pane->at - rows + 1;
	if (pane->first + rows > count)
		pane->first = count > rows ? count - rows : 0;
}

static int
draw_pane(struct top *t, int which, int y, int rows)
{
	struct pane *pane = &t->panes[which];

	pane->rows = rows;
	scroll_to_cursor(pane, top_count(t, which));
	for (int i = 0; i < rows; i++) {
		size_t row = pane->first + (size_t)i;

		if (which == t->pane && row == pane->at)
			attron(A_REVERSE);
		if (which == QUEUES)
			draw_queue(t, row, y++);
		else
			draw_job(t, which, row, y++);
		attroff(A_REVERSE);
	}
	return y;
}

static void
draw_lists(struct top *t)
{
	const size_t want[] = { top_count(t, QUEUES),
				rp_workers_count(t->workers),
				top_count(t, RUNNING), top_count(t, DEAD) };
	const struct list *const lists[] = { &queues, &workers, &jobs[RUNNING],
					     &jobs[DEAD] };
	const int panes[] = { QUEUES, -1, RUNNING, DEAD };
	int rows[4], y = 0;

	/* Two lines at the end, a heading for each list, a blank between. */
	share(LINES - 2 - 4 - 3, want, rows, 4);
	for (int i = 0; i < 4 && y < LINES - 2; i++) {
		add_heading(y++, lists[i]);
		if (panes[i] >= 0)
			y = draw_pane(t, panes[i], y, rows[i]);
		else
			for (int k = 0; k < rows[i]; k++)
				draw_worker(t, (size_t)k, y++);
		y++;
	}
}

void
top_draw(struct top *t)
{
	erase();
	draw_lists(t);
	move(LINES - 2, 0);
	add_text(t->said, COLS);
	attron(A_REVERSE);
	move(LINES - 1, 0);
	/* The last column of the last line would scroll some terminals. */
	add_text(*t->question ? t->question
			      : "tab list  up down  p pause  u resume  "
				"c cancel  r retry  q quit",
		 COLS - 1);
	attroff(A_REVERSE);
	refresh();
}
