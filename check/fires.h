/*
 * fires.h - collect from a history the jobs that schedules enqueued, and check
 * that there is one job for each instant at which a schedule had to fire.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FIRES_H
#define FIRES_H

#include "findings.h"
#include "line.h"

struct fires {
	struct fire *items;
	size_t count, room;
};

/* Add a claimed job that a schedule enqueued. `line` describes the claim.
 * Returns -1 if memory ran out. */
int fires_add(struct fires *fires, const struct line *line);
/* Check that a schedule has enqueued only one job for each instant (a time that
 * the schedule names). The job may have been claimed several times. */
void fires_check(struct fires *fires, const struct findings *findings);
void fires_clear(struct fires *fires);

#endif
