/*
 * ext_json.c - read JSON arrays that are arguments of SQL functions.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <stdlib.h>
#include <string.h>

#include "ext.h"

/* Returns 1 if a JSON text contains the escape \u0000. The callers refuse it,
 * because some versions of SQLite's JSON functions end a text at this
 * character. The search need not know where strings begin and end, because JSON
 * has backslashes only inside strings. */
int
ext_has_nul_escape(const char *json, size_t size)
{
	const char *end = json + size;

	while ((json = memchr(json, '\\', (size_t)(end - json)))) {
		if (end - json >= 6 && memcmp(json, "\\u0000", 6) == 0)
			return 1;
		json += 2;
		if (json >= end)
			break;
	}
	return 0;
}

/* ---- an array ---- */

/*
 * Most elements are simple: a string without escapes, or a number. This file
 * reads the simple elements itself. SQLite reads each of the other elements,
 * and checks that the element is JSON. Reading the whole array with json_each()
 * would cost as much as enqueueing its elements.
 */
struct array {
	struct ext_call *call;
	enum ext_param param;
	const char *at;     /* the part of the array's text that is not read
			     * yet */
	sqlite3_stmt *stmt; /* the statement that reads one element; it is
			     * prepared when it is first needed */
};

/* Returns the position after the closing quote, or the end of the text if there
 * is no closing quote. */
static const char *
end_of_string(const char *s)
{
	for (s++; *s; s++) {
		s += strcspn(s, "\"\\");
		if (*s == '"')
			return s + 1;
		if (!*s || !*++s)
			break;
	}
	return s;
}

static const char *
end_of_element(const char *s)
{
	int depth = 0;

	while (*s && (depth || !strchr(",] \t\r\n", *s))) {
		depth += *s == '[' || *s == '{';
		depth -= *s == ']' || *s == '}';
		s = *s == '"' ? end_of_string(s) : s + 1;
	}
	return s;
}

static const char *
skip_space(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

static int
failed(struct array *array)
{
	return rp__fail(&array->call->error, RP_EINVAL, "%s: %.150s",
			ext_words(array->param),
			sqlite3_errmsg(ext_scratch(array->call->ext)));
}

/* Let SQLite read an element. Its text is valid until the next element is
 * read. */
static int
let_sqlite_read(struct array *array, const char *text, size_t size,
		struct ext_element *ret)
{
	static const char sql[] = "select ?1 ->> '$', json_type(?1)";
	int type, word;

	if (!array->stmt &&
	    sqlite3_prepare_v2(ext_scratch(array->call->ext), sql, -1,
			       &array->stmt, NULL) != SQLITE_OK)
		return failed(array);
	sqlite3_reset(array->stmt);
	if (sqlite3_bind_text64(array->stmt, 1, text, size, SQLITE_STATIC,
				SQLITE_UTF8) != SQLITE_OK ||
	    sqlite3_step(array->stmt) != SQLITE_ROW)
		return failed(array);
	type = sqlite3_column_type(array->stmt, 0);
	/* SQLite returns `true` and `false` as 1 and 0. The second column,
	 * json_type(), is then the word `true` or `false` and not `integer`.
	 * This word becomes the element's text. */
	word = type == SQLITE_INTEGER &&
	       *sqlite3_column_text(array->stmt, 1) != 'i';
	ret->null = type == SQLITE_NULL;
	ret->is_number = type == SQLITE_INTEGER && !word;
	ret->number = sqlite3_column_int64(array->stmt, 0);
	ret->text = (const char *)sqlite3_column_text(array->stmt, word);
	ret->size = (size_t)sqlite3_column_bytes(array->stmt, word);
	ret->stays = 0;
	return ret->null || ret->text ? 0 : failed(array);
}

static int
read_element(struct array *array, struct ext_element *ret)
{
	const char *s = array->at, *end = end_of_element(s);
	size_t size = (size_t)(end - s);

	array->at = end;
	*ret = (struct ext_element){
		.text = s, .size = size, .is_string = *s == '"', .stays = 1
	};
	if (size > 1 && strcspn(s + 1, "\"\\") == size - 2 && *s == '"' &&
	    s[size - 1] == '"') {
		ret->text++;
		ret->size -= 2;
		return 0;
	}
	if (size && size < 19 && strspn(s, "0123456789") == size) {
		ret->is_number = 1;
		ret->number = strtoll(s, NULL, 10);
		return 0;
	}
	if (*s == '"' && ext_has_nul_escape(s, size))
		return rp__fail(&array->call->error, RP_EINVAL,
				"%s has a control character",
				ext_words(array->param));
	return let_sqlite_read(array, s, size, ret);
}

static int
walk(struct array *array, ext_element_fn *fn, void *ctx)
{
	size_t i = 0;
	int r;

	array->at = skip_space(array->at + 1);
	if (*array->at == ']')
		return 0;
	for (;; array->at++) {
		struct ext_element element;

		array->at = skip_space(array->at);
		r = read_element(array, &element);
		if (r == 0)
			r = fn(ctx, array->call, i++, &element);
		if (r < 0)
			return r;
		array->at = skip_space(array->at);
		if (*array->at != ',')
			return 0;
	}
}

int
ext_each(struct ext_call *call, enum ext_param param, ext_element_fn *fn,
	 void *ctx)
{
	struct array array = { .call = call, .param = param };
	int is_array, r;

	if (!call->arguments[param].given)
		return 0;
	array.at = skip_space(call->arguments[param].text);
	is_array = *array.at == '[';
	r = is_array ? walk(&array, fn, ctx) : 0;
	sqlite3_finalize(array.stmt);
	if (r == 0 &&
	    (!is_array || *array.at != ']' || *skip_space(array.at + 1)))
		return rp__fail(&call->error, RP_EINVAL,
				"%s: expected a JSON array", ext_words(param));
	return r;
}

/* ---- names ---- */

struct names {
	char **list;
	size_t count;
};

static int
add_name(void *ctx, struct ext_call *call, size_t i,
	 const struct ext_element *element)
{
	struct names *names = ctx;
	char **more;

	if (!element->is_string)
		return rp__fail(&call->error, RP_EINVAL,
				"queues: element %zu is not a string", i + 1);
	more = realloc(names->list, (i + 2) * sizeof(*more));

	if (!more)
		return ext_no_memory(call);
	names->list = more;
	more[i] = strndup(element->text, element->size);
	more[i + 1] = NULL;
	names->count = i + 1;
	return more[i] ? 0 : ext_no_memory(call);
}

void
ext_free_names(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

int
ext_queues(struct ext_call *call, char ***ret)
{
	const struct ext_argument *argument = &call->arguments[P_QUEUES];
	struct names names = { NULL, 0 };
	struct ext_element one = { .is_string = 1,
				   .text = argument->text,
				   .size = argument->size };
	int r;

	if (*one.text == '[')
		r = ext_each(call, P_QUEUES, add_name, &names);
	else
		r = add_name(&names, call, 0, &one);
	if (r == 0 && names.count == 0)
		r = rp__fail(&call->error, RP_EINVAL, "%s: the array is empty",
			     ext_words(P_QUEUES));
	if (r < 0)
		ext_free_names(names.list);
	else
		*ret = names.list;
	return r;
}
