/*
 * check.h - routines that the commands `check` and `stress` share; cmd_check.c
 * defines them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECK_H
#define CHECK_H

#include "checker.h"
#include "cmd.h"

/* Tell the checker which jobs the queue still has, live or kept. Returns 0,
 * or an exit status after printing an error. */
int check_left(struct cmd *cmd, struct checker *checker, const char *queue);

/* Format "ok" or "BROKEN (3)". */
void verdict_word(const struct verdicts *verdicts, enum promise promise,
		  char *to, size_t room);

#endif
