/*
 * jobs.h - functions that the files about jobs share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef JOBS_H
#define JOBS_H

#include "serve.h"

/* Returns a job as JSON, with at most `most` bytes of the job's payload. */
json_t *job_json(const struct request *request, const rp_job *job, size_t most);
/* Read the parameter dry_run. Returns 0, or -1 after refusing the request. */
int dry_run_of(struct request *request);

#endif
