/*
 * sqlite_api.h - declare SQLite's functions: in the library those that it is
 * linked with, in the loadable extension those of its host.
 *
 * A loadable extension must call SQLite through the table that its host
 * provides. Two copies of SQLite in one process would break each other's locks
 * on a file.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef RP_SQLITE_API_H
#define RP_SQLITE_API_H

#ifdef RP_EXTENSION
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#else
#include <sqlite3.h>
#endif

#endif
