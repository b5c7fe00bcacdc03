/*
 * replay.c - run a fuzz target on each file of a directory, without a fuzzer.
 *
 * In this way the inputs that once found a bug are tested with any compiler.
 * The output is TAP. An input that fails ends the program.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include <dirent.h>
#include <stdio.h>

static void
play(const char *folder, const char *name)
{
	char path[512];
	static uint8_t data[1 << 16];
	size_t n;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "rb");
	must(file != NULL);
	n = fread(data, 1, sizeof(data), file);
	fclose(file);
	LLVMFuzzerTestOneInput(data, n);
}

static int
is_input(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

int
main(int argc, char **argv)
{
	struct dirent **entries;
	int n = argc == 2 ? scandir(argv[1], &entries, is_input, alphasort)
			  : -1;

	if (n < 1)
		return 99;
	printf("1..%d\n", n);
	fflush(stdout);
	for (int i = 0; i < n; i++) {
		play(argv[1], entries[i]->d_name);
		printf("ok %d - %s\n", i + 1, entries[i]->d_name);
		fflush(stdout);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
