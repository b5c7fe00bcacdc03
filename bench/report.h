/*
 * report.h - rows by name, their samples of each round, their medians.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

struct report;
struct report *report_new(void);
void report_free(struct report *report);

/* A row, if it is not there yet. `over`: the row that it is divided by, or
 * NULL. `pair`: what is divided is the library by the floor, at the same work,
 * more being better: such rows make the mean at the end. */
void report_row(struct report *report, const char *name, const char *unit,
		const char *over, int pair);
/* What must be reached: `relation` is "<=" or ">="; it is about the ratio where
 * the row has one. */
void report_goal(struct report *report, const char *name, const char *relation,
		 double goal);
void report_sample(struct report *report, const char *name, double value);
double report_median(const struct report *report, const char *name);
/* With a column of goals, if there are any. */
void report_print(const struct report *report, int markdown);

#endif
