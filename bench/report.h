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

/* Add a row, unless it exists. If `over` is not NULL, it names the row by which
 * the new row's values are divided. `pair` is not 0 if this divides the
 * library's rate by that of the queue written by hand, for the same work. The
 * report ends with the mean of all such rows. */
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
