/*
 * run.h - what the files of the lab share: one run of a technique.
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
#define LAB_NAMES 5 /* that the lab gives a script */
#define LAB_COLUMNS 4
#define LAB_ROWS 16
#define LAB_AGAIN 1 /* it was rolled back: a deadlock or the like */

/* The rows that a statement answered; of more, the first ones. */
struct lab_rows {
	size_t columns, count;
	char names[LAB_COLUMNS][LAB_VALUE];
	char values[LAB_ROWS][LAB_COLUMNS][LAB_VALUE]; /* "": null */
};

/* What the statements' @names and :names stand for. */
struct lab_vars {
	size_t count;
	char names[LAB_NAMES + LAB_COLUMNS][LAB_VALUE];
	char values[LAB_NAMES + LAB_COLUMNS][LAB_VALUE];
};

/* A worker's account, in memory that all processes of a run share. */
struct lab_account {
	struct rp_usage usage;
	int64_t deadlocks, ended_us;
};

/* A connection, and whose account it goes on. */
struct lab_side {
	rp_conn *conn;
	struct lab_account *account;
	struct lab_vars vars;
	char *why; /* LAB_WHY bytes */
};

struct lab {
	const struct lab_options *options;
	const struct lab_place *place;
	const struct lab_script *scripts;
	char name[48];   /* of the scratch */
	char *url;       /* with the scratch in it */
	char path[4096]; /* of a scratch file */
	struct lab_side control;
	struct lab_account own; /* the control connection's */
	int64_t log_began;
	struct lab_result result;
	void (*left)(const char *what);
};

/* Where a scratch is, and what is known there. Those that may fail return 0 or
 * LAB_FAILED, with the side's `why` filled in. */
struct lab_place {
	int dies_at_fork; /* a connection: none is open then */
	char *(*url_of)(
		struct lab *lab); /* names the scratch; NULL: no memory */
	int (*prepare)(struct lab *lab, const struct lab_script *script);
	int (*session)(const struct lab *lab, struct lab_side *side);
	int (*watch)(struct lab *lab, int64_t passed_us); /* now and then */
	int (*begin)(struct lab *lab);  /* the workers are about to start */
	int (*finish)(struct lab *lab); /* they have ended; into the result */
	int (*remove)(struct lab *lab);
};

extern const struct lab_place lab_server, lab_file;

/* lab.c */
int64_t lab_now_us(void);
int lab_open(const struct lab *lab, struct lab_side *side, int schema);
void lab_close(struct lab_side *side);

/* script.c */
void lab_set(struct lab_vars *vars, const char *name, const char *value);
/* The statements of a section, which need not be there. `ret` is what the last
 * of them answered. */
int lab_section(struct lab_side *side, const struct lab_script *script,
		const char *section, struct lab_rows *ret);
/* One step of a worker: > 0 it had something to do, 0 there was nothing. `work`
 * is called with the number of each job. */
int lab_step(struct lab_side *side, const struct lab_script *script,

	     void (*work)(void *ctx, int64_t job), void *ctx);
int lab_fail(char *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
