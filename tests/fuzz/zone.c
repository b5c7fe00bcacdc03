/*
 * zone.c - fuzz the parser of time zone files, and schedules in these zones.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "cron/cron.h"

#define YEAR_S INT64_C(31556952)

/* A period is a time span without a change of the clock. Check that each second
 * is in a period, and that there are no gaps between periods. */
static void
use_periods(const struct rp_zone *zone)
{
	for (int64_t t = 0; t < 400 * YEAR_S; t += 7 * YEAR_S) {
		struct rp_period period, after;

		rp__zone_at(zone, t, &period);
		must(period.start <= t && t < period.end);
		must(period.offset > -100000 && period.offset < 100000);
		must(strnlen(period.name, sizeof(period.name)) <
		     sizeof(period.name));
		if (period.end > 8000 * YEAR_S)
			continue;
		rp__zone_at(zone, period.end, &after);
		must(after.start == period.end);
	}
}

static void
use_fires(const struct rp_zone *zone, const char *text)
{
	rp_fire fire = RP_FIRE_INIT;
	struct rp_spec spec;
	rp_error error;
	int64_t after = 0;

	must(rp__spec_parse(text, &spec, &error) == 0);
	for (int i = 0; i < 10; i++) {
		if (!rp__schedule_next(&spec, zone, 0, after, &fire))
			break;
		must(fire.at_ms > after && fire.at_ms <= RP_MOST_TIME);
		must((fire.at_ms / 1000 + fire.offset_s) % 60 == 0);
		must(fire.skipped >= 0 && fire.doubled >= 0);
		after = fire.at_ms;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rp_zone *zone;
	rp_error error;
	int r = rp__zone_parse("X", data, size, &zone, &error);

	if (r < 0) {
		must(r == RP_EDB);
		must_be_a_message(&error, r);
		return 0;
	}
	use_periods(zone);
	use_fires(zone, "30 2 * * *");
	use_fires(zone, "*/7 * 29 2 *");
	rp__zone_free(zone);
	return 0;
}
