/*
 * plot.c - write each figure's curves to a data file; tools/plot.py draws them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Remove the data of earlier runs. */
void
plot_begin(const struct bench *b)
{
	static const char *const figures[] = { "pinned", "backlog" };

	for (size_t i = 0; i < 2 && b->plots; i++) {
		char *path = text("%s/%s.csv", b->plots, figures[i]);

		unlink(path);
		free(path);
	}
}

void
plot_curve(const struct bench *b, const char *figure, const char *series,
	   const struct outcome *outcome)
{
	char *path;
	FILE *file;

	if (!b->plots)
		return;
	path = text("%s/%s.csv", b->plots, figure);
	file = fopen(path, "a");
	if (!file)
		die("cannot write %s", path);
	for (size_t i = 0; i < outcome->seconds; i++)
		fprintf(file, "%s,%zu,%.0f\n", series, i + 1,
			outcome->by_second[i]);
	fclose(file);
	free(path);
}

static void
draw(const struct bench *b, const char *figure, const char *title)
{
	char *data = text("%s/%s.csv", b->plots, figure);
	char *command = text("'%s' '%s' '%s' '%s/%s.svg'", PLOT, title, data,
			     b->plots, figure);

	if (access(data, F_OK) == 0 && system(command) != 0)
		die("no plot of %s", figure);
	unlink(data);
	free(data);
	free(command);
}

void
plot_draw(const struct bench *b)
{
	if (!b->plots)
		return;
	draw(b, "pinned",
	     "Jobs finished per second while a snapshot is pinned");
	draw(b, "backlog", "Jobs finished per second while a line is drained");
}
