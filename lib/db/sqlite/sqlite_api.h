/*
 * sqlite_api.h - SQLite's functions: the library's own, or the host's.
 *
 * A loadable extension calls SQLite through the table that its host hands it.
 * Two copies of SQLite in one process lose each other's locks on a file.
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
