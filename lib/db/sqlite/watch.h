/*
 * watch.h - see watch.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_WATCH_SQLITE_H
#define RP_WATCH_SQLITE_H

#include <stdint.h>

#include "sqlite_api.h"

struct watch;

/* Watch the file of `db`, which must outlive the watch. NULL without memory. */
struct watch *rp__watch_new(sqlite3 *db);
void rp__watch_free(struct watch *watch);

/* Sleep until another connection has committed since the last call (or since
 * the watch was made): 1; until the time (-1: no end) is over or `fd` (-1:
 * none) can be read: 0. */
int rp__watch_wait(struct watch *watch, int64_t timeout_ms, int fd);

/* Sleep until then (monotonic us), or until `fd` can be read. */
void rp__watch_stay_quiet(int64_t until_us, int fd);

#endif
