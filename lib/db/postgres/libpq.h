/*
 * libpq.h - access to libpq, which is loaded when a PostgreSQL database is
 * first opened. libpq is not linked, because it loads about twenty other
 * libraries, and a program that uses only SQLite needs none of them.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * For example, PQ(exec)(pg, "...") calls PQexec().
 */
#ifndef RP_LIBPQ_H
#define RP_LIBPQ_H

#include <libpq-fe.h>

/* All functions of libpq that the library calls, without the prefix PQ. */
#define RP_LIBPQ(X)                                                            \
	X(backendPID)                                                          \
	X(clear)                                                               \
	X(cmdStatus)                                                           \
	X(connectStartParams)                                                  \
	X(conninfoFree)                                                        \
	X(conninfoParse)                                                       \
	X(consumeInput)                                                        \
	X(db)                                                                  \
	X(errorMessage)                                                        \
	X(exec)                                                                \
	X(execParams)                                                          \
	X(execPrepared)                                                        \
	X(finish)                                                              \
	X(fname)                                                               \
	X(freemem)                                                             \
	X(ftype)                                                               \
	X(getisnull)                                                           \
	X(getlength)                                                           \
	X(getvalue)                                                            \
	X(nfields)                                                             \
	X(notifies)                                                            \
	X(ntuples)                                                             \
	X(parameterStatus)                                                     \
	X(prepare)                                                             \
	X(reset)                                                               \
	X(resultErrorField)                                                    \
	X(resultStatus)                                                        \
	X(serverVersion)                                                       \
	X(setNoticeReceiver)                                                   \
	X(socket)                                                              \
	X(status)                                                              \
	X(transactionStatus)

struct rp_libpq {
#define RP_LIBPQ_POINTER(name) __typeof__(PQ##name) *name;
	RP_LIBPQ(RP_LIBPQ_POINTER)
#undef RP_LIBPQ_POINTER
	char why[256]; /* why libpq could not be loaded; "": it is loaded */
};

/* The first call loads libpq. If that fails, the result's `why` has the reason,
 * and no handle can be opened. So code that has a PGconn need not check whether
 * libpq is loaded. */
const struct rp_libpq *rp__libpq(void);

#define PQ(name) (rp__libpq()->name)

#endif
