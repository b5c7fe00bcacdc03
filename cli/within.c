/*
 * within.c - find out whether a command runs in a handler of `work`, and for
 * which job and queues. The library then refuses waits that could end only
 * after the handler.
 *
 * `work` sets environment variables for its handlers. A process that a handler
 * has started may outlive the handler, and still has these variables. So the
 * library refuses a wait only if the handler's claim is still valid.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Join the texts with newlines between them. */
char *
join_lines(char **texts, size_t n)
{
	size_t size = 1;
	char *joined, *to;

	for (size_t i = 0; i < n; i++)
		size += strlen(texts[i]) + 1;
	joined = to = malloc(size);
	if (!joined)
		return NULL;
	*joined = '\0';
	for (size_t i = 0; i < n; i++)
		to += sprintf(to, "%s%s", i ? "\n" : "", texts[i]);
	return joined;
}

/* Split the value of READPAST_ALONE into lines. A worker that runs one job at a
 * time sets this variable for its handlers. Each line is a queue, or a pattern
 * of queues, that the worker serves. Returns NULL if there are no lines. The
 * result is never freed, because it is needed until the program ends. */
static const char *const *
lines_of(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0, n = 0;
	char *copy, *rest = NULL;
	const char **lines;

	if (size < 2)
		return NULL;
	lines = calloc(1, (size + 1) * sizeof(*lines) + size);
	if (!lines)
		return NULL;
	copy = memcpy(lines + size + 1, text, size);
	for (char *line = strtok_r(copy, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		lines[n++] = line;
	return lines;
}

/* Return whether the handler's worker serves this queue and runs only one job
 * at a time. `ctx` has the lines of READPAST_ALONE, which are patterns. */
static int
serves(const void *ctx, const char *queue)
{
	for (const char *const *line = ctx; *line; line++)
		if (rp__pattern_matches(*line, queue))
			return 1;
	return 0;
}

void
set_handling(void)
{
	static struct rp_handling handling;
	const char *claim = getenv("READPAST_CLAIM");
	const char *queue = getenv("READPAST_QUEUE");

	if (!claim || !queue ||
	    parse_claim(claim, &handling.id, &handling.claim_no) < 0)
		return;
	handling.queue = queue;
	if (!handling.ctx)
		handling.ctx = lines_of(getenv("READPAST_ALONE"));
	handling.serves = handling.ctx ? serves : NULL;
	rp__set_handling(&handling);
}
