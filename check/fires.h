/*
 * fires.h - the jobs that schedules made, as the claims in a history say.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FIRES_H
#define FIRES_H

#include "checker.h"
#include "line.h"

struct fires {
	struct fire *items;
	size_t count, room;
};

/* Add the job of a claim that names a schedule. Returns -1 if memory ran
 * out. */
int fires_add(struct fires *fires, const struct line *line);
/* Check that each instant has one job, however often that was claimed. */
void fires_check(struct fires *fires, finding_fn *found, void *ctx,
		 struct verdicts *ret);
void fires_clear(struct fires *fires);

#endif
