/*
 * quote.h - quote a text for a shell, so that a message can contain a command
 * that users paste into a terminal.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef QUOTE_H
#define QUOTE_H

#include <stddef.h>

/* The room that shell_word() needs for a text of at most this many bytes. */
#define SHELL_WORD(bytes) (4 * (bytes) + 3)

/* Write the text to `to` as one word of a shell, and return `to`. The text is
 * put in quotes only if the shell would change it otherwise. */
const char *shell_word(char *to, size_t room, const char *text);

#endif
