/*
 * top_table.c - show the lists of `readpast top` as tables: choose the columns
 * that fit, and format their cells.
 *
 * Numbers are never cut. If the screen is too narrow for a number, the column
 * of this number is left out. Text is cut to the remaining width, and a + marks
 * the cut.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#define NCURSES_WIDECHAR 1
#include "top.h"

#include <curses.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define CELL (RP_MOST_REASON + 16)

/* The kinds of cells. A cell shows one or two members of the struct of its row,
 * for example of rp_queue_stats. Only the first two kinds are left-aligned. */
enum cell {
	CELL_TEXT,    /* text; a column of text gets the remaining width */
	CELL_STATE,   /* text: whether a queue is paused and why, or is held */
	CELL_NUMBER,  /* a number */
	CELL_SUM,     /* sum of two numbers */
	CELL_COUNT,   /* a number; with a plus sign if it is a lower bound */
	CELL_RATE,    /* jobs per second, averaged over 10 s */
	CELL_SPAN,    /* a duration */
	CELL_SINCE,   /* a time, printed as the duration since that time */
	CELL_ATTEMPT, /* attempt/max_attempts */
};

struct column {
	const char *title; /* NULL ends the table */
	enum cell cell;
	/* Offsets in the struct of the row: of the member that the cell shows,
	 * and of a second member if the cell shows two. */
	size_t offset, second;
	/* Smallest width, in characters. A column of text is narrower if its
	 * longest text is shorter. The last columns become narrower still if
	 * the row does not fit when all columns are left out that may be. */
	int width;
	/* 0: the column is always shown. Other columns are left out one by one
	 * while the row is too wide, those with the largest `leaves` first. */
	int leaves;
};

#define OF_QUEUE(member) offsetof(rp_queue_stats, member)
#define OF_WORKER(member) offsetof(rp_worker_info, member)
#define OF_JOB(member) offsetof(rp_job, member)
#define COUNT_OF(member)                                                       \
	CELL_COUNT, OF_QUEUE(member), OF_QUEUE(member##_at_least)
#define COLUMNS_END                                                            \
	{                                                                      \
		NULL, CELL_TEXT, 0, 0, 0, 0                                    \
	}

static const struct column queue_columns[] = {
	{ "QUEUE", CELL_TEXT, OF_QUEUE(queue), 0, 20, 0 },
	{ "READY", COUNT_OF(ready), 8, 1 },
	{ "BLOCKED", COUNT_OF(blocked), 7, 5 },
	{ "RUNNING", COUNT_OF(running), 7, 2 },
	{ "DEAD", CELL_NUMBER, OF_QUEUE(dead), 0, 7, 3 },
	{ "OLDEST", CELL_SPAN, OF_QUEUE(oldest_ready_ms), 0, 6, 4 },
	{ "SCHEDULED", COUNT_OF(scheduled), 9, 6 },
	{ "WORKERS", CELL_NUMBER, OF_QUEUE(workers), 0, 7, 7 },
	{ "DONE/s", CELL_RATE, OF_QUEUE(done_10s), 0, 8, 8 },
	{ "FAILED/s", CELL_RATE, OF_QUEUE(failed_10s), 0, 8, 9 },
	{ "LONGEST", CELL_SPAN, OF_QUEUE(longest_running_ms), 0, 7, 10 },
	{ "STATE", CELL_STATE, 0, 0, 7, 0 },
	COLUMNS_END,
};

static const struct column worker_columns[] = {
	{ "WORKER", CELL_TEXT, OF_WORKER(name), 0, 20, 0 },
	{ "SEEN", CELL_SPAN, OF_WORKER(silent_ms), 0, 7, 1 },
	{ "RUNNING", CELL_COUNT, OF_WORKER(running),
	  OF_WORKER(running_at_least), 7, 2 },
	{ "DONE", CELL_NUMBER, OF_WORKER(done), 0, 9, 3 },
	{ "FAILED", CELL_SUM, OF_WORKER(failed), OF_WORKER(dead), 8, 4 },
	{ "RELEASED", CELL_NUMBER, OF_WORKER(released), 0, 8, 6 },
	{ "QUEUES", CELL_TEXT, OF_WORKER(queues), 0, 12, 5 },
	COLUMNS_END,
};

static const struct column running_columns[] = {
	{ "RUNNING", CELL_NUMBER, OF_JOB(id), 0, 11, 0 },
	{ "ATTEMPT", CELL_ATTEMPT, OF_JOB(attempt), OF_JOB(max_attempts), 9,
	  2 },
	{ "FOR", CELL_SINCE, OF_JOB(claimed_at), 0, 7, 1 },
	{ "WORKER", CELL_TEXT, OF_JOB(worker), 0, 12, 0 },
	{ "PROGRESS", CELL_TEXT, OF_JOB(progress), 0, 12, 3 },
	COLUMNS_END,
};

static const struct column dead_columns[] = {
	{ "DEAD", CELL_NUMBER, OF_JOB(id), 0, 11, 0 },
	{ "ATTEMPT", CELL_ATTEMPT, OF_JOB(attempt), OF_JOB(max_attempts), 9,
	  1 },
	{ "ERROR", CELL_TEXT, OF_JOB(last_error), 0, 12, 0 },
	COLUMNS_END,
};

static const struct column *const tables[PANES] = {
	[QUEUES] = queue_columns,
	[WORKERS] = worker_columns,
	[RUNNING] = running_columns,
	[DEAD] = dead_columns,
};

/* ---- text ---- */

/* Decode the next character, and return its width on the screen. Control
 * characters are replaced, because they could move the terminal's cursor. */
static int
next_character(const char **text, mbstate_t *state, wchar_t *ret)
{
	size_t n = mbrtowc(ret, *text, strlen(*text), state);
	int columns;

	if (n == (size_t)-1 || n == (size_t)-2) {
		memset(state, 0, sizeof(*state));
		n = 1;
		*ret = L'?';
	}
	*text += n;
	columns = wcwidth(*ret);
	if (columns < 0)
		*ret = iswspace((wint_t)*ret) ? L' ' : L'?';
	return columns < 0 ? 1 : columns;
}

/* Returns the width of a text on the screen. Counting stops above `most`. */
static int
text_width(const char *text, int most)
{
	mbstate_t state = { 0 };
	int width = 0;
	wchar_t c;

	while (*text && width <= most)
		width += next_character(&text, &state, &c);
	return width;
}

/* Print a text, cut or padded with blanks to `width` columns. */
void
top_add_text(const char *text, int width)
{
	int is_cut = text_width(text, width) > width;
	int room = is_cut ? width - 1 : width;
	mbstate_t state = { 0 };

	if (width < 1)
		return;
	while (*text) {
		wchar_t c[2] = { L'\0' };
		int columns = next_character(&text, &state, c);

		if (columns > room)
			break;
		addwstr(c);
		room -= columns;
	}
	while (room-- > 0)
		addch(' ');
	if (is_cut)
		addch('+');
}

/* ---- cells ---- */

static int
is_text(const struct column *column)
{
	return column->cell == CELL_TEXT || column->cell == CELL_STATE;
}

static int64_t
number_at(const void *row, size_t offset)
{
	return *(const int64_t *)(const void *)((const char *)row + offset);
}

static int
flag_at(const void *row, size_t offset)
{
	return *(const int *)(const void *)((const char *)row + offset);
}

static const char *
text_at(const void *row, size_t offset)
{
	const char *text = *(
		const char *const *)(const void *)((const char *)row + offset);

	return text ? text : "";
}

static const char *
state_text(const rp_queue_stats *queue, int64_t now, char to[CELL])
{
	const char *reason = queue->pause_reason;
	char left[32];

	if (queue->paused) {
		snprintf(to, CELL, "paused%s%s", reason ? ": " : "",
			 reason ? reason : "");
	} else if (queue->held_until > now) {
		print_duration_short(left, sizeof(left),
				     queue->held_until - now);
		snprintf(to, CELL, "held: %s left", left);
	} else {
		*to = '\0';
	}
	return to;
}

/* Returns the text of a cell. Numbers are formatted into `to`. */
static const char *
cell_text(const struct top *t, const struct column *column, const void *row,
	  char to[CELL])
{
	int64_t n;

	if (!row)
		return column->title;
	if (column->cell == CELL_TEXT)
		return text_at(row, column->offset);
	if (column->cell == CELL_STATE)
		return state_text(row, t->now, to);
	n = number_at(row, column->offset);
	if (column->cell == CELL_SUM)
		n += number_at(row, column->second);
	if (column->cell == CELL_COUNT)
		format_count(to, CELL, n, flag_at(row, column->second));
	else if (column->cell == CELL_RATE)
		snprintf(to, CELL, "%.1f", (double)n / 10);
	else if (column->cell == CELL_SPAN)
		print_duration_short(to, CELL, n);
	else if (column->cell == CELL_SINCE)
		print_duration_short(to, CELL, t->now > n ? t->now - n : 0);
	else if (column->cell == CELL_ATTEMPT)
		snprintf(to, CELL, "%lld/%lld", (long long)n,
			 (long long)number_at(row, column->second));
	else
		snprintf(to, CELL, "%lld", (long long)n);
	return to;
}

/* ---- columns ---- */

static int
smaller(int a, int b)
{
	return a < b ? a : b;
}

/* Returns the width of the widest cell of all rows. All rows are measured, so
 * that columns keep their widths when the list scrolls. */
static int
widest_cell(const struct top *t, int pane, const struct column *column,
	    int most)
{
	int widest = text_width(column->title, most);
	char to[CELL];

	for (size_t i = 0; i < top_count(t, pane) && widest <= most; i++) {
		int width = text_width(
			cell_text(t, column, top_row(t, pane, i), to), most);

		widest = width > widest ? width : widest;
	}
	return smaller(widest, most);
}

/* Returns the index of the column that is left out next because the row is too
 * wide. Returns -1 if no further column may be left out. */
static int
next_to_leave(const struct column *columns, const int widths[])
{
	int ret = -1;

	for (int i = 0; columns[i].title; i++)
		if (widths[i] && columns[i].leaves &&
		    (ret < 0 || columns[i].leaves > columns[ret].leaves))
			ret = i;
	return ret;
}

/* Choose the widths of the columns. One blank separates two columns. Text
 * columns get the remaining width. */
void
top_fit(const struct top *t, int pane, int room, struct layout *ret)
{
	const struct column *columns = tables[pane];
	int widest[MOST_COLUMNS], *widths = ret->widths, left = room + 1;
	int n = 0, last;

	for (; columns[n].title; n++) {
		int least = columns[n].width;

		widest[n] = widest_cell(t, pane, &columns[n], room);
		widths[n] = widest[n];
		if (is_text(&columns[n]) ? widest[n] > least
					 : widest[n] < least)
			widths[n] = least;
		left -= widths[n] + 1;
	}
	while (left < 0 && (last = next_to_leave(columns, widths)) >= 0) {
		left += widths[last] + 1;
		widths[last] = 0;
	}
	for (int i = 0; i < n && left > 0; i++)
		if (widths[i] && is_text(&columns[i])) {
			int more = smaller(widest[i] - widths[i], left);

			widths[i] += more;
			left -= more;
		}
	/* If even the columns that are always shown do not fit, make them
	 * narrower. */
	for (int i = n - 1; i >= 0 && left < 0; i--) {
		int less = smaller(widths[i], -left);

		widths[i] -= less;
		left += less;
	}
}

void
top_add_row(const struct top *t, int pane, const struct layout *layout,
	    const void *row)
{
	const struct column *columns = tables[pane];
	const char *blank = "";

	for (int i = 0; columns[i].title; i++) {
		int width = layout->widths[i];
		char to[CELL], right[CELL];
		const char *text = cell_text(t, &columns[i], row, to);

		if (!width)
			continue;
		if (!is_text(&columns[i])) {
			snprintf(right, sizeof(right), "%*s", width, text);
			text = right;
		}
		addstr(blank);
		top_add_text(text, width);
		blank = " ";
	}
}
