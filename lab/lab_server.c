/*
 * lab_server.c - the lab on a server: make and remove a scratch schema, and
 * read the server's own statistics about the workers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "process.h"

/* how long to wait for the end of the sessions of killed workers, in ms */
#define GONE_MS 5000

static const struct lab_script *
scratch(const struct lab *lab)
{
	return lab_find(lab->scripts, "scratch");
}

/* Return the user's URL, changed to use the scratch schema. The URL also sets
 * an application_name that marks the sessions of this run. */
static char *
server_url(struct lab *lab)
{
	const char *url = lab->options->url;
	const char *name = lab->name;
	int server = strstr(url, "://") != NULL;
	char *ret;

	srandom((unsigned)(monotonic_us() ^ getpid() * 7919L));
	snprintf(lab->name, sizeof(lab->name), "readpast_lab_%ld",
		 100000000 + random() % 900000000);
	if (asprintf(&ret, "%s%s%s%s%cschema=%s%s%s",
		     server ? "" : "application_name=", server ? "" : name,
		     server ? "" : " ", url, strchr(url, '?') ? '&' : '?', name,
		     server ? "&application_name=" : "",
		     server ? name : "") < 0)
		return NULL;
	return ret;
}

/* ---- the scratch ---- */

static int
server_session(const struct lab *lab, struct lab_side *side)
{
	return rp__is_pooled(side->conn)
		       ? lab_fail(side->why,
				  "a pooler is in front of the server: use "
				  "the URL of the server itself")
		       : lab_section(side, scratch(lab), "session", NULL);
}

static int
drop(struct lab *lab, const char *name)
{
	int r;

	lab_set(&lab->control.vars, "scratch", name);
	r = lab_section(&lab->control, scratch(lab), "drop", NULL);
	lab_set(&lab->control.vars, "scratch", lab->name);
	return r;
}

/* Remove the schemas of earlier runs that were killed, and report their
 * names. */
static int
drop_leftovers(struct lab *lab)
{
	struct lab_rows rows;
	char text[200];
	int r = lab_section(&lab->control, scratch(lab), "leftovers", &rows);

	for (size_t i = 0; i < rows.count && r == 0; i++) {
		const char *name = rows.values[i][0];

		r = drop(lab, name);
		snprintf(text, sizeof(text), "schema %s", name);
		if (r == 0)
			lab->left(text);
	}
	return r;
}

static int
server_prepare(struct lab *lab, const struct lab_script *script)
{
	struct lab_rows rows;
	int r = lab_section(&lab->control, scratch(lab), "version", &rows);
	int version = r == 0 ? atoi(rows.values[0][0]) : 0;

	if (r != 0)
		return r;
	if (version < script->needs) {
		lab_fail(lab->control.why,
			 "%s needs PostgreSQL %d or later, and this server is "
			 "%d",
			 script->feature, script->needs, version);
		return LAB_CANNOT;
	}
	r = drop_leftovers(lab);
	if (r == 0)
		r = lab_section(&lab->control, scratch(lab), "create", NULL);
	return r;
}

/* Remove the scratch schema. First wait until the sessions of killed workers
 * have ended, because they may still hold locks. */
static int
server_remove(struct lab *lab)
{
	const struct timespec nap = { 0, 10000000 };
	int64_t until = monotonic_us() + GONE_MS * 1000;
	struct lab_side *side = &lab->control;
	struct lab_rows rows = { .count = 0 };
	char name[sizeof(lab->name) + 2];
	int r, r2;

	if (!side->conn)
		return 0;
	r = lab_section(side, scratch(lab), "end", NULL);
	while (r == 0 && monotonic_us() < until) {
		r = lab_section(side, scratch(lab), "others", &rows);
		if (r == 0 && atoi(rows.values[0][0]) == 0)
			break;
		nanosleep(&nap, NULL);
	}
	snprintf(name, sizeof(name), "%s_t", lab->name);
	r = drop(lab, name);
	r2 = drop(lab, lab->name);
	return r ? r : r2;
}

/* ---- the cost of a run, and the locks for which workers wait ---- */

static int
log_position(struct lab *lab, int64_t *ret)
{
	struct lab_rows rows;
	int r = lab_section(&lab->control, scratch(lab), "log", &rows);

	*ret = r == 0 ? atoll(rows.values[0][0]) : 0;
	return r;
}

static int
server_begin(struct lab *lab)
{
	return log_position(lab, &lab->log_began);
}

static int
server_finish(struct lab *lab)
{
	int64_t now;
	int r = log_position(lab, &now);

	lab->result.log_bytes = now - lab->log_began;
	return r;
}

/* Take a sample of the sessions that wait for locks. A session that waits now
 * is counted as if it had waited since the previous sample. */
static int
server_watch(struct lab *lab, int64_t passed_us)
{
	struct lab_rows rows;
	int r = lab_section(&lab->control, scratch(lab), "waits", &rows);
	int64_t most = 0;

	for (size_t i = 0; i < rows.count && r == 0; i++) {
		int64_t us = atoll(rows.values[i][1]) * passed_us;

		lab->result.blocked_us += us;
		if (us > most)
			snprintf(lab->result.waited_for,
				 sizeof(lab->result.waited_for), "%.23s",
				 rows.values[i][0]);
		most = us > most ? us : most;
	}
	return r;
}

const struct lab_place lab_server = {
	.url_of = server_url,
	.prepare = server_prepare,
	.session = server_session,
	.watch = server_watch,
	.begin = server_begin,
	.finish = server_finish,
	.remove = server_remove,
};
