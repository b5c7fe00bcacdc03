/*
 * findings.h - count and report the violations of promises that the checks
 * find.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FINDINGS_H
#define FINDINGS_H

#include "checker.h"

struct findings {
	finding_fn *found; /* is called with `ctx` for each violation */
	void *ctx;
	struct verdicts *sum;
};

__attribute__((format(printf, 3, 4))) void
findings_add(const struct findings *findings, enum promise promise,
	     const char *format, ...);

#endif
