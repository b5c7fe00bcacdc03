/*
 * history.h - write a history: a file with the records of what clients did.
 * `readpast check` reads it; see history.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef HISTORY_H
#define HISTORY_H

#include "cmd.h"

/* Return the word for a verdict, or for the result of a verdict.
 * docs/history.md describes the words. */
const char *history_verdict(int verdict);
const char *history_result(int result);

/* All functions accept a NULL history. Several threads may call them at the
 * same time. */
struct history *history_open(const char *path); /* NULL: an error was printed */
struct history *history_on(int fd);
/* Returns 0, or -1 if an event could not be written. An error was printed
 * then. */
int history_close(struct history *history);
/* After this call each line also contains the time at which the line is
 * written, `queue` and `error`. A NULL `error` is left out. Both texts must
 * stay valid until the next call of this function. Only one thread may write
 * this history. */
void history_about(struct history *history, const char *queue,
		   const char *error);
int history_fd(const struct history *history); /* -1 if no history is kept */

/* Record that a job was enqueued. `job` has the job's options; NULL: they are
 * not known. `asked`: the time, by monotonic_us(), just before the enqueue was
 * sent. */
void history_enqueued(struct history *history, const char *queue,
		      const rp_job_spec *job, const rp_added *added,
		      int64_t asked);
/* Record that the settings of a queue were changed. `queue` has the new
 * settings. */
void history_limits(struct history *history, const rp_queue *queue,
		    int64_t asked);
void history_claimed(struct history *history, const rp_job *job, int64_t asked);
void history_started(struct history *history, const rp_job *job);
void history_settling(struct history *history, int64_t id, int64_t claim_no,
		      int verdict, int64_t lease_ms);
void history_settled(struct history *history, int64_t id, int64_t claim_no,
		     int verdict, int64_t lease_ms, int result, int state,
		     int64_t asked);
void history_lost(struct history *history, const rp_job *job, int result);
void history_job(struct history *history, const char *event, int64_t id);
void history_purged(struct history *history, const char *queue);

#endif
