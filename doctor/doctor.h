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

/* severity, the worst first: jobs can be lost; jobs do not run; time or
 * space is wasted. If the row of a TROUBLE has `lasts_ms`, the finding is
 * only a warning until that is at least long_ms. */
enum level {
	DANGER,
	TROUBLE,
	WARNING,
	LEVELS,
	/* TROUBLE that makes jobs of {queue} wait. Several checks often find
	 * the same cause, so a queue is reported only by the first such
	 * check in the table, and by none if nothing can be written at all. */
	JOBS_WAIT
};

struct doctor;
struct check {
	const char *name; /* name of the check and of its query */
	enum level level;
	const char *finding; /* text; {column} stands for a value of the row. */
	const char *fix;     /* text; *_ms prints as a duration, *_bytes as a
			      * size */
	int (*look)(struct doctor *d); /* does the check in place of a query;
					* or NULL */
};

struct doctor {
	rp_conn *conn;
	const char *url;
	int is_file;     /* not 0: the database is a file on this machine */
	char *path;      /* the file's real path, or NULL */
	int64_t long_ms; /* report waits, pauses and transactions longer than
			  * this */
	int64_t now_ms;  /* the database's clock */
	const struct check *check; /* the check that is running */
	int done;                  /* number of checks that ran */
	int blocked;               /* not 0: a finding says that nothing can be
				    * written */
	json_t *explained;        /* object whose keys are queues: a finding has
				   * explained why their jobs wait */
	json_t *findings[LEVELS]; /* arrays of {check, level, finding, fix,
				   * about} */
	json_t *undone;           /* array: check, not_done */
};

/* doctor.c. Run all checks; call this once, then doctor_free(). Returns 0,
 * or -1: out of memory. */
int doctor_run(struct doctor *d);
void doctor_free(struct doctor *d);
/* Report a finding of the running check, and take over `about`. Returns 0,
 * or -1: out of memory. */
int doctor_found(struct doctor *d, json_t *about);
/* Report that the running check could not be done, and why. Returns 0, or
 * -1: out of memory. */
int doctor_undone(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Report a finding of another check that the running check has noticed. It
 * is reported only once. */
int doctor_found_too(struct doctor *d, const char *check, json_t *about);
/* Examine a database that could not be opened. Returns 1: a finding says
 * why; 0: no finding says why; -1: out of memory. */
int doctor_not_opened(struct doctor *d, int code, const rp_error *error);

/* checks.c: the table of checks; its last entry has a NULL name */
extern const struct check checks[];
extern const char *const level_words[LEVELS];

/* ask.c */
const char *doctor_question(const struct doctor *d, const char *name);
/* Run a query and append its rows to `rows`. If the query fails,
 * doctor_undone() has been called. Returns 0, or -1: out of memory. */
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
