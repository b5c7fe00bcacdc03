/*
 * options.c - fuzz the JSON arguments of the extension's functions: objects of
 * options, and arrays.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fuzz.h"

#include "ext.h"

static const struct ext_function enqueue = {
	.name = "enqueue",
	.least = 2,
	.params = { P_QUEUE, P_PAYLOAD, P_PRIORITY, P_DELAY, P_RUN_AT,
		    P_MAX_ATTEMPTS, P_KIND, P_HEADERS, P_UNIQUE_KEY,
		    P_REPLACE },
};

sqlite3 *
ext_scratch(struct ext *ext)
{
	return ext->db;
}

static void
check(const struct ext_argument *a)
{
	must(a[P_PRIORITY].number >= 0 && a[P_PRIORITY].number <= 255);
	must(a[P_DELAY].number >= 0 && a[P_RUN_AT].number >= 0);
	must(a[P_MAX_ATTEMPTS].number >= 0);
	must(a[P_REPLACE].number == 0 || a[P_REPLACE].number == 1);
	for (int i = P_KIND; i <= P_UNIQUE_KEY; i++)
		must(!a[i].text || strlen(a[i].text) == a[i].size);
}

static int
check_element(void *ctx, struct ext_call *call, size_t i,
	      const struct ext_element *element)
{
	(void)call;
	must(i == (*(size_t *)ctx)++);
	must(element->null ||
	     strnlen(element->text, element->size) == element->size);
	return 0;
}

/* Return the bytes as an SQL value. */
static sqlite3_value *
value_of(sqlite3 *db, const uint8_t *data, size_t size)
{
	sqlite3_stmt *stmt;
	sqlite3_value *value;

	must(sqlite3_prepare_v2(db, "select ?", -1, &stmt, NULL) == SQLITE_OK);
	sqlite3_bind_text64(stmt, 1, size ? (const char *)data : "", size,
			    SQLITE_TRANSIENT, SQLITE_UTF8);
	must(sqlite3_step(stmt) == SQLITE_ROW);
	value = sqlite3_value_dup(sqlite3_column_value(stmt, 0));
	must(value != NULL);
	sqlite3_finalize(stmt);
	return value;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ext ext = { 0 };
	struct ext_call call = { .ext = &ext, .function = &enqueue };
	sqlite3_value *argv[EXT_MOST_ARGUMENTS + 1] = { NULL };
	size_t elements = 0;
	int r;

	must(sqlite3_open(":memory:", &ext.db) == SQLITE_OK);
	argv[0] = argv[1] = argv[2] = value_of(ext.db, data, size);
	r = ext_read(&call, argv);
	if (r < 0)
		must_be_a_message(&call.error, r);
	else
		check(call.arguments);
	call.arguments[P_PAYLOADS] = call.arguments[P_PAYLOAD];
	if (call.arguments[P_QUEUE].given)
		r = ext_each(&call, P_PAYLOADS, check_element, &elements);
	if (r < 0)
		must_be_a_message(&call.error, r);
	ext_forget(&call);
	sqlite3_value_free(argv[0]);
	must(sqlite3_close(ext.db) == SQLITE_OK);
	return 0;
}
