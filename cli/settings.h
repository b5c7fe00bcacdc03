/*
 * settings.h - the settings of a queue, for `queue set` and the HTTP server.
 * The table is in cmd_queue_set.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "cmd.h"

/*
 * A setting of a queue. A number has the option's type, the offset of its field
 * and its limits. A setting of the type TEXT has two functions instead: `parse`
 * writes the option's value to the queue, and returns 0 or an exit status after
 * printing an error; `format` writes the queue's setting as text.
 */
struct setting {
	const char *option;
	enum option_type type;
	const char *arg, *help;
	size_t offset;
	int64_t least, most;
	int (*parse)(const struct cmd *cmd, const char *text, rp_queue *queue);
	void (*format)(char *to, size_t room, const rp_queue *queue);
};
/* Parse a rate, such as "100/1m" or "none", and set the rate of `queue`.
 * Returns 0, or -1 if `text` is not a rate. EXPECTED_RATE is the text for
 * messages. */
int rate_of(const char *text, rp_queue *queue);
#define EXPECTED_RATE                                                          \
	"1 to " DIGITS(                                                        \
		RP_MOST_RATE) " jobs in a duration, such as 100/1m, or "       \
			      "none"
extern const struct setting settings[];
extern const size_t settings_count;

#endif
