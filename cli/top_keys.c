/*
 * top_keys.c - the keys of `readpast top`.
 *
 * A key that changes something applies to the row under the cursor, and the
 * user has to confirm the change. The program changes the queue or job that the
 * row showed when the question appeared, even if the rows have moved since
 * then.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <curses.h>
#include <string.h>

/* ---- actions ---- */

static int
pause_queue(rp_conn *conn, const struct subject *subject)
{
	return rp_queue_pause(conn, subject->queue, NULL);
}

static int
resume_queue(rp_conn *conn, const struct subject *subject)
{
	return rp_queue_resume(conn, subject->queue);
}

static int
cancel_job(rp_conn *conn, const struct subject *subject)
{
	return rp_job_cancel(conn, subject->id, NULL);
}

static int
retry_job(rp_conn *conn, const struct subject *subject)
{
	return rp_job_retry(conn, subject->id, NULL);
}

const struct action top_actions[] = {
	{ 'p', QUEUES, "pause", "paused", pause_queue },
	{ 'u', QUEUES, "resume", "resumed", resume_queue },
	{ 'c', RUNNING, "cancel", "cancelled", cancel_job },
	{ 'r', DEAD, "retry", "ready again", retry_job },
	{ 0, 0, NULL, NULL, NULL },
};

/* ---- the question to the user, and the answer ---- */

static void
ask(struct top *t, const struct action *action)
{
	static const char *const rows[] = { [QUEUES] = "a queue",
					    [RUNNING] = "a running job",
					    [DEAD] = "a dead job" };
	const struct pane *pane = &t->panes[action->pane];

	if (t->pane != action->pane || pane->rows == 0) {
		snprintf(t->said, sizeof(t->said),
			 "%c: first select %s with tab, up and down",
			 action->key, rows[action->pane]);
		return;
	}
	t->asked = action;
	t->about = pane->subject;
}

static int
answer(struct top *t, int key)
{
	const struct action *action = t->asked;
	char what[sizeof(t->about.queue) + 16];
	int r = 0;

	t->asked = NULL;
	if (key != 'y') {
		snprintf(t->said, sizeof(t->said), "nothing was changed");
		return TOP_GO_ON;
	}
	r = action->run(t->cmd->conn, &t->about);
	top_describe(what, sizeof(what), action->pane, &t->about);
	if (r < 0)
		snprintf(t->said, sizeof(t->said), "%s",
			 rp_last_error(t->cmd->conn)->message);
	else
		snprintf(t->said, sizeof(t->said), "%s is %s", what,
			 action->done);
	return TOP_CHANGED;
}

/* ---- the cursor ---- */

/* Returns the number of the row to which a key moves the cursor. A number after
 * the last row means the last row. */
static size_t
row_of_key(const struct pane *pane, int key)
{
	size_t page = pane->rows > 1 ? (size_t)pane->rows - 1 : 1;

	switch (key) {
	case KEY_UP:
		return pane->at > 0 ? pane->at - 1 : 0;
	case KEY_DOWN:
		return pane->at + 1;
	case KEY_PPAGE:
		return pane->at > page ? pane->at - page : 0;
	case KEY_NPAGE:
		return pane->at + page;
	case KEY_HOME:
		return 0;
	case KEY_END:
		return SIZE_MAX;
	default:
		return pane->at;
	}
}

static int
move_cursor(struct top *t, int key)
{
	struct pane *pane = &t->panes[t->pane];
	size_t was = pane->at;
	int r = 0;

	top_move(t, t->pane, row_of_key(pane, key));
	if (t->pane == QUEUES && pane->at != was)
		r = top_look_for_jobs(t);
	return r < 0 ? r : TOP_GO_ON;
}

int
top_on_key(struct top *t, int key)
{
	const struct action *action = top_actions;

	if (key == ERR || key == KEY_RESIZE)
		return TOP_GO_ON;
	*t->said = '\0';
	if (t->asked)
		return answer(t, key);
	if (key == 'q')
		return TOP_QUIT;
	while (action->verb && action->key != key)
		action++;
	if (action->verb)
		ask(t, action);
	else if (key == '\t')
		t->pane = (t->pane + 1) % PANES;
	else if (key == KEY_BTAB)
		t->pane = (t->pane + PANES - 1) % PANES;
	else
		return move_cursor(t, key);
	return TOP_GO_ON;
}
