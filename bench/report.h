/*
 * report.h - named rows, their samples of each round, and their medians.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

struct report;
struct report *report_new(void);
void report_free(struct report *report);

/* Add a row unless it exists. `over`: the row that it is divided by, or NULL.
 * `pair`: the quotient is library / floor at the same work, where more is
 * better; these rows enter the mean at the end. */
void report_row(struct report *report, const char *name, const char *unit,
		const char *over, int pair);
/* Set a goal: `relation` is "<=" or ">=". It applies to the quotient if the row
 * has one. */
void report_goal(struct report *report, const char *name, const char *relation,
		 double goal);
void report_sample(struct report *report, const char *name, double value);
double report_median(const struct report *report, const char *name);
/* Print a column of goals only if there are any. */
void report_print(const struct report *report, int markdown);

#endif
