/*
 * metrics.h - write metrics of the database's queues, jobs and workers, in the
 * text format of Prometheus.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef METRICS_H
#define METRICS_H

#include "cmd.h"

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Get the metrics of the database, all or none, because a collector reads this
 * text. Returns 0 or RP_E*. The caller frees *ret. */
int metrics_text(rp_conn *conn, const char *url, char **ret);
/* Write the two lines that come before the values of a metric: its help text
 * and its type. */
void metrics_head(FILE *to, const char *name, const char *type,
		  const char *help);

#endif
