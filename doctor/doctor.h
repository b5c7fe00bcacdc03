/*
 * doctor.h - what is wrong with a live database, or will be.
 *
 * A check asks a question, and each row of its answer is a finding. Most
 * questions are files in sql/<dialect>/doctor/, and say themselves when there
 * is nothing to find; what SQL cannot see is looked at in C. A check is done
 * where its question is there, or what it looks at. checks.c has all of them,
 * with the words. The doctor only reads, and stops what takes too
 * long.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <jansson.h>

#include "readpast.h"

/* Worst first: jobs can be lost; jobs do not run; it costs time or space. */
enum level { DANGER, TROUBLE, WARNING, LEVELS };

struct doctor;
struct check {
	const char *name; /* its question's */
	enum level level;
	const char *finding; /* {column} stands for what the row has there; */
	const char *fix; /* ..._ms is shown as a span, ..._bytes as a size */
	int (*look)(struct doctor *d); /* instead of a question in SQL */
};

struct doctor {
	rp_conn *conn;
	const char *url;
	int is_file;     /* a file of this machine, and no server */
	char *path;      /* of it, without symbolic links, or NULL */
	int64_t long_ms; /* what is open or waits for longer is too long */
	int64_t now_ms;  /* the database's clock */
	const struct check *check; /* that is being done */
	int done;                  /* how many were */
	json_t *findings[LEVELS];  /* arrays: check, level, finding, fix, about
				    */
	json_t *undone;            /* check, not_done */
};

/* doctor.c: to be called once; free with doctor_free(). 0, or -1: no memory */
int doctor_run(struct doctor *d);
void doctor_free(struct doctor *d);
/* A finding of the check that is being done; takes `about`. 0 or -1 */
int doctor_found(struct doctor *d, json_t *about);
/* The check could not be done: why. 0 or -1 */
int doctor_undone(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* For a database that could not be opened. 1: a finding says why; 0: no finding
 * does; -1 */
int doctor_not_opened(struct doctor *d, int code, const rp_error *error);

/* checks.c: ended by a NULL name */
extern const struct check checks[];
extern const char *const level_words[LEVELS];

/* ask.c */
const char *doctor_question(const struct doctor *d, const char *name);
/* The rows go to the end of `rows`. What went wrong is said with
 * doctor_undone(). 0 or -1 */
int doctor_ask(struct doctor *d, const char *sql, json_t *rows);

/* look_*.c: 0 or -1, or: there is nothing of that kind here */
#define DOCTOR_NOT_HERE 1
int look_wakeup(struct doctor *d);
int look_plan(struct doctor *d);
int look_file_system(struct doctor *d);
int look_names(struct doctor *d);
int look_owner(struct doctor *d); /* without a connection, too */
int look_checkpoint(struct doctor *d);

#endif
