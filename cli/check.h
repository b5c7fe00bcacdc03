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

/* Pass the stuck groups of the queue to the checker, which needs them for
 * promise P13. A group is stuck if its jobs wait although nothing holds them
 * back. A queue without a group limit has no such groups. Returns 0, or an exit
 * status after printing an error. The function is in stuck.c. */
int check_groups(struct cmd *cmd, struct checker *checker, const char *queue);

/* Write to `to` the line "P1 ok, P2 BROKEN (3), ...", with the promises that
 * were examined, and return `to`. verdicts_json() adds the same words to
 * `object`, and returns `object`. */
const char *verdicts_text(const struct verdicts *verdicts, char *to,
			  size_t room);
json_t *verdicts_json(const struct verdicts *verdicts, json_t *object);
/* Return whether a promise was broken. */
int verdicts_broken(const struct verdicts *verdicts);

#endif
