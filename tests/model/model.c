/*
 * model.c - the model, a queue in memory. It has all jobs, as each session sees
 * them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "model.h"

/* ---- the log ---- */

void
say(struct model *m, const char *format, ...)
{
	size_t left = sizeof(m->said) - m->said_size;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(m->said + m->said_size, left, format, args);
	va_end(args);
	m->said_size += n > 0 && (size_t)n < left ? (size_t)n : 0;
}

void
disagree(struct model *m, const char *file, int line, const char *what)
{
	const char *words = rp_last_error(m->sessions[m->s].conn)->message;

	print_error("# schedule of seed %u: %s:%d: not %s (%s)\n", m->began,
		    strrchr(file, '/') + 1, line, what, words);
	for (char *step = strtok(m->said, "\n"); step;
	     step = strtok(NULL, "\n"))
		print_error("#   %s\n", step);
	/* Close all sessions, because their transactions would block the
	 * cleanup. */
	for (int s = 0; s < SESSIONS; s++)
		rp_close(m->sessions[s].conn);
	fail();
}

int
chance(struct model *m, int n)
{
	return rand_r(&m->seed) % n;
}

/* Choose a queue. This is mostly the first queue, so that it has many jobs. */
int
any_queue(struct model *m)
{
	return chance(m, 4) == 0;
}

/* ---- the model ---- */

rp_conn *
conn_of(const struct model *m)
{
	return m->sessions[m->s].conn;
}

/* Return the job as the current session sees it, or NULL. */
struct job *
seen(const struct model *m, struct entry *e)
{
	return e->owner && e->owner != m->s + 1 ? &e->before : &e->now;
}

/* Return whether another session's open transaction has locked this job. */
int
locked(const struct model *m, const struct entry *e)
{
	return e->owner && e->owner != m->s + 1;
}

/* Record that the current session changes or locks the job. Returns the job as
 * this session sees it. */
struct job *
touch(struct model *m, struct entry *e)
{
	if (m->sessions[m->s].open && !e->owner) {
		e->before = e->now;
		e->owner = m->s + 1;
	}
	return &e->now;
}

int
live(const struct job *j)
{
	return j->state >= RP_STATE_SCHEDULED && j->state <= RP_STATE_RUNNING;
}

struct entry *
find(struct model *m, int64_t id)
{
	for (size_t i = m->count; i > 0; i--)
		if (m->entries[i - 1].now.id == id)
			return &m->entries[i - 1];
	return NULL;
}

/* Return whether the database is a file that another session has locked. On a
 * file, an open transaction blocks all other writers. */
int
held_up(const struct model *m)
{
	for (int s = 0; m->on_file && s < SESSIONS; s++)
		if (s != m->s && m->sessions[s].open)
			return 1;
	return 0;
}

/* Return whether the call was refused as busy. Such a call has changed
 * nothing. */
int
busy(struct model *m, int64_t r)
{
	if (held_up(m))
		agree(m, r == RP_EBUSY);
	return held_up(m);
}

/* Make the job ready, and put it at the end of its lane. A lane has the ready
 * jobs of one queue, priority and class. */
void
into_line(struct job *j, int class, int64_t order)
{
	j->state = RP_STATE_READY;
	j->class = class;
	j->order = order;
	j->soon = 0;
	j->loose = 0;
}

void
delay_job(struct job *j, int class, int soon)
{
	j->state = RP_STATE_SCHEDULED;
	j->class = class;
	j->soon = soon;
}
