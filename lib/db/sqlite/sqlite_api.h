/*
 * sqlite_api.h - declare SQLite's functions. The library calls the SQLite that
 * it is linked with. The loadable extension calls the SQLite of its host, the
 * program that loads it.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * An extension must call SQLite through the table that its host provides. Two
 * copies of SQLite in one process would break each other's locks on a file.
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
