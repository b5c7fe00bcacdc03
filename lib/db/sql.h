/*
 * sql.h - what tools/embed_sql.py makes of sql/<dialect>/.
 *
 * Where the database runs routines a verb is one call. On SQLite a verb is a
 * list of statements. A statement that answers rows is run to its end, and for
 * each row the statements behind it are run; they name its columns as @column.
 * So a file reads from top to bottom, as nested loops do. A statement about
 * what was taken is run when the rows of the answer are over. A verb with a
 * statement over its :rows is run once for all rows of parameters; its
 * :parameters are those of the first.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SQL_H
#define RP_SQL_H

#include <stddef.h>

#include "verbs.h"

struct rp_stmt {
	const char *one;  /* for one row of parameters, or one that was taken */
	const char *many; /* for many, as a table; NULL: makes no difference */
	const char *guard; /* run only if this column above is true, or NULL */
	int answer;        /* its rows go to the caller */
	int batch;         /* it inserts all rows of parameters; answers their
			      ids */
	int late;          /* it is about what was taken of the answer */
};

struct rp_sql {
	const char *verb;
	int batch; /* run once, and not for each row of parameters */
	const char *const *params; /* ended by a NULL */
	size_t params_count;
	int columns_count; /* of its answer, for the caller */
	const struct rp_stmt *stmts;
	size_t stmts_count;
};

/* A verb of a database that runs routines: one statement. */
struct rp_bind {
	int param; /* index of the verb's parameter */
	int array; /* its values in all rows of parameters, and not the first */
};

struct rp_call {
	const char *verb; /* NULL: `turn` does what this verb does elsewhere */
	int many;         /* run once, and not for each row of parameters */
	int numbered; /* answers `number`, the row of parameters, in front */
	size_t width; /* of a row of parameters */
	const char *text; /* with $1, $2, ... */
	const struct rp_bind *binds;
	size_t binds_count;
};

#endif
