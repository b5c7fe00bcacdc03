/*
 * tokens.h - what the holder of a token may do; see tokens.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef TOKENS_H
#define TOKENS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define TOKEN_NAME 128 /* bytes of a token's name */

struct tokens {
	pthread_mutex_t lock;
};
struct scopes;

#endif
