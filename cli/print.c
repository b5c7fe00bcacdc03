/*
 * print.c - print untrusted text, durations and counts for people.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Print at most `most` characters of untrusted text. Control characters and
 * invalid UTF-8 are escaped, because they could change the state of a
 * terminal. */
void
print_text(FILE *to, const char *text, size_t size, size_t most)
{
	size_t shown = 0;

	for (size_t i = 0; i < size; shown++) {
		unsigned char c = (unsigned char)text[i];
		size_t n = c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		json_t *whole;

		if (shown == most) {
			fputs("...", to);
			return;
		}
		whole = c >= 0x80 && i + n <= size ? json_stringn(text + i, n)
						   : NULL;
		if (c == '\n' || c == '\t' || c == '\r') {
			fprintf(to, "\\%c",
				c == '\n'   ? 'n'
				: c == '\t' ? 't'
					    : 'r');
			n = 1;
		} else if ((c < 0x80 || whole) && !rp__control_size(text + i)) {
			fwrite(text + i, 1, n, to);
		} else {
			fprintf(to, "\\x%02x", c);
			n = 1;
		}
		json_decref(whole);
		i += n;
	}
}

/* Returns the text as print_text() prints it. The caller frees it. NULL: out of
 * memory. */
char *
escape_text(const char *text, size_t most)
{
	char *escaped = NULL;
	size_t size;
	FILE *to = open_memstream(&escaped, &size);

	if (!to)
		return NULL;
	print_text(to, text, strlen(text), most);
	if (fclose(to) == EOF) {
		free(escaped);
		return NULL;
	}
	return escaped;
}

/* Format a duration in a short form for tables. A negative duration is printed
 * as "-". */
void
print_duration_short(char *to, size_t room, int64_t ms)
{
	if (ms < 0)
		snprintf(to, room, "-");
	else if (ms < 10000)
		snprintf(to, room, "%lldms", (long long)ms);
	else if (ms < 600000)
		snprintf(to, room, "%llds", (long long)ms / 1000);
	else if (ms < 36000000)
		snprintf(to, room, "%lldm", (long long)ms / 60000);
	else
		snprintf(to, room, "%lldh", (long long)ms / 3600000);
}

const char *
plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

/* Format a number of jobs. If `at_least` is set, the number is a lower bound
 * and gets a plus sign, as in 10k+. */
void
format_count(char *to, size_t room, int64_t n, int at_least)
{
	int thousands = at_least && n > 0 && n % 1000 == 0;

	snprintf(to, room, "%lld%s%s", (long long)(thousands ? n / 1000 : n),
		 thousands ? "k" : "", at_least ? "+" : "");
}
