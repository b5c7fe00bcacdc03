/*
 * schedules.h - check a schedule that `cron add` or a file describes, and
 * compare it with a stored schedule.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef SCHEDULES_H
#define SCHEDULES_H

#include "cmd.h"

/* A schedule that was read from a file. */
struct wanted {
	rp_schedule schedule;
	/* memory to which members of `schedule` point */
	char *payload, *headers;
};

/* A file of schedules. `array` owns the texts of the schedules. */
struct schedule_file {
	const struct cmd *cmd;
	const char *path; /* "-": standard input */
	json_t *array;
	struct wanted *wanted;
	size_t count;
};

/* schedule_file.c */
/* Read and check all schedules, without a database. Returns 0, or an exit
 * status after printing an error. Call free_schedules() in both cases. */
int read_schedules(struct schedule_file *file);
void free_schedules(struct schedule_file *file);

/* schedules.c */
/* Check a schedule without a database: its texts, its spec and its zone.
 * Returns 0, or a negative RP_E* code with the message in `reterr`. */
int check_schedule(const rp_schedule *schedule, rp_error *reterr);
/* Print an error about a spec, a zone or a schedule. Returns an exit status. */
int wrong_schedule(const struct cmd *cmd, const rp_error *error);
/* Returns the schedule of this name, or NULL. */
const rp_schedule *find_schedule(const rp_schedules *list, const char *name);
/* Write the names of the settings in which two schedules differ, or "" if they
 * are equal. */
#define CHANGES 128 /* size of the longest list, with the NUL byte */
void list_changes(char *to, size_t room, const rp_schedule *a,
		  const rp_schedule *b);

#endif
