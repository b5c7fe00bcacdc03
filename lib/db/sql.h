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
 * The rows of one of the statements are the verb's answer. They are passed to a
 * callback, which may take some of them. The statements marked as late run
 * after the last row of the answer, and change the taken rows.
 *
 * Usually a verb runs once for each row of parameters. If one of the verb's
 * statements uses the parameter :rows, the verb runs once for all rows. In that
 * run the verb's other parameters have the values of the first row.
 */
#ifndef RP_SQL_H
#define RP_SQL_H

#include <stddef.h>

#include "verbs.h"

struct rp_stmt {
	const char *one;   /* the SQL for one row of parameters or, if `late` is
			    * 1, for one taken row of the answer */
	const char *many;  /* the SQL for many rows at once, which the
			    * statement reads from a table; NULL: run `one` for
			    * each row */
	const char *guard; /* name of a column that an earlier statement
			    * returned: the statement runs only if the column is
			    * true; NULL: the statement always runs */
	int rest;          /* 1: if the column `guard` is false, the later
			    * statements of the verb are skipped, too */
	int answer;        /* 1: the statement's rows are the verb's answer,
			    * which is passed to the callback */
	int batch;         /* 1: one run of the statement inserts all rows of
			    * parameters; the ids of the new rows are the
			    * answer */
	int late;          /* 1: the statement runs after the last row of the
			    * answer, once for each row that the callback
			    * took */
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
		*verb; /* NULL: databases with routines do not use the verb */
	int many;      /* 1: run the call once for all rows of parameters */
	int numbered;  /* 1: the first column of each row of the answer,
			* `number`, says which row of parameters led to it,
			* counted from 1 */
	size_t width;  /* number of parameters in a row */
	const char *text; /* the statement, with $1, $2, ... */
	const struct rp_bind *binds;
	size_t binds_count;
};

#endif
