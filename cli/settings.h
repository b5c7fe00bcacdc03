/*
 * settings.h - the settings of a queue, for `queue set` and the HTTP server.
 * The table is in cmd_queue.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "cmd.h"

/* a setting of a queue: the option that changes it, its type and its limits */
struct setting {
	const char *option;
	enum option_type type;
	size_t offset; /* in rp_queue */
	const char *arg, *help;
	int64_t least, most;
};
extern const struct setting settings[];
extern const size_t settings_count;

#endif
