/*
 * check.h - functions of the command `check` that the command `stress` also
 * calls; they are in cmd_check.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECK_H
#define CHECK_H

#include "checker.h"
#include "cmd.h"

/* Pass the jobs that the queue still has, live or kept, to the checker. Returns
 * 0, or an exit status after printing an error. */
int check_left(struct cmd *cmd, struct checker *checker, const char *queue);

/* Pass the groups of the queue that wait for nothing to the checker, for P13.
 * Nothing is passed if the queue has no group limit. Returns 0, or an exit
 * status after printing an error. The function is in stuck.c. */
int check_groups(struct cmd *cmd, struct checker *checker, const char *queue);

/* Write to `to` whether a promise of docs/design.md was kept: "ok", or for
 * example "BROKEN (3)". */
void verdict_word(const struct verdicts *verdicts, enum promise promise,
		  char *to, size_t room);
/* Write to `to` the line "P1 ok, P2 BROKEN (3), ..." of the promises that were
 * examined, and return it. verdicts_json() adds them to `object` instead. */
const char *verdicts_text(const struct verdicts *verdicts, char *to,
			  size_t room);
json_t *verdicts_json(const struct verdicts *verdicts, json_t *object);
/* Return whether a promise was broken. */
int verdicts_broken(const struct verdicts *verdicts);

#endif
