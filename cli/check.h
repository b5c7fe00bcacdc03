/*
 * check.h - what `check` shares with `stress`; cmd_check.c has it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECK_H
#define CHECK_H

#include "checker.h"
#include "cmd.h"

/* Tell the checker of the jobs that the queue still has, live or kept. 0, or
 * an exit status (said). */
int check_left(struct cmd *cmd, struct checker *checker, const char *queue);

/* "ok", "BROKEN (3)" */
void verdict_word(const struct verdicts *verdicts, enum promise promise,
		  char *to, size_t room);

#endif
