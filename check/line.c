/*
 * line.c - parse one line of a history, the record of what a client did. The
 * line is a JSON object and describes one event.
 *
 * A history has millions of short lines, and the checker needs only their
 * numbers and words. So this parser builds no tree. It reads the known fields
 * in one pass over the line, and skips the values of all other fields.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "line.h"

#include <string.h>

static const char *const number_names[NUMBERS] = {
	"at",      "asked",        "id",      "claim",    "lease_ms",
	"attempt", "max_attempts", "late_ms", "priority", "delay_ms",
	"limit",   "group_limit",  "rate",    "rate_ms",
};
static const char *const word_names[WORDS] = {
	"event",   "verdict", "result",           "state",
	"outcome", "client",  "schedule",         "scheduled_for",
	"queue",   "group",   "group_on_failure",
};

struct reader {
	const char *at, *end;
};

int
word_is(const struct word *word, const char *text)
{
	return word->text && strlen(text) == word->size &&
	       memcmp(word->text, text, word->size) == 0;
}

static int
find(const struct word *name, const char *const *names, int count)
{
	int i = 0;

	while (i < count &&
	       (*names[i] != *name->text || !word_is(name, names[i])))
		i++;
	return i;
}

/* Skip white space. Returns the next character, or '\0' at the end of the
 * line. */
static char
look(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t' ||
				  *r->at == '\n' || *r->at == '\r'))
		r->at++;
	return r->at < r->end ? *r->at : '\0';
}

static int
take(struct reader *r, char c)
{
	if (look(r) != c)
		return -1;
	r->at++;
	return 0;
}

static int
read_word(struct reader *r, struct word *ret)
{
	if (take(r, '"') < 0)
		return -1;
	ret->text = r->at;
	for (; r->at < r->end && (unsigned char)*r->at >= ' '; r->at++) {
		if (*r->at == '"') {
			ret->size = (size_t)(r->at++ - ret->text);
			return 0;
		}
		if (*r->at == '\\' && ++r->at == r->end)
			break;
	}
	return -1;
}

/* Skip a number, true, false or null. */
static int
pass_plain(struct reader *r)
{
	static const char plain[] = "+-.0123456789aEeflnrstu";
	const char *from = r->at;

	while (r->at < r->end && memchr(plain, *r->at, sizeof(plain) - 1))
		r->at++;
	return r->at == from ? -1 : 0;
}

/* Skip a value and everything that is nested in it. */
static int
pass(struct reader *r)
{
	struct word ignored;
	size_t depth = 0;
	int bad;

	do {
		char c = look(r);

		bad = 0;
		if (c == '"') {
			bad = read_word(r, &ignored);
		} else if (c == '{' || c == '[') {
			depth++;
			r->at++;
		} else if (depth && (c == '}' || c == ']')) {
			depth--;
			r->at++;
		} else if (depth && (c == ',' || c == ':')) {
			r->at++;
		} else {
			bad = pass_plain(r);
		}
	} while (!bad && depth);
	return bad;
}

/* Read a number. A value of another type is skipped, as if the line did not
 * have this field. */
static int
read_number(struct reader *r, int64_t *ret)
{
	int minus = look(r) == '-';
	const char *from = r->at + minus;
	int64_t n = 0;

	if (!minus && (look(r) < '0' || look(r) > '9'))
		return pass(r);
	for (r->at = from; r->at < r->end && *r->at >= '0' && *r->at <= '9';
	     r->at++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, *r->at - '0', &n))
			return LINE_NUMBER;
	if (r->at == from ||
	    (r->at < r->end && !memchr(",} \t\r\n", *r->at, 6)))
		return LINE_NUMBER;
	*ret = minus ? -n : n;
	return 0;
}

static int
read_field(struct reader *r, struct line *line)
{
	struct word name;
	int i;

	if (read_word(r, &name) < 0 || take(r, ':') < 0)
		return -1;
	i = find(&name, number_names, NUMBERS);
	if (i < NUMBERS)
		return read_number(r, &line->numbers[i]);
	i = find(&name, word_names, WORDS);
	if (i < WORDS && look(r) == '"')
		return read_word(r, &line->words[i]);
	return pass(r);
}

int
line_read(struct line *ret, const char *text, size_t size)
{
	struct reader r = { text, text + size };
	int bad;

	memset(ret, 0, sizeof(*ret));
	if (take(&r, '{') < 0)
		return -1;
	if (take(&r, '}') < 0) {
		do {
			bad = read_field(&r, ret);
			if (bad)
				return bad;
		} while (take(&r, ',') == 0);
		if (take(&r, '}') < 0)
			return -1;
	}
	look(&r);
	return r.at == r.end ? 0 : -1;
}
