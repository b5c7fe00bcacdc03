/*
 * ext_call.c - begin and end a call of one of the extension's SQL functions,
 * and return its result.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "ext.h"

int
ext_begin(struct ext_call *call, struct ext *ext,
	  const struct ext_function *function, sqlite3_value **argv)
{
	int r;

	*call = (struct ext_call){ .ext = ext, .function = function };
	r = ext_read(call, argv);
	if (r < 0)
		return r;
	if (function->outside &&
	    (!sqlite3_get_autocommit(ext->db) ||
	     sqlite3_txn_state(ext->db, NULL) != SQLITE_TXN_NONE))
		return rp__fail(
			&call->error, RP_EINVAL,
			"readpast_%s cannot be called while a transaction "
			"is open or a statement is reading",
			function->name);
	call->conn = ext_enter(ext, &call->error);
	return call->conn ? ext_worker_seen(call) : call->error.code;
}

void
ext_end(struct ext_call *call)
{
	ext_forget(call);
	if (call->conn)
		ext_leave(call->ext);
}

const rp_error *
ext_error(const struct ext_call *call)
{
	return call->error.code ? &call->error : rp_last_error(call->conn);
}

void
ext_result(sqlite3_context *context, const struct rp_value *value)
{
	switch (value->type) {
	case RP_INT:
		sqlite3_result_int64(context, value->i);
		break;
	case RP_TEXT:
		sqlite3_result_text64(context, value->data, value->size,
				      SQLITE_TRANSIENT, SQLITE_UTF8);
		break;
	case RP_BLOB:
		sqlite3_result_blob64(context, value->data, value->size,
				      SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_result_null(context);
	}
}

void
ext_result_error(sqlite3_context *context, const rp_error *error)
{
	char *message = sqlite3_mprintf("readpast: %s", error->message);

	if (!message || error->code == RP_ENOMEM) {
		sqlite3_result_error_nomem(context);
	} else {
		sqlite3_result_error(context, message, -1);
		if (error->code == RP_EBUSY)
			sqlite3_result_error_code(context, SQLITE_BUSY);
	}
	sqlite3_free(message);
}
