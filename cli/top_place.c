/*
 * top_place.c - the selected row and the visible rows of each list that
 * `readpast top` shows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <string.h>

/* Each list shows at least this many rows, if it has them. */
#define LEAST_ROWS 2

/* ---- the cursor ---- */

void
top_describe(char *to, size_t room, int pane, const struct subject *s)
{
	if (pane == QUEUES)
		snprintf(to, room, "queue %s", s->queue);
	else
		snprintf(to, room, "%s %lld",
			 pane == WORKERS ? "worker" : "job", (long long)s->id);
}

static struct subject
subject_of(const struct top *t, int pane, size_t i)
{
	const void *row = top_row(t, pane, i);
	struct subject ret = { .id = 0 };

	if (row && pane == QUEUES)
		snprintf(ret.queue, sizeof(ret.queue), "%s",
			 ((const rp_queue_stats *)row)->queue);
	else if (row)
		ret.id = pane == WORKERS ? ((const rp_worker_info *)row)->id
					 : ((const rp_job *)row)->id;
	return ret;
}

void
top_move(struct top *t, int pane, size_t row)
{
	size_t n = top_count(t, pane);
	struct pane *p = &t->panes[pane];

	p->at = row < n ? row : n ? n - 1 : 0;
	p->subject = subject_of(t, pane, p->at);
}

/* Keep the cursor on the same queue, worker or job. If this object no longer
 * exists, leave the cursor at the same row number. */
void
top_find_cursor(struct top *t, int pane)
{
	const struct pane *p = &t->panes[pane];
	size_t n = top_count(t, pane), row = 0;

	for (; row < n; row++) {
		struct subject s = subject_of(t, pane, row);

		if (s.id == p->subject.id &&
		    strcmp(s.queue, p->subject.queue) == 0)
			break;
	}
	top_move(t, pane, row < n ? row : p->at);
}

/* ---- the screen ---- */

/* Give each list a few rows. Then give the remaining rows, in turn, to lists
 * that have more rows than are shown. */
static void
share_rows(struct top *t, int rows)
{
	int given = 1;

	for (int i = 0; i < PANES; i++) {
		size_t n = top_count(t, i);

		t->panes[i].rows = n < LEAST_ROWS ? (int)n : LEAST_ROWS;
		rows -= t->panes[i].rows;
	}
	while (given) {
		given = 0;
		for (int i = 0; i < PANES && rows > 0; i++)
			if ((size_t)t->panes[i].rows < top_count(t, i)) {
				t->panes[i].rows++;
				rows--;
				given = 1;
			}
	}
}

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

/* Divide the screen's lines among the lists. Each list has a heading, and a
 * blank line separates two lists. If the screen has too few lines for all
 * lists, it shows only the list with the cursor. */
void
top_place(struct top *t, int lines)
{
	int rows = lines - (2 * PANES - 1);
	size_t n = top_count(t, t->pane);

	for (int i = 0; i < PANES; i++)
		t->panes[i].rows = 0;
	t->is_alone = rows < PANES * LEAST_ROWS;
	if (!t->is_alone)
		share_rows(t, rows);
	else if (lines > 1)
		t->panes[t->pane].rows =
			n < (size_t)lines - 1 ? (int)n : lines - 1;
	for (int i = 0; i < PANES; i++)
		scroll_to_cursor(&t->panes[i], top_count(t, i));
}
