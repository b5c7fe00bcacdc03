/*
 * peers.c - measure other queue systems, packages from npm, on the same server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>

/* The script peers/run prints how many jobs per second the queue does. If the
 * script fails, it prints only a message, to standard error. */
double
peer_rate(const struct bench *b, const char *name, size_t groups, int named)
{
	char *command = text("PGHOST='%s' PGUSER=postgres PGDATABASE=postgres"
			     " '%s/run' '%s' %s %g %zu %s",
			     b->dir, PEERS, PEERS_BUILD, name, b->peers, groups,
			     named ? "named" : "");
	double rate = 0;
	FILE *answer;

	progress(name, -1, 0);
	answer = popen(command, "r");
	if (answer && fscanf(answer, "%lf", &rate) != 1)
		rate = 0;
	if (answer)
		pclose(answer);
	free(command);
	return rate;
}
