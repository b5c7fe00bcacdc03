/*
 * history.c - fuzz the parser of histories, which `readpast check` uses.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "checker.h"

static void
count(void *ctx, enum promise promise, const char *text)
{
	int64_t *counts = ctx;

	must(*text && !strchr(text, '\n'));
	counts[promise]++;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
	struct checker *checker = checker_new();
	int64_t counts[PROMISES] = { 0 };
	struct verdicts verdicts;
	char why[300] = "";

	must(checker != NULL);
	if (file && checker_read(checker, file, "fuzz", why, sizeof(why)) < 0)
		must(*why);
	must(checker_run(checker, count, counts, &verdicts) == 0);
	must(memcmp(counts, verdicts.broken, sizeof(counts)) == 0);
	checker_free(checker);
	if (file)
		fclose(file);
	return 0;
}
