/*
 * report.h - rows with names, their samples of each round, and their medians.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

struct report;
struct report *report_new(void);
void report_free(struct report *report);

/* Add a row, unless it exists. `over`: the row by which it is divided, or
 * NULL. `pair`: the row is the quotient library / floor for the same work,
 * where more is better; the mean at the end includes all such rows. */
void report_row(struct report *report, const char *name, const char *unit,
		const char *over, int pair);
/* Set a goal for a row, or for its quotient if it has one. `relation` is
 * "<=" or ">=". */
void report_goal(struct report *report, const char *name, const char *relation,
		 double goal);
void report_sample(struct report *report, const char *name, double value);
double report_median(const struct report *report, const char *name);
/* Print the report. It has a column of goals only if a row has a goal. */
void report_print(const struct report *report, int markdown);

#endif
