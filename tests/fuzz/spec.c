/*
 * spec.c - fuzz the parser of schedules' specs, and the computation of their
 * next times.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "cron/cron.h"

/* 2023-12-31T00:00:00Z */
#define START INT64_C(1703980800000)

/* Check that each set of a parsed spec, such as its hours, is not empty. Also
 * check that each fire is later than the previous one. */
static void
use(const struct rp_spec *spec)
{
	rp_fire fire = RP_FIRE_INIT;
	struct rp_zone *zone;
	rp_error error;
	int64_t after = START;

	must(spec->every_ms >= 1000 ||
	     (spec->minutes && spec->hours && spec->days && spec->months &&
	      spec->weekdays));
	must(rp__zone_open(NULL, "UTC", &zone, &error) == 0);
	for (int i = 0; i < 20; i++) {
		/* In UTC each spec fires again and again. Cron specs fire at
		 * whole minutes. */
		must(rp__schedule_next(spec, zone, START, after, &fire) == 1);
		must(fire.at_ms > after && fire.offset_s == 0);
		must(spec->every_ms || fire.at_ms % 60000 == 0);
		must(fire.skipped == 0 && fire.doubled == 0);
		after = fire.at_ms;
	}
	rp__zone_free(zone);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = text_of(data, size);
	struct rp_spec spec;
	rp_error error;
	int r = rp__spec_parse(text, &spec, &error);

	if (r < 0) {
		must(r == RP_EINVAL);
		must_be_a_message(&error, r);
	} else {
		use(&spec);
	}
	free(text);
	return 0;
}
