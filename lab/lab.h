/*
 * lab.h - compare techniques of taking rows from a table.
 *
 * A technique is a script in sql/<dialect>/lab/, converted to C by
 * tools/embed_sql.py. The lab runs the script with N worker processes, in a
 * schema or file that it makes for this run (the scratch). The lab counts the
 * jobs that these processes do.
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

/* How many rows a technique takes with one statement, if it can take several.
 */
#define LAB_BATCH 4
#define LAB_WHY 400

struct lab_section {
	const char *name;         /* NULL ends the list */
	const char *const *stmts; /* NULL-terminated */
};

struct lab_script {
	const char *name; /* NULL ends the list */
	const char *idea; /* one line */
	const char *text; /* the source of the script */
	/* why the technique cannot run on this kind of database, or NULL */
	const char *cannot;
	/* The technique needs `feature`. `needs` is the first version of the
	 * server that has it; 0: the technique needs no such feature. */
	int needs;
	const char *feature;
	/* An empty list: this script uses the library's
	 * rp_settle_and_claim(). */
	const struct lab_section *sections;
};

/* The scripts for each kind of database. */
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
	int64_t processed; /* number of jobs that ran at least once */
	int64_t twice;     /* number of jobs that ran more than once */
	int64_t lost;      /* number of jobs that never ran */
	int64_t runs;      /* how often jobs ran, summed over all jobs */
	int64_t blocked_us, elapsed_us, deadlocks, statements, log_bytes;
	/* the kind of lock for which workers waited longest, or "" */
	char waited_for[24];
};

/* lab_scripts() returns the scripts for a URL's database, in the order in which
 * they run, or an empty list if the database has no scripts. lab_dialect()
 * returns the scripts for a dialect, or NULL if the dialect is unknown.
 * lab_find() returns the script with this name, or NULL if no script has it. */
const struct lab_script *lab_scripts(const char *url);
const struct lab_script *lab_dialect(const char *dialect);
const struct lab_script *lab_find(const struct lab_script *scripts,
				  const char *name);

/* Run one script in a temporary file or schema, and remove it afterwards.
 * Returns 0, or a negative number and one line in `why` that gives the reason.
 * LAB_CANNOT: the database does not support the technique, and nothing was
 * done. If an earlier run was killed, its temporary file or schema still
 * exists. lab_run() first removes the leftovers of such runs, and calls `left`
 * with the name of each. */
enum { LAB_FAILED = -1, LAB_CANNOT = -2, LAB_STOPPED = -3 };
int lab_run(const struct lab_options *options, const struct lab_script *script,
	    void (*left)(const char *what), struct lab_result *ret,
	    char why[LAB_WHY]);

#endif
