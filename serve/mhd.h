/*
 * mhd.h - libmicrohttpd, which is loaded only by the commands that need it, see
 * load.h.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef READPAST_MHD_H
#define READPAST_MHD_H

#include <microhttpd.h>

/* The functions of libmicrohttpd that we use. Each line has the type of the
 * result, the name without `MHD_`, and the parameters. */
#define MHD_FUNCTIONS(F)                                                       \
	F(enum MHD_Result, add_connection,                                     \
	  (struct MHD_Daemon * daemon, MHD_socket fd,                          \
	   const struct sockaddr *address, socklen_t size))                    \
	F(enum MHD_Result, add_response_header,                                \
	  (struct MHD_Response * response, const char *name,                   \
	   const char *value))                                                 \
	F(struct MHD_Response *, create_response_from_buffer,                  \
	  (size_t size, void *text, enum MHD_ResponseMemoryMode mode))         \
	F(struct MHD_Response *, create_response_from_callback,                \
	  (uint64_t size, size_t block, MHD_ContentReaderCallback read,        \
	   void *ctx, MHD_ContentReaderFreeCallback end))                      \
	F(void, destroy_response, (struct MHD_Response * response))            \
	F(const union MHD_ConnectionInfo *, get_connection_info,               \
	  (struct MHD_Connection * connection,                                 \
	   enum MHD_ConnectionInfoType what, ...))                             \
	F(int, get_connection_values,                                          \
	  (struct MHD_Connection * connection, enum MHD_ValueKind kind,        \
	   MHD_KeyValueIterator each, void *ctx))                              \
	F(const union MHD_DaemonInfo *, get_daemon_info,                       \
	  (struct MHD_Daemon * daemon, enum MHD_DaemonInfoType what, ...))     \
	F(enum MHD_Result, get_timeout,                                        \
	  (struct MHD_Daemon * daemon, MHD_UNSIGNED_LONG_LONG * ret_ms))       \
	F(const char *, lookup_connection_value,                               \
	  (struct MHD_Connection * connection, enum MHD_ValueKind kind,        \
	   const char *name))                                                  \
	F(enum MHD_Result, queue_response,                                     \
	  (struct MHD_Connection * connection, unsigned status,                \
	   struct MHD_Response *response))                                     \
	F(void, resume_connection, (struct MHD_Connection * connection))       \
	F(enum MHD_Result, run, (struct MHD_Daemon * daemon))                  \
	F(struct MHD_Daemon *, start_daemon,                                   \
	  (unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,     \
	   void *accept_ctx, MHD_AccessHandlerCallback handle,                 \
	   void *handle_ctx, ...))                                             \
	F(void, stop_daemon, (struct MHD_Daemon * daemon))                     \
	F(void, suspend_connection, (struct MHD_Connection * connection))

struct libmicrohttpd {
#define MEMBER(type, name, parameters) type(*name) parameters;
	MHD_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* The loaded functions. */
extern struct libmicrohttpd mhd;

/* Load libmicrohttpd into `mhd`. The caller has started no thread yet that uses
 * it. `user` is what needs it, for messages. Returns 0, or -1 after printing an
 * error. */
int mhd_load(const char *user);

#endif
