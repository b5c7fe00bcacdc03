/*
 * fired.c - read from a job's headers which schedule made the job, and for
 * which instant.
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
	/* Parse the JSON only if a schedule made the job. */
	if (!job->headers || !strstr(job->headers, "readpast-schedule"))
		return 0;
	ret->headers = json_loads(job->headers, JSON_ALLOW_NUL, NULL);
	ret->schedule = text_of(ret, "readpast-schedule");
	ret->at = text_of(ret, "readpast-scheduled-for");
	ret->missed = text_of(ret, "readpast-missed");
	ret->manual = text_of(ret, "readpast-manual") != NULL;
	/* If a job dies, its queue's dead-to queue gets a copy of the job with
	 * the same headers. No schedule made this copy. */
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
