/*
 * line.h - see line.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>
#include <stdint.h>

/* the fields of docs/history.md that the checker uses */
enum { AT, ASKED, ID, CLAIM, LEASE_MS, ATTEMPT, MAX_ATTEMPTS, NUMBERS };
enum { EVENT, VERDICT, RESULT, STATE, OUTCOME, CLIENT, WORDS };

/* a JSON string as it is written in the line, with its escapes */
struct word {
	const char *text; /* points into the line; NULL: the line has no such
			   * field */
	size_t size;
};

struct line {
	int64_t numbers[NUMBERS]; /* 0: the line has no such field */
	struct word words[WORDS];
};

/* Parse a line. Returns 0; -1: it is not a JSON object; LINE_NUMBER: a
 * number is not an integer, or needs more than 63 bits. */
#define LINE_NUMBER -2
int line_read(struct line *ret, const char *text, size_t size);
int word_is(const struct word *word, const char *text);

#endif
