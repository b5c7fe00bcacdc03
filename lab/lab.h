/*
 * lab.h - compare techniques of taking rows from a table.
 *
 * A technique is a script in sql/<dialect>/lab/, converted to C by
 * tools/embed_sql.py. The lab runs it in a scratch schema or file of its own,
 * with N worker processes, and counts.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LAB_H
#define LAB_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

#include "readpast.h"

#define LAB_BATCH 4 /* rows per take, in techniques that take several */
#define LAB_WHY 400

struct lab_section {
	const char *name;         /* NULL ends the list */
	const char *const *stmts; /* NULL-terminated */
};

struct lab_script {
	const char *name;   /* NULL ends the list */
	const char *idea;   /* one line */
	const char *text;   /* the script's source */
	const char *cannot; /* why the database cannot do it, or NULL */
	int needs;          /* minimum version of the server for `feature` */
	const char *feature;
	const struct lab_section
		*sections; /* NULL: use the library's rp_settle_and_claim() */
};

/* Scripts by database. */
struct lab_scripts {
	const char *dialect; /* NULL ends the list */
	const struct lab_script *scripts;
};
extern const struct lab_scripts lab_dialects[];

struct lab_options {
	const char *url;
	int workers, jobs;
	int64_t delay_ms;                  /* duration of each job */
	const volatile sig_atomic_t *stop; /* not 0: stop */
};

struct lab_result {
	int64_t processed; /* jobs that ran at least once */
	int64_t twice;     /* jobs that ran more than once */
	int64_t lost;      /* jobs that never ran */
	int64_t runs;      /* of all jobs together */
	int64_t blocked_us, elapsed_us, deadlocks, statements, log_bytes;
	char waited_for[24]; /* the longest wait; "": none */
};

/* The scripts for a URL's database in running order, NULL if there are none;
 * and the script of that name, or NULL. */
const struct lab_script *lab_scripts(const char *url);
const struct lab_script *lab_find(const struct lab_script *scripts,
				  const char *name);

/* Run one script. LAB_CANNOT: the database does not support it, and nothing was
 * done. Unless 0 is returned, `why` explains the failure in one line. The
 * scratch is always removed. `left` is called for each scratch of an earlier,
 * killed run that was removed. */
enum { LAB_FAILED = -1, LAB_CANNOT = -2, LAB_STOPPED = -3 };
int lab_run(const struct lab_options *options, const struct lab_script *script,
	    void (*left)(const char *what), struct lab_result *ret,
	    char why[LAB_WHY]);

#endif
