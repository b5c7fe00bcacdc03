/*
 * sql.h - what tools/embed_sql.py makes of sql/<dialect>/.
 *
 * A verb is a list of statements. A statement that answers rows is run to its
 * end, and for each row the statements behind it are run; they name its
 * columns as @column. So a file reads from top to bottom, as nested loops do.
 * A statement about what was taken is run when the rows of the answer are over.
 * A verb with a statement over its :rows is run once for all rows of
 * parameters; its :parameters are those of the first.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SQL_H
#define RP_SQL_H

#include <stddef.h>

#include "verbs.h"

struct rp_stmt {
	const char *text;
	const char *many;  /* about what was taken: the same for many ids, and
			      `text` is for one; or NULL */
	const char *guard; /* run only if this column above is true, or NULL */
	int answer;        /* its rows go to the caller */
	int batch;         /* it inserts all rows of parameters at once, from
			      readpast_<verb>_rows(:rows); answers their ids */
};

struct rp_sql {
	const char *verb;
	int writes;
	int batch; /* run once, and not for each row of parameters */
	const char *const *params; /* ended by a NULL */
	size_t params_count;
	const struct rp_stmt *stmts;
	size_t stmts_count;
};

extern const struct rp_sql rp__sql_sqlite[RP_VERBS];
extern const char *const *const rp__schema_sqlite[]; /* steps of statements */

#endif
