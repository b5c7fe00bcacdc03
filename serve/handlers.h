/*
 * handlers.h - the functions that the table of routes names.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "serve.h"

typedef int prepare_fn(struct request *request);
typedef void run_fn(struct request *request, rp_conn *conn);

/* enqueue.c, claim.c, verdicts.c */
prepare_fn enqueue_prepare, claim_prepare, verdicts_prepare;
prepare_fn settle_and_claim_prepare;

/* fields.c. nothing_prepare() is for a request without parameters;
 * empty_body_prepare() also checks that the body has no members. */
prepare_fn nothing_prepare, empty_body_prepare;

/* queues.c */
prepare_fn queue_set_prepare, queue_pause_prepare, queue_hold_prepare;
run_fn queues_run, queue_run, queue_set_run, queue_drop_run;
run_fn queue_pause_run, queue_resume_run, queue_hold_run;

/* jobs.c, job.c */
prepare_fn jobs_prepare, bulk_prepare;
run_fn jobs_run, bulk_run;
prepare_fn job_prepare, job_outcome_prepare, job_cancel_prepare;
prepare_fn job_change_prepare;
run_fn job_run, job_payload_run, job_why_run, job_outcome_run;
run_fn job_cancel_run, job_retry_run, job_change_run;

/* schedules.c */
prepare_fn schedule_set_prepare;
run_fn schedules_run, schedule_run, schedule_set_run, schedule_remove_run;
run_fn schedule_fire_run, schedule_pause_run, schedule_resume_run;

/* status.c */
prepare_fn stats_prepare, groups_prepare, doctor_prepare;
run_fn healthz, readyz, stats_run, groups_run, workers_run, doctor_answer;

/* session.c */
run_fn session_run, session_begin, session_end;

/* page.c. page_find() returns the index in files[] of the file that the request
 * names, or -1. */
int page_find(const struct request *request);
run_fn page_run;

/* metrics.c */
prepare_fn metrics_prepare;
run_fn metrics_run;

/* events.c */
prepare_fn events_prepare;
run_fn events_run;

#endif
