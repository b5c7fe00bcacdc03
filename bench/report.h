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

/* Add a row, unless it exists. `over` is NULL or the name of another row. If
 * `over` is given, the report shows the new row's values divided by the values
 * of that row. `pair` is 1 if the new row is a rate of the library and `over`
 * is the rate of the queue written by hand, for the same work. The report ends
 * with the mean quotient of all such pairs. */
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
