/*
 * clock.c - read this process's monotonic clock, sleep, and parse durations
 * such as "90s".
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "internal.h"

#include <string.h>
#include <time.h>

#define QUIET_TIMES 15
#define MOST_QUIET_US 50000

int64_t
rp__monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t
rp__monotonic_ms(void)
{
	return rp__monotonic_us() / 1000;
}

void
rp__nap_us(int64_t us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000 };

	if (us > 0)
		nanosleep(&t, NULL);
}

int64_t
rp__quiet_us(int64_t took_us)
{
	int64_t us = QUIET_TIMES * took_us;

	return us < MOST_QUIET_US ? us : MOST_QUIET_US;
}

int
rp_duration(const char *text, int64_t *ret_ms)
{
	static const struct {
		const char *unit;
		int64_t ms;
	} units[] = { { "ms", 1 },
		      { "s", 1000 },
		      { "m", 60 * 1000 },
		      { "h", 3600 * 1000 },
		      { "d", 86400 * 1000 } };
	const int64_t most = RP_MOST_MS;
	const char *s = text;
	int64_t n = 0;

	if (!text || !ret_ms || *s < '0' || *s > '9')
		return RP_EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (*s - '0');
		if (n > most)
			return RP_EINVAL;
	}
	if (n == 0 && !*s) {
		*ret_ms = 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strcmp(s, units[i].unit) == 0) {
			if (n > most / units[i].ms)
				return RP_EINVAL;
			*ret_ms = n * units[i].ms;
			return 0;
		}
	return RP_EINVAL;
}
