/*
 * words.c - fuzz the parsers of numbers, durations, times and names as people
 * write them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "cmd.h"
#include "internal.h"

#define DAY_MS INT64_C(86400000)

static void
numbers(const char *text)
{
	int64_t n = -1, claim_no = -1;

	must(parse_count(text, &n) < 0 || n >= 0);
	must(parse_size(text, &n) < 0 || n >= 0);
	must(parse_id(text, &n) < 0 || n > 0);
	must(parse_claim(text, &n, &claim_no) < 0 || (n > 0 && claim_no > 0));
	must(parse_time(text, &n) < 0 || n >= 0);
}

/* Parse a duration, format the result, and parse it again. */
static void
durations(const char *text)
{
	int64_t ms, again = -1;
	char words[32];

	if (rp_duration(text, &ms) < 0)
		return;
	must(ms >= 0 && ms <= 3650 * DAY_MS);
	print_duration(words, sizeof(words), ms);
	must(rp_duration(words, &again) == 0 && again == ms);
}

static void
names(const char *text)
{
	char cleaned[40];
	rp_error error;
	int r = rp__check_name(&error, "the name", text, 128);

	if (r < 0)
		must_be_a_message(&error, r);
	else
		must(*text && strlen(text) <= 128);
	must(rp__clean(cleaned, sizeof(cleaned), text) == strlen(cleaned));
	must(strlen(cleaned) < sizeof(cleaned));
	must(rp__utf8(cleaned, strlen(cleaned)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);

	rp__utf8(data, size);
	numbers(text);
	durations(text);
	names(text);
	free(text);
	return 0;
}
