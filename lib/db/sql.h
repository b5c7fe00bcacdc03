/*
 * sql.h - the C types that describe the SQL for a database. tools/embed_sql.py
 * generates tables of these types from the files in sql/<dialect>/.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A verb is an operation of the library on the database. If the database has
 * routines, a verb is one call of a routine. On SQLite a verb is a list of
 * statements. If a statement returns rows, the statements after it run once for
 * each of these rows. The later statements refer to the columns of the current
 * row as @column. So a file reads from top to bottom like nested loops.
 *
 * One statement's rows are the answer of the verb, which is passed to a
 * callback. The callback may take some of these rows. The statements marked as
 * late run after the last row of the answer, and change the taken rows.
 *
 * A verb runs once for each row of parameters. But if one of its statements
 * uses :rows, the verb runs once for all rows, and its other parameters have
 * the values of the first row.
 */
#ifndef RP_SQL_H
#define RP_SQL_H

#include <stddef.h>

#include "verbs.h"

struct rp_stmt {
	const char *one;   /* the SQL for one row of parameters; if `late` is
			    * 1, for one accepted row */
	const char *many;  /* the SQL for many rows, given as a table; NULL:
			    * use `one` */
	const char *guard; /* run the statement only if this column of an
			    * earlier statement is true; NULL: always */
	int answer;        /* 1: its rows are the answer, which is passed to the
			    * callback */
	int batch;         /* 1: it inserts all rows of parameters, and returns
			    * their ids */
	int late;          /* 1: it runs last, and only for the rows that the
			    * callback accepted */
};

struct rp_sql {
	const char *verb;
	int batch;                 /* 1: run the verb once for all rows of
				    * parameters */
	const char *const *params; /* ends with NULL */
	size_t params_count;
	int columns_count; /* number of columns of the answer */
	const struct rp_stmt *stmts;
	size_t stmts_count;
};

/* The binding of one parameter of a routine's call. */
struct rp_bind {
	int param; /* index of the verb's parameter */
	int array; /* 1: bind the values of all rows as an array; 0: bind the
		    * value of the first row */
};

struct rp_call {
	const char
		*verb; /* NULL: settle_and_claim does the work of this verb */
	int many;      /* 1: run the call once for all rows of parameters */
	int numbered;  /* 1: the first column of an answer, `number`, is the
			* number (from 1) of the row of parameters that led to
			* it */
	size_t width;  /* number of parameters in a row */
	const char *text; /* the statement, with $1, $2, ... */
	const struct rp_bind *binds;
	size_t binds_count;
};

#endif
