/*
 * mhd.h - libmicrohttpd, which is loaded only by the commands that need it, see
 * lib/load.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef READPAST_MHD_H
#define READPAST_MHD_H

#include <microhttpd.h>

/* All functions of libmicrohttpd that the program calls, without `MHD_`. */
#define MHD_FUNCTIONS(X)                                                       \
	X(add_connection)                                                      \
	X(add_response_header)                                                 \
	X(create_response_from_buffer)                                         \
	X(create_response_from_callback)                                       \
	X(destroy_response)                                                    \
	X(get_connection_info)                                                 \
	X(get_connection_values)                                               \
	X(get_daemon_info)                                                     \
	X(get_timeout)                                                         \
	X(lookup_connection_value)                                             \
	X(queue_response)                                                      \
	X(resume_connection)                                                   \
	X(run)                                                                 \
	X(start_daemon)                                                        \
	X(stop_daemon)                                                         \
	X(suspend_connection)

struct libmicrohttpd {
#define POINTER(name) __typeof__(MHD_##name) *name;
	MHD_FUNCTIONS(POINTER)
#undef POINTER
};

/* The loaded functions. */
extern struct libmicrohttpd mhd;

/* Load libmicrohttpd into `mhd`. The caller has started no thread yet that uses
 * it. `user` is what needs it, for messages. Returns 0, or -1 after printing an
 * error. */
int mhd_load(const char *user);

#endif
