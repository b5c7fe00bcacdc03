/*
 * line.h - parse one line of a history, the record of what a client did; see
 * line.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef LINE_H
#define LINE_H

#include <stddef.h>
#include <stdint.h>

/* The fields of docs/history.md that the checker uses: first numbers, then
 * strings. */
enum {
	AT,
	ASKED,
	ID,
	CLAIM,
	LEASE_MS,
	ATTEMPT,
	MAX_ATTEMPTS,
	LATE_MS,
	PRIORITY,
	DELAY_MS,
	LIMIT,
	GROUP_LIMIT,
	RATE,
	RATE_MS,
	NUMBERS
};
enum {
	EVENT,
	VERDICT,
	RESULT,
	STATE,
	OUTCOME,
	CLIENT,
	SCHEDULE,
	SCHEDULED_FOR,
	QUEUE,
	GROUP,
	GROUP_ON_FAILURE,
	WORDS
};

/* A JSON string as it is written in the line, with its escapes. */
struct word {
	/* points into the line, or is NULL if the line has no such field */
	const char *text;
	size_t size;
};

struct line {
	int64_t numbers[NUMBERS]; /* 0: the line has no such field */
	struct word words[WORDS];
};

/* Parse a line. Returns 0, or -1 if the line is not a JSON object. Returns
 * LINE_NUMBER if a number is not an integer or does not fit into an int64_t. */
#define LINE_NUMBER -2
int line_read(struct line *ret, const char *text, size_t size);
int word_is(const struct word *word, const char *text);

#endif
