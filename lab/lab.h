/*
 * lab.h - techniques of taking rows from a table, run side by side.
 *
 * A technique is a script: what sql/<dialect>/lab/ has under its name, made
 * into C by tools/embed_sql.py. The lab runs it in a scratch of its own, with N
 * worker processes, and counts.
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

#define LAB_BATCH 4 /* rows at a time, where a technique takes several */
#define LAB_WHY 400

struct lab_section {
	const char *name;         /* NULL: the end */
	const char *const *stmts; /* ended by a NULL */
};

struct lab_script {
	const char *name;   /* NULL: the end */
	const char *idea;   /* one line */
	const char *text;   /* the file */
	const char *cannot; /* why the database cannot do it, or NULL */
	int needs;          /* so new a server, for this feature */
	const char *feature;
	const struct lab_section
		*sections; /* none: the library's rp_settle_and_claim() */
};

/* Those of each database. */
struct lab_scripts {
	const char *dialect; /* NULL: the end */
	const struct lab_script *scripts;
};
extern const struct lab_scripts lab_dialects[];

struct lab_options {
	const char *url;
	int workers, jobs;
	int64_t delay_ms;                  /* that each job takes */
	const volatile sig_atomic_t *stop; /* not 0: give up */
};

struct lab_result {
	int64_t processed; /* different jobs */
	int64_t twice;     /* of them, those that were done more than once */
	int64_t lost;      /* jobs that nobody did */
	int64_t runs;      /* in all */
	int64_t blocked_us, elapsed_us, deadlocks, statements, log_bytes;
	char waited_for[24]; /* most of the time; "": nothing */
};

/* The scripts for the database of a URL, in the order to run them, or none; and
 * which of them has this name: NULL, none. */
const struct lab_script *lab_scripts(const char *url);
const struct lab_script *lab_find(const struct lab_script *scripts,
				  const char *name);

/* Run one. LAB_CANNOT: the database is not fit for it, nothing was done. Except
 * when 0 is returned `why` says in a line what was wrong. Leaves nothing
 * behind. `left` is told of each scratch of a run that was killed, once it is
 * removed. */
enum { LAB_FAILED = -1, LAB_CANNOT = -2, LAB_STOPPED = -3 };
int lab_run(const struct lab_options *options, const struct lab_script *script,
	    void (*left)(const char *what), struct lab_result *ret,
	    char why[LAB_WHY]);

#endif
