/*
 * watch.h - wait until another process has committed to a SQLite file; see
 * watch.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_WATCH_SQLITE_H
#define RP_WATCH_SQLITE_H

#include <stdint.h>

#include "sqlite_api.h"

struct watch;

/* Watch the file of `db`, which must stay open longer than the watch. NULL: out
 * of memory. */
struct watch *rp__watch_new(sqlite3 *db);
void rp__watch_free(struct watch *watch);

/* Wait until another connection has committed since the last call, or since the
 * watch was created. Returns 1 after such a commit. Returns 0 when timeout_ms
 * (-1: no limit) is over or `fd` (-1: none) is readable. `eager`: poll more
 * often after an event, for a caller that waits for a single commit. */
int rp__watch_wait(struct watch *watch, int64_t timeout_ms, int fd, int eager);

/* Sleep until `until_us` (monotonic), or until `fd` is readable. */
void rp__watch_stay_quiet(int64_t until_us, int fd);

#endif
