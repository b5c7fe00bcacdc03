/*
 * report.h - collect samples of named measurements, and print a table of their
 * medians.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

struct report;
struct report *report_new(void);
void report_free(struct report *report);

/* Add a row, unless it exists. `over` is the row by which its values are
 * divided, or NULL. `pair` is not 0 if the row divides the library's rate by
 * the floor's for the same work. The mean at the end of the report is that of
 * all pairs. */
void report_row(struct report *report, const char *name, const char *unit,
		const char *over, int pair);
/* Set a goal for a row. If the row is divided by another one, the goal is for
 * the quotient. `relation` is "<=" or ">=". */
void report_goal(struct report *report, const char *name, const char *relation,
		 double goal);
void report_sample(struct report *report, const char *name, double value);
double report_median(const struct report *report, const char *name);
/* Print the report. It has a column of goals only if a row has a goal. */
void report_print(const struct report *report, int markdown);

#endif
