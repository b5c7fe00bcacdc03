/*
 * doctor.h - find the present problems of a database in use, and problems that
 * it will have soon.
 *
 * Most checks run a query, and each row of the result is a finding. The queries
 * are files in sql/<dialect>/doctor/, and return no row if nothing is wrong. A
 * check is skipped on databases that have no query for it. Other checks are C
 * functions, because they examine things that SQL cannot read. checks.c has the
 * table of checks, with their texts. The doctor never writes to the database,
 * and stops queries that take too long.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef DOCTOR_H
#define DOCTOR_H

#include <jansson.h>

#include "readpast.h"

/* The severity of a finding, the worst one first. DANGER: jobs can be lost.
 * TROUBLE: jobs do not run. WARNING: time or space is wasted. A check may
 * return `lasts_ms`, the time for which a TROUBLE has lasted. While lasts_ms is
 * less than long_ms, the finding is only a warning. */
enum level {
	DANGER,
	TROUBLE,
	WARNING,
	LEVELS,
	/* A TROUBLE that makes jobs of {queue} wait. Only the first finding of
	 * this level about a queue is reported, because it explains the wait.
	 * No finding of this level is reported after a check has found that no
	 * process can write to the database: that explains all waits. */
	JOBS_WAIT
};

struct doctor;
struct check {
	const char *name; /* name of the check, and of its query */
	enum level level;
	/* Two texts. {column} is replaced by the value of that column of the
	 * row. Columns ..._ms are printed as durations, ..._bytes as sizes.
	 * {'column} is a text that is quoted for a shell. {*column} is a queue
	 * that workers shall serve, quoted for a shell, too. */
	const char *finding;
	const char *fix;
	/* a function that does the check instead of a query, or NULL */
	int (*look)(struct doctor *d);
};

#define LONG_MS 60000 /* the default of `doctor --long` */

struct doctor {
	rp_conn *conn;
	const char *url;
	int is_file; /* not 0: the database is a file on this machine */
	char *path;  /* the file's real path, or NULL */
	/* waits, pauses and transactions longer than this are reported */
	int64_t long_ms;
	int64_t now_ms;            /* the time by the database's clock */
	const struct check *check; /* the check that is running */
	int done;                  /* number of checks that ran */
	int blocked;               /* not 0: a finding says that nothing can be
				    * written */
	/* The keys of this object are the queues for which a finding has
	 * explained why jobs wait. */
	json_t *explained;
	json_t *findings[LEVELS]; /* arrays of {check, level, finding, fix,
				   * about} */
	json_t *undone;           /* array of {check, not_done} */
};

/* The functions of doctor.c. doctor_run() runs all checks; call it once. It
 * returns 0, or -1 if memory is exhausted. Call doctor_free() afterwards. */
int doctor_run(struct doctor *d);
void doctor_free(struct doctor *d);
/* Report a finding of the running check, and take ownership of `about`. Returns
 * 0, or -1 if memory is exhausted. */
int doctor_found(struct doctor *d, json_t *about);
/* Report that the running check could not be done, and why. Returns 0, or -1 if
 * memory is exhausted. */
int doctor_undone(struct doctor *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Report that the running check needs the database file and cannot read it. */
int doctor_no_file(struct doctor *d);
/* Report a finding that the running check has noticed, but that belongs to
 * another check. Each finding is reported only once. */
int doctor_found_too(struct doctor *d, const char *check, json_t *about);
/* Examine a database that could not be opened. Returns 1 if a finding explains
 * the failure, 0 if no finding does, and -1 if memory is exhausted. */
int doctor_not_opened(struct doctor *d, int code, const rp_error *error);

/* The table of checks, in checks.c. The name of its last entry is NULL. */
extern const struct check checks[];
extern const char *const level_words[LEVELS];

/* ask.c */
const char *doctor_question(const struct doctor *d, const char *name);
/* Run a query and append its rows to `rows`. If the query fails, this function
 * calls doctor_undone(). Returns 0, or -1 if memory is exhausted. */
int doctor_ask(struct doctor *d, const char *sql, json_t *rows);

/* The functions of check_*.c. They return 0, -1 on failure, or DOCTOR_NOT_HERE
 * if the check does not apply to this database. */
#define DOCTOR_NOT_HERE 1
int check_wakeup(struct doctor *d);
int check_plan(struct doctor *d);
int check_file_system(struct doctor *d);
int check_names(struct doctor *d);
int check_checkpoint(struct doctor *d);
/* The following checks need no connection. */
int check_owner(struct doctor *d);
int check_disk(struct doctor *d);
int check_lock(struct doctor *d);
int check_format(struct doctor *d);

#endif
