/*
 * top.h - what the files of `readpast top` share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TOP_H
#define TOP_H

#include "cmd.h"

/* The lists that the cursor can be in. */
enum { QUEUES, RUNNING, DEAD, PANES };

struct pane {
	size_t at;    /* the row that the cursor is on */
	size_t first; /* the first row that is shown */
	int rows;     /* so many are shown */
	/* The cursor stays on the same queue or job when rows come and go. */
	char queue[129];
	int64_t id;
};

struct top {
	struct cmd *cmd;
	int64_t interval_ms;
	int64_t now; /* the database's clock */
	rp_stats *stats;
	rp_workers *workers;
	rp_batch *jobs[PANES]; /* of the queue: running, dead */
	int pane;              /* that the cursor is in */
	int changed;           /* by a key: read it again */
	struct pane panes[PANES];
	char said[240];     /* the line above the last: what a key did */
	char question[240]; /* the last line, instead of the keys */
};

size_t top_count(const struct top *t, int pane);

/* top_draw.c: all of the screen. Notes in the panes how many rows are shown. */
void top_draw(struct top *t);

#endif
