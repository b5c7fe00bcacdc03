/*
 * fired.c - the headers by which a job says that a schedule made it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "cmd.h"

#include <string.h>

static const char *
text_of(const struct fired *f, const char *name)
{
	return json_string_value(json_object_get(f->headers, name));
}

int
fired_read(struct fired *ret, const rp_job *job)
{
	*ret = (struct fired){ .headers = NULL };
	/* Jobs of no schedule cost no JSON. */
	if (!job->headers || !strstr(job->headers, "readpast-schedule"))
		return 0;
	ret->headers = json_loads(job->headers, JSON_ALLOW_NUL, NULL);
	ret->schedule = text_of(ret, "readpast-schedule");
	ret->at = text_of(ret, "readpast-scheduled-for");
	ret->missed = text_of(ret, "readpast-missed");
	ret->manual = text_of(ret, "readpast-manual") != NULL;
	/* A job that another one left when it died has its headers. */
	ret->second_hand = json_object_get(ret->headers, "dead-id") != NULL;
	if (ret->schedule && ret->at)
		return 1;
	fired_clear(ret);
	return 0;
}

void
fired_clear(struct fired *fired)
{
	json_decref(fired->headers);
	*fired = (struct fired){ .headers = NULL };
}
