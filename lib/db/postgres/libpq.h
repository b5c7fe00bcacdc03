/*
 * libpq.h - libpq, loaded when a PostgreSQL database is first opened. It loads
 * some twenty other libraries, none of which are needed for SQLite.
 *
 * PQ(exec)(pg, "...") calls PQexec().
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_LIBPQ_H
#define RP_LIBPQ_H

#include <libpq-fe.h>

/* All functions of libpq that are called, without the prefix PQ. */
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
	char why[256]; /* why it could not be loaded; "": it is loaded */
};

/* The first call loads libpq. If that fails, `why` in the result says the
 * reason, and no handle can be opened. So code that has a PGconn need not check
 * whether libpq is loaded. */
const struct rp_libpq *rp__libpq(void);

#define PQ(name) (rp__libpq()->name)

#endif
