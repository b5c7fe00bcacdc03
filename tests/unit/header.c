/*
 * header.c - test that the public header compiles alone, as C99 and
 * (header.cpp) as C++, with every warning an error. Also test that a program
 * links with the library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "readpast.h"

int
main(void)
{
	rp_options options = RP_OPTIONS_INIT;
	rp_queue queue = RP_QUEUE_INIT;
	rp_job_spec job = RP_JOB_SPEC_INIT;
	rp_claim_options claim = RP_CLAIM_INIT;
	rp_verdict verdict = RP_VERDICT_INIT;
	rp_worker_options worker = RP_WORKER_INIT;
	rp_fire fire = RP_FIRE_INIT;
	rp_swept swept = RP_SWEPT_INIT;
	rp_copied copied = RP_COPIED_INIT;
	rp_worker_counts counts = RP_WORKER_COUNTS_INIT;
	int sizes_are_set = options.size && queue.size && job.size &&
			    claim.size && verdict.size && worker.size &&
			    fire.size && swept.size && copied.size &&
			    counts.size;

	return sizes_are_set && sizeof(rp_error) == 256 && rp_version()[0] ? 0
									   : 1;
}
