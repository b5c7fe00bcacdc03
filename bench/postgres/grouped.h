/*
 * grouped.h - declarations that the files of the part `limits` share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef BENCH_GROUPED_H
#define BENCH_GROUPED_H

#include "pg.h"

/* The jobs of grouped_side belong to b->groups groups. All jobs of hot_side
 * belong to one group. The group limit is 1. The parameter `jobs` of
 * grouped_side.fill() is the number of groups. */
extern const struct side grouped_side, hot_side;

/* Returns the number of jobs that grouped_side.fill() enqueues. */
size_t grouped_jobs(size_t groups);
/* Set the queue's group limit, and a long lease. */
void grouped_limit(const struct bench *b, const char *schema, int64_t limit);
/* Enqueue jobs that belong to a few groups in turn. */
void grouped_few(const struct bench *b, const char *schema, size_t jobs,
		 size_t groups);

/* hot.c: one group, and several workers. */
void hot_rows(const struct bench *b);
void hot_round(const struct bench *b, int round);
/* plain.c: a queue without limits. */
void plain_measure(const struct bench *b);
/* producers.c: many producers on one group. */
void producers_measure(const struct bench *b);

#endif
