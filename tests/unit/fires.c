/*
 * fires.c - print the times at which many schedules fire, so that schedules.py
 * can compare them.
 *
 * Each line of the input has a zone, a spec, and the times FROM and UNTIL in
 * seconds, separated by tabs. The program prints a line for each fire after
 * FROM and until UNTIL, and then a line with a dot. A fire's line has six
 * numbers: the fire's time and the zone's offset from UTC, both in seconds; the
 * number of local times that were skipped, and the first of these times; the
 * number of local times that came twice, and the first of these times. Local
 * times are in minutes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cron/cron.h"

static void
print_fires(const char *zone_name, const char *text, int64_t from,
	    int64_t until)
{
	struct rp_spec spec;
	struct rp_zone *zone;
	rp_fire fire = RP_FIRE_INIT;
	rp_error error;

	if (rp__spec_parse(text, &spec, &error) < 0 ||
	    rp__zone_open(NULL, zone_name, &zone, &error) < 0) {
		puts(error.message);
		return;
	}
	from *= 1000;
	while (rp__schedule_next(&spec, zone, from, from, &fire) &&
	       fire.at_ms <= until * 1000) {
		printf("%lld %lld %lld %lld %lld %lld\n",
		       (long long)fire.at_ms / 1000, (long long)fire.offset_s,
		       (long long)fire.skipped,
		       (long long)fire.skipped_local_ms / 60000,
		       (long long)fire.doubled,
		       (long long)fire.doubled_local_ms / 60000);
		from = fire.at_ms;
	}
	rp__zone_free(zone);
}

int
main(void)
{
	char line[400];

	while (fgets(line, sizeof(line), stdin)) {
		const char *zone = strtok(line, "\t"), *spec, *from, *until;

		spec = strtok(NULL, "\t");
		from = strtok(NULL, "\t");
		until = strtok(NULL, "\n");
		if (!zone || !spec || !from || !until)
			return 2;
		print_fires(zone, spec, atoll(from), atoll(until));
		puts(".");
	}
	return 0;
}
