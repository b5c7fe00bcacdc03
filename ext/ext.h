/*
 * ext.h - what the files of the loadable extension share.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef EXT_H
#define EXT_H

#include "readpast.h"
#include "sqlite_api.h"

/* One for each host connection. */
struct ext {
	sqlite3 *db;       /* the host's */
	rp_conn *attached; /* to it; NULL: not yet, or not any more */
	rp_conn *own;      /* another one to the same file, or NULL */
	int64_t own_synchronous;
	sqlite3 *scratch;              /* see ext_scratch() */
	int mode_settled, mode_waited; /* the file's journal mode */
	int anchored; /* tables readpast_claim that live, see ext_claim.c */
	int called;   /* between ext_enter() and ext_leave() */
	int uses;     /* how many functions, modules and tables point here */
};

/* ext_connect.c: the connection for a call that is made now, or NULL and an
 * error. */
rp_conn *ext_enter(struct ext *ext, rp_error *error);
/* ... and when the call is over. */
void ext_leave(struct ext *ext);
/* A table of ours begins, and ends, to live: see ext_claim.c. */
void ext_add_anchor(struct ext *ext);
void ext_lose_anchor(struct ext *ext);
void ext_release(void *ext);

/* A database in memory, for what reads no table of the host's: json_each() on
 * the host's connection would begin to read its database, and SQLite calls no
 * busy handler when a reader asks for the write lock. NULL: out of memory. */
sqlite3 *ext_scratch(struct ext *ext);

/* A table that needs no `create virtual table` lies in the host's database, and
 * a select from it begins by reading that. Among the temporary tables it does
 * not. Where none can be made the other one serves. */
void ext_make_temporary(sqlite3 *db, const char *module);

/* ext_options.c: a duration, a number of milliseconds or text with a unit. */
int ext_duration(sqlite3_value *value, int64_t *ret_ms, rp_error *error);

/* And an rp_new of JSON. The texts live until the statement that
 * is returned through ret_holder is finalized. */
int ext_options(sqlite3 *db, sqlite3_value *json, rp_new *ret,
		sqlite3_stmt **ret_holder, rp_error *error);

/* ext_claim.c */
int ext_claim_module(sqlite3 *db, struct ext *ext);

#endif
