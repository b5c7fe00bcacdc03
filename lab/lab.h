/*
 * lab.h - compare techniques of taking rows from a table.
 *
 * A technique is a script in sql/<dialect>/lab/, converted to C by
 * tools/embed_sql.py. The lab runs the script with N worker processes, in a
 * schema or file of its own (the scratch), and counts.
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

/* how many rows a technique takes at once, if it takes several */
#define LAB_BATCH 4
#define LAB_WHY 400

struct lab_section {
	const char *name;         /* NULL ends the list */
	const char *const *stmts; /* NULL-terminated */
};

struct lab_script {
	const char *name;   /* NULL ends the list */
	const char *idea;   /* one line */
	const char *text;   /* the script's source */
	const char *cannot; /* why the technique cannot run on this database,
			     * or NULL */
	int needs;          /* oldest version of the server that has
			     * `feature` */
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
	int64_t runs;      /* number of times that a job ran, summed over all
			    * jobs */
	int64_t blocked_us, elapsed_us, deadlocks, statements, log_bytes;
	char waited_for[24]; /* what workers waited for longest; "": nothing */
};

/* lab_scripts() returns the scripts for a URL's database, in the order in
 * which they run, or NULL if there are none. lab_find() returns the script
 * with this name, or NULL. */
const struct lab_script *lab_scripts(const char *url);
const struct lab_script *lab_find(const struct lab_script *scripts,
				  const char *name);

/* Run one script. LAB_CANNOT: the database does not support it, and nothing
 * was done. Unless 0 is returned, `why` is set to the reason, in one line.
 * The scratch is always removed. `left` is called for each scratch that an
 * earlier run left when it was killed, and that was removed now. */
enum { LAB_FAILED = -1, LAB_CANNOT = -2, LAB_STOPPED = -3 };
int lab_run(const struct lab_options *options, const struct lab_script *script,
	    void (*left)(const char *what), struct lab_result *ret,
	    char why[LAB_WHY]);

#endif
