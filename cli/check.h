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

/* Print ": 9 claims, 9 verdicts", with the number of claims that the history
 * does not have, and end the line. */
void verdicts_print_claims(const struct verdicts *verdicts);
/* Print the line "P1 ok, P2 BROKEN (3), ...", with the promises that were
 * examined. verdicts_json() adds the same words to `object`, and returns
 * `object`. */
void verdicts_print(const struct verdicts *verdicts);
json_t *verdicts_json(const struct verdicts *verdicts, json_t *object);
/* Return whether a promise was broken. */
int verdicts_broken(const struct verdicts *verdicts);

#endif
