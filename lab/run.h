/*
 * run.h - declarations that the files of the lab share, for one run of a
 * technique of taking rows from a table.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LAB_RUN_H
#define LAB_RUN_H

#include <stddef.h>

#include "internal.h"
#include "lab.h"

#define LAB_VALUE 64
/* number of names that the lab itself defines for scripts */
#define LAB_NAMES 5
#define LAB_COLUMNS 4
#define LAB_ROWS 16
/* A function returns this if a deadlock or a conflict has rolled the
 * transaction back. The caller must then try again. */
#define LAB_AGAIN 1

/* The first rows of a statement's result. */
struct lab_rows {
	size_t columns, count;
	char names[LAB_COLUMNS][LAB_VALUE];
	char values[LAB_ROWS][LAB_COLUMNS][LAB_VALUE]; /* "" means null */
};

/* The values of the names that statements use, as @name or :name. */
struct lab_vars {
	size_t count;
	char names[LAB_NAMES + LAB_COLUMNS][LAB_VALUE];
	char values[LAB_NAMES + LAB_COLUMNS][LAB_VALUE];
};

/* The counters of a worker, in shared memory. */
struct lab_account {
	struct rp_usage usage;
	int64_t deadlocks, ended_us;
};

/* A connection, and the counters to which its costs are added. */
struct lab_side {
	rp_conn *conn;
	struct lab_account *account;
	struct lab_vars vars;
	char *why; /* a buffer of LAB_WHY bytes */
};

struct lab {
	const struct lab_options *options;
	const struct lab_place *place;
	const struct lab_script *scripts;
	char name[48];   /* name of the scratch, the technique's own schema or
			  * file */
	char *url;       /* URL of the scratch */
	char path[4096]; /* path of the scratch, if the scratch is a
			  * file */
	struct lab_side control;
	struct lab_account own; /* counters of the connection `control` */
	int64_t log_began;
	struct lab_result result;
	void (*left)(const char *what);
};

/* The functions that make, use and remove a scratch on one kind of database. A
 * scratch is a temporary schema or file. A function that returns int returns 0
 * on success. If it fails, it returns LAB_FAILED or LAB_CANNOT, and writes the
 * reason to `why` of struct lab_side. */
struct lab_place {
	int dies_at_fork; /* not 0: connections must be closed before a fork */
	/* Sets the name of the technique's schema or file, and returns its URL.
	 * NULL: memory is exhausted. */
	char *(*url_of)(struct lab *lab);
	int (*prepare)(struct lab *lab, const struct lab_script *script);
	int (*session)(const struct lab *lab, struct lab_side *side);
	int (*watch)(struct lab *lab, int64_t passed_us); /* called regularly */
	int (*begin)(struct lab *lab); /* called before the workers start */
	/* called after the workers have ended; writes the result */
	int (*finish)(struct lab *lab);
	int (*remove)(struct lab *lab);
};

extern const struct lab_place lab_server, lab_file;

/* lab.c */
void lab_close(struct lab_side *side);

/* script.c */
void lab_set(struct lab_vars *vars, const char *name, const char *value);
/* Run the statements of a section, if the script has this section. `ret`
 * receives the result of the last statement. */
int lab_section(struct lab_side *side, const struct lab_script *script,
		const char *section, struct lab_rows *ret);
/* Let a worker take its next jobs, and call `work` with the number of each job.
 * Returns 1 if there was a job. After a deadlock or a conflict, the call
 * returns LAB_AGAIN, which is also 1. Returns 0 if there was no job, and a
 * negative number on failure. */
int lab_step(struct lab_side *side, const struct lab_script *script,
	     void (*work)(void *ctx, int64_t job), void *ctx);
int lab_fail(char *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
