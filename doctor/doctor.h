/*
 * doctor.h - find what is wrong with a live database, or will be soon.
 *
 * A check runs a query, and each row of the result is a finding. Most queries
 * are files in sql/<dialect>/doctor/, and return no row if nothing is wrong;
 * what SQL cannot see is examined by C functions. A check is skipped on
 * databases that have no query for it. checks.c has the table of checks, with
 * their words. The doctor only reads, and stops queries that take too long.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <jansson.h>

#include "readpast.h"

/* Worst first: jobs can be lost; jobs do not run; time or space is wasted. A
 * finding of level TROUBLE whose row has `lasts_ms` counts as a warning until
 * it has lasted for long_ms. */
enum level {
	DANGER,
	TROUBLE,
	WARNING,
	LEVELS,
	/* TROUBLE that makes jobs of {queue} wait. Several checks often find
	 * the same cause, so only the first of them in the table reports a
	 * queue, and none of them does if nothing can be written at all. */
	JOBS_WAIT
};

struct doctor;
struct check {
	const char *name; /* also the name of its query */
	enum level level;
	const char *finding; /* a {column} is replaced by its value; */
	const char *fix; /* _ms columns print as durations, _bytes as sizes */
	int (*look)(struct doctor *d); /* used instead of a query */
};

struct doctor {
	rp_conn *conn;
	const char *url;
	int is_file;     /* a file on this machine, not a server */
	char *path;      /* the file's real path, or NULL */
	int64_t long_ms; /* whatever waits or is open for longer is reported */
	int64_t now_ms;  /* the database's clock */
	const struct check *check; /* the one that is running */
	int done;                  /* number of checks that ran */
	int blocked;       /* a finding says that nothing can be written */
	json_t *explained; /* object: its keys are the queues whose waiting jobs
			      a finding has explained */
	json_t *findings[LEVELS]; /* arrays: check, level, finding, fix, about
				   */
	json_t *undone;           /* array: check, not_done */
};

/* doctor.c: call once; free with doctor_free(). 0, or -1: no memory */
int doctor_run(struct doctor *d);
void doctor_free(struct doctor *d);
/* Report a finding of the running check; takes over `about`. 0 or -1 */
int doctor_found(struct doctor *d, json_t *about);
/* Report that the running check could not be done, and why. 0 or -1 */
int doctor_undone(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Report a finding of another check, noticed by the running one. Reported once
 * only. */
int doctor_found_too(struct doctor *d, const char *check, json_t *about);
/* Examine a database that could not be opened. 1: a finding says why; 0: no
 * finding does; -1 */
int doctor_not_opened(struct doctor *d, int code, const rp_error *error);

/* checks.c: ended by a NULL name */
extern const struct check checks[];
extern const char *const level_words[LEVELS];

/* ask.c */
const char *doctor_question(const struct doctor *d, const char *name);
/* Append the result's rows to `rows`. Failures are reported by doctor_undone().
 * 0 or -1 */
int doctor_ask(struct doctor *d, const char *sql, json_t *rows);

/* look_*.c: 0, -1, or DOCTOR_NOT_HERE if the check does not apply */
#define DOCTOR_NOT_HERE 1
int check_wakeup(struct doctor *d);
int check_plan(struct doctor *d);
int check_file_system(struct doctor *d);
int check_names(struct doctor *d);
int check_checkpoint(struct doctor *d);
/* These need no connection. */
int check_owner(struct doctor *d);
int check_disk(struct doctor *d);
int check_lock(struct doctor *d);
int check_format(struct doctor *d);

#endif
