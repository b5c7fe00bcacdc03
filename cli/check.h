/*
 * check.h - what `check` and `stress` share; see cmd_check.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef CHECK_H
#define CHECK_H

#include "checker.h"
#include "cmd.h"

/* Give the checker the jobs that the queue still has, live or kept. 0, or an
 * exit status after a complaint. */
int check_left(struct cmd *cmd, struct checker *checker, const char *queue);

/* Format "ok" or "BROKEN (3)". */
void verdict_word(const struct verdicts *verdicts, enum promise promise,
		  char *to, size_t room);

#endif
