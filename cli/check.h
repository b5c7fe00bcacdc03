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

/* Write to `to` whether a promise of docs/design.md was kept: "ok", or for
 * example "BROKEN (3)". */
void verdict_word(const struct verdicts *verdicts, enum promise promise,
		  char *to, size_t room);

#endif
