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

/* Returns the status of the request's answer; 0: it has none. */
int status_of_answer(const struct request *request);
void forget_request(struct request *request);

#endif
