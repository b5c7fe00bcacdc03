/*
 * request.h - a request of the HTTP server without a server, for the targets
 * that fuzz its parsers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FUZZ_REQUEST_H
#define FUZZ_REQUEST_H

#include "serve.h"

/* Abort unless the request was refused with this status, and the answer is an
 * error in JSON. */
void must_be_refused(const struct request *request, int status);
void forget_request(struct request *request);

#endif
