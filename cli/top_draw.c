/*
 * top_draw.c - draw the screen of `readpast top`: four lists, one above the
 * other, and two lines below them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <curses.h>
#include <string.h>

/* Draw a row. If the cursor is on the row, it is highlighted up to the edge of
 * the screen. */
static void
draw_row(const struct top *t, int pane, const struct layout *layout, size_t i,
	 int y)
{
	const struct pane *p = &t->panes[pane];
	attr_t attr = i != p->at        ? A_NORMAL
		      : pane == t->pane ? A_REVERSE
					: A_BOLD;

	attrset((int)attr);
	mvhline(y, 0, ' ', COLS);
	top_add_row(t, pane, layout, top_row(t, pane, i));
	attrset(A_NORMAL);
}

/* Draw a list. Its heading is on line `y`. Returns the number of the line after
 * the list. */
static int
draw_list(const struct top *t, int pane, int y)
{
	const struct pane *p = &t->panes[pane];
	struct layout layout;

	top_fit(t, pane, COLS, &layout);
	attrset(pane == t->pane ? A_BOLD | A_UNDERLINE : A_BOLD);
	move(y++, 0);
	top_add_row(t, pane, &layout, NULL);
	attrset(A_NORMAL);
	for (int i = 0; i < p->rows; i++)
		draw_row(t, pane, &layout, p->first + (size_t)i, y++);
	return y;
}

/* Describe the row under the cursor, and its position in the list. */
static void
describe_cursor(const struct top *t, char *to, size_t room)
{
	static const char *const lists[] = { [QUEUES] = "queues",
					     [WORKERS] = "workers",
					     [RUNNING] = "running jobs",
					     [DEAD] = "dead jobs" };
	const struct pane *p = &t->panes[t->pane];
	size_t n = top_count(t, t->pane);
	char what[sizeof(p->subject.queue) + 16], count[32];
	const char *queue = t->panes[QUEUES].subject.queue;
	int of_queue = *queue && (t->pane == RUNNING || t->pane == DEAD);

	top_describe(what, sizeof(what), t->pane, &p->subject);
	format_count(count, sizeof(count), (int64_t)n,
		     top_is_partial(t, t->pane));
	if (n)
		snprintf(to, room, "%s: %zu of %s %s%s%s", what, p->at + 1,
			 count, lists[t->pane], of_queue ? " of queue " : "",
			 of_queue ? queue : "");
	else
		snprintf(to, room, "no %s%s%s", lists[t->pane],
			 of_queue ? " of queue " : "", of_queue ? queue : "");
}

static void
draw_line_above_keys(const struct top *t)
{
	char text[sizeof(t->said)];

	if (*t->said)
		snprintf(text, sizeof(text), "%s", t->said);
	else
		describe_cursor(t, text, sizeof(text));
	move(LINES - TOP_LINES, 0);
	top_add_text(text, COLS);
}

static void
draw_last_line(const struct top *t)
{
	char text[sizeof(t->about.queue) + 64];
	int n;

	if (t->asked) {
		char what[sizeof(t->about.queue) + 16];

		top_describe(what, sizeof(what), t->asked->pane, &t->about);
		snprintf(text, sizeof(text), "y or n: %s %s?", t->asked->verb,
			 what);
	} else {
		n = snprintf(text, sizeof(text), "tab list");
		for (const struct action *a = top_actions; a->verb; a++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      "  %c %s", a->key, a->verb);
		snprintf(text + n, sizeof(text) - (size_t)n, "  q quit");
	}
	attrset(A_REVERSE);
	move(LINES - 1, 0);
	/* Leave the last column of the last line empty, because some terminals
	 * scroll if it is written. */
	top_add_text(text, COLS - 1);
	attrset(A_NORMAL);
}

void
top_draw(const struct top *t)
{
	int y = 0;

	erase();
	for (int i = 0; i < PANES; i++)
		if (!t->is_alone || (i == t->pane && LINES > TOP_LINES))
			y = draw_list(t, i, y) + 1;
	if (LINES >= TOP_LINES)
		draw_line_above_keys(t);
	draw_last_line(t);
	refresh();
}
