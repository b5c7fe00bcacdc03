/*
 * report.c - collect samples of named measurements, and print a table of their
 * medians.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basics.h"

#define COLUMNS "%-40s %10s %-10s %6s  %s\n"
#define MOST_ROWS 160
#define MOST_SAMPLES 32

struct row {
	char name[64], over[64];
	char goal[24]; /* such as ">= 0.80" */
	double least, most;
	const char *unit;
	int pair;
	size_t count;
	double samples[MOST_SAMPLES];
};

struct report {
	int goals; /* not 0: at least one row has a goal */
	size_t count;
	struct row rows[MOST_ROWS];
};

struct report *
report_new(void)
{
	return allocate(sizeof(struct report));
}

void
report_free(struct report *report)
{
	free(report);
}

static struct row *
find(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->count; i++)
		if (strcmp(report->rows[i].name, name) == 0)
			return (struct row *)&report->rows[i];
	return NULL;
}

void
report_row(struct report *report, const char *name, const char *unit,
	   const char *over, int pair)
{
	struct row *row;

	if (find(report, name))
		return;
	if (report->count == MOST_ROWS)
		die("more than %d rows", MOST_ROWS);
	row = &report->rows[report->count++];
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(row->over, sizeof(row->over), "%s", over ? over : "");
	row->unit = unit;
	row->pair = pair;
}

void
report_goal(struct report *report, const char *name, const char *relation,
	    double goal)
{
	struct row *row = find(report, name);

	if (!row)
		die("no row %s", name);
	report->goals = 1;
	row->least = *relation == '>' ? goal : -INFINITY;
	row->most = *relation == '<' ? goal : INFINITY;
	snprintf(row->goal, sizeof(row->goal), "%s %g", relation, goal);
}

void
report_sample(struct report *report, const char *name, double value)
{
	struct row *row = find(report, name);

	if (!row)
		die("no row %s", name);
	if (row->count == MOST_SAMPLES)
		die("more than %d samples of %s", MOST_SAMPLES, name);
	row->samples[row->count++] = value;
}

static int
compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(const struct row *row)
{
	double sorted[MOST_SAMPLES];
	size_t n = row->count;

	if (n == 0)
		return NAN;
	memcpy(sorted, row->samples, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), compare);
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double
report_median(const struct report *report, const char *name)
{
	const struct row *row = find(report, name);

	return row ? median(row) : NAN;
}

static double
ratio(const struct report *report, const struct row *row)
{
	return *row->over ? median(row) / report_median(report, row->over)
			  : NAN;
}

static void
print_line(const struct report *report, int markdown, const char *const c[5])
{
	if (!markdown)
		printf(COLUMNS, c[0], c[1], c[2], c[3], c[4]);
	else if (report->goals)
		printf("| %s | %s | %s | %s | %s |\n", c[0], c[1], c[2], c[3],
		       c[4]);
	else
		printf("| %s | %s | %s | %s |\n", c[0], c[1], c[2], c[3]);
}

static void
print_head(const struct report *report, int markdown)
{
	const char *const head[] = { "name", "value", "unit", "ratio",
				     report->goals ? "goal" : "" };

	print_line(report, markdown, head);
	if (markdown)
		puts(report->goals ? "|---|---:|---|---:|---|"
				   : "|---|---:|---|---:|");
}

static void
print_row(const struct report *report, int markdown, const char *name,
	  double value, const char *unit, double ratio, const char *goal)
{
	char v[32] = "-", r[16] = "-";
	const char *const line[] = { name, v, unit, r, goal };

	if (!isnan(value))
		snprintf(v, sizeof(v), "%.*f",
			 value >= 100                 ? 0
			 : value >= 10                ? 1
			 : value >= 0.1 || value <= 0 ? 2
						      : 4,
			 value);
	if (!isnan(ratio))
		snprintf(r, sizeof(r), "%.2f", ratio);
	print_line(report, markdown, line);
}

/* Copy the text of the row's goal to `ret`. Append " missed" if the value does
 * not meet the goal. */
static void
describe_goal(const struct row *row, double value, char ret[40])
{
	int missed = !(value >= row->least && value <= row->most);

	snprintf(ret, 40, "%s%s", row->goal,
		 *row->goal && missed ? " missed" : "");
}

void
report_print(const struct report *report, int markdown)
{
	const struct row *lowest = NULL;
	double logs = 0;
	char name[80], goal[40];
	size_t pairs = 0;

	print_head(report, markdown);
	for (size_t i = 0; i < report->count; i++) {
		const struct row *row = &report->rows[i];
		double r = ratio(report, row);

		describe_goal(row, isnan(r) ? median(row) : r, goal);
		print_row(report, markdown, row->name, median(row), row->unit,
			  r, goal);
		if (!row->pair)
			continue;
		pairs++;
		logs += log(r);
		if (!lowest || r < ratio(report, lowest))
			lowest = row;
	}
	if (!lowest)
		return;
	print_row(report, markdown, "geomean", (double)pairs, "rows",
		  exp(logs / (double)pairs), "");
	snprintf(name, sizeof(name), "lowest: %s", lowest->name);
	print_row(report, markdown, name, median(lowest), lowest->unit,
		  ratio(report, lowest), "");
}
