/*
 * handlers.h - the functions of the table of routes.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef HANDLERS_H
#define HANDLERS_H

#include "serve.h"

typedef int prepare_fn(struct request *request);
typedef void run_fn(struct request *request, rp_conn *conn);

prepare_fn enqueue_prepare, claim_prepare, verdicts_prepare;
prepare_fn settle_and_claim_prepare, stats_prepare, events_prepare;
run_fn healthz, stats_run, events_run;

#endif
