/*
 * no_postgres.c - what the lab, the doctor and stress have of PostgreSQL, in a
 * build without it: the lab has one technique, which says so when it opens the
 * database. None of the functions is called, for no connection is open.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <string.h>

#include "doctor.h"
#include "run.h"
#include "stress.h"

/* ---- the lab ---- */

const struct lab_script lab_scripts_postgres[] = {
	{ "own", "this readpast was built without PostgreSQL",
	  "-- own: this readpast was built without PostgreSQL\n", NULL, 0, NULL,
	  NULL },
	{ NULL, NULL, NULL, NULL, 0, NULL, NULL },
};

static char *
url_of(struct lab *lab)
{
	return strdup(lab->options->url);
}

static int
remove_scratch(struct lab *lab)
{
	(void)lab;
	return 0;
}

const struct lab_dialect lab_postgres = {
	.url_of = url_of,
	.remove = remove_scratch,
};

/* ---- the doctor ---- */

const struct question questions_postgres[] = { { NULL, NULL } };

int
ask_postgres(struct doctor *d, const char *sql, json_t *rows)
{
	(void)d;
	(void)sql;
	(void)rows;
	return -1;
}

int
look_wakeup(struct doctor *d)
{
	(void)d;
	return -1;
}

int
look_plan(struct doctor *d)
{
	(void)d;
	return -1;
}

/* ---- stress ---- */

int
server_counters(struct stress *stress, rp_conn *conn, struct server *ret)
{
	(void)stress;
	(void)conn;
	(void)ret;
	return -1;
}

int
server_waits(struct stress *stress, rp_conn *conn)
{
	(void)stress;
	(void)conn;
	return -1;
}

int
server_pin(struct stress *stress, rp_conn *conn)
{
	(void)stress;
	(void)conn;
	return -1;
}
