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

/* The fields of docs/history.md that are proven with. */
enum { AT, ASKED, ID, CLAIM, LEASE_MS, ATTEMPT, MAX_ATTEMPTS, NUMBERS };
enum { EVENT, VERDICT, RESULT, STATE, OUTCOME, CLIENT, WORDS };

/* A word is as it stands between its quotes, with its escapes. */
struct word {
	const char *text; /* in the line; NULL: not there */
	size_t size;
};

struct line {
	int64_t numbers[NUMBERS]; /* 0: not there */
	struct word words[WORDS];
};

/* 0, or -1: it is no JSON object. LINE_NUMBER: one of the numbers is not whole,
 * or has more than 63 bits. */
#define LINE_NUMBER -2
int line_read(struct line *ret, const char *text, size_t size);
int word_is(const struct word *word, const char *text);

#endif
