/*
 * content.c - read payloads, results and headers.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "fields.h"

#include <stdlib.h>
#include <string.h>

static int
read_base64(struct request *request, const char *where, const char *name,
	    const char *base64, struct bytes *ret)
{
	size_t size = strlen(base64);

	ret->memory = malloc(size + 1);
	if (!ret->memory)
		return refuse_memory(request);
	ret->data = ret->memory;
	if (decode_base64(base64, size, ret->memory, &ret->size) == 0)
		return 0;
	free(ret->memory);
	ret->memory = NULL;
	return refuse_member(request, where, name, "expected base64");
}

int
bytes_read(struct request *request, const char *where, const char *name,
	   json_t *value, const char *base64, struct bytes *ret)
{
	char base64_name[40];

	*ret = (struct bytes){ .data = json_string_value(value),
			       .size = json_string_length(value) };
	snprintf(base64_name, sizeof(base64_name), "%s_base64", name);
	if (base64 && value && !json_is_null(value))
		return refuse_member(request, where, base64_name,
				     "give either the text or its base64");
	if (base64)
		return read_base64(request, where, base64_name, base64, ret);
	if (ret->data || !value)
		return 0;
	ret->data = ret->memory = json_compact(value);
	if (!ret->memory)
		return refuse_memory(request);
	ret->size = strlen(ret->memory);
	ret->is_json = 1;
	return 0;
}

int
headers_read(struct request *request, const char *where, json_t *headers,
	     int is_json, char **ret)
{
	json_t *all;

	*ret = NULL;
	if (headers && !json_is_object(headers))
		return refuse_member(request, where, "headers",
				     "expected an object");
	if (!headers && !is_json)
		return 0;
	all = headers ? json_copy(headers) : json_object();
	if (is_json && !json_object_get(all, "content-type"))
		json_object_set_new(all, "content-type",
				    json_string("application/json"));
	*ret = all ? json_compact(all) : NULL;
	json_decref(all);
	return *ret ? 0 : refuse_memory(request);
}
