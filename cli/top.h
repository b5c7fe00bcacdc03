/*
 * top.h - declarations that the files of `readpast top` share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * Each list on the screen has a cursor, the row that keys apply to. The program
 * repeats these steps:
 *   - read the database (top_look.c);
 *   - put each cursor on the object that it was on before, because the rows may
 *     have changed, and divide the screen's lines among the lists
 *     (top_place.c);
 *   - draw the screen (top_draw.c, top_table.c);
 *   - wait for a key. It moves a cursor, or asks a question and then changes
 *     the database (top_keys.c).
 */
#ifndef TOP_H
#define TOP_H

#include "cmd.h"

/* The lists on the screen, from top to bottom. */
enum { QUEUES, WORKERS, RUNNING, DEAD, PANES };

/* The queue, worker or job that a row shows. It is used to find this row again
 * after the list was read anew and the row numbers have changed. */
struct subject {
	char queue[RP_MOST_NAME + 1]; /* the queue's name in the list QUEUES; ""
				       * in the other lists */
	int64_t id;                   /* id of a worker or a job */
};

struct pane {
	size_t at;              /* number of the cursor's row */
	struct subject subject; /* what the cursor's row shows */
	size_t first;           /* number of the first row that the screen
				 * shows */
	int rows;               /* number of rows that the screen shows */
};

/* An action that a key starts on the cursor's row. */
struct action {
	int key, pane;
	const char *verb; /* "pause" */
	const char *done; /* "paused" */
	int (*run)(rp_conn *conn, const struct subject *subject);
};
extern const struct action top_actions[]; /* the last entry has no verb */

struct top {
	struct cmd *cmd;
	int64_t interval_ms;

	/* The data that the last refresh has read. top_forget() frees them. */
	int64_t now; /* the database's clock */
	rp_stats *stats;
	rp_workers *workers;
	const rp_worker_info **by_name; /* workers, sorted by name */
	rp_batch *jobs[PANES]; /* RUNNING, DEAD: jobs of the selected queue */

	struct pane panes[PANES];
	int pane;     /* the list that has the focus */
	int is_alone; /* 1: the screen has room for this list only */

	const struct action *asked; /* the action that the open question asks
				     * about, or NULL */
	struct subject about;
	char said[512]; /* the message about the last key */
};

/* top_look.c: the first two return 0 or an error code */
int top_look(struct top *t);
int top_look_for_jobs(struct top *t); /* read the jobs of the selected queue */
void top_forget(struct top *t);
size_t top_count(const struct top *t, int pane);
int top_is_partial(const struct top *t, int pane); /* returns 1 if there may be
						    * more rows */
/* Returns the object of a row: an rp_queue_stats, rp_worker_info or rp_job.
 * Returns NULL after the last row. */
const void *top_row(const struct top *t, int pane, size_t i);

/* top_place.c */
void top_describe(char *to, size_t room, int pane, const struct subject *s);
void top_move(struct top *t, int pane, size_t row); /* moves the cursor to this
						     * row or, if the list is
						     * shorter, to its last
						     * row */
void top_find_cursor(struct top *t, int pane); /* finds the cursor's row again,
						* after rows were added or
						* removed */
void top_place(struct top *t, int lines);      /* `lines`: the screen's lines */

/* top_table.c: if `row` is NULL, top_add_row() prints the heading */
#define MOST_COLUMNS 12
struct layout {
	int widths[MOST_COLUMNS]; /* 0: the column is left out */
};
void top_fit(const struct top *t, int pane, int room, struct layout *ret);
void top_add_row(const struct top *t, int pane, const struct layout *layout,
		 const void *row);
void top_add_text(const char *text, int width);

/* top_draw.c */
/* a line for messages, and a line for keys or a question */
#define TOP_LINES 2
void top_draw(const struct top *t);

/* top_keys.c */
enum { TOP_QUIT, TOP_GO_ON, TOP_CHANGED };
int top_on_key(struct top *t, int key); /* TOP_*, or an error code */

#endif
