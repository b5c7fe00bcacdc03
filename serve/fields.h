/*
 * fields.h - read the members of JSON objects into structs; see fields.c,
 * content.c and http_headers.c.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef FIELDS_H
#define FIELDS_H

#include "serve.h"

enum want_type {
	WANT_TEXT,     /* const char *; `most` is its length in bytes */
	WANT_NAME,     /* the same, without control characters */
	WANT_COUNT,    /* int64_t */
	WANT_LIMIT,    /* int64_t; null or "none" is 0 */
	WANT_SIZE,     /* int64_t; a number, or a text such as "64KiB" */
	WANT_DURATION, /* int64_t, in milliseconds */
	WANT_TIME,     /* int64_t, in milliseconds */
	WANT_FLAG,     /* int */
	WANT_JSON,     /* json_t *, any value but null; borrowed */
	WANT_VALUE     /* json_t *, any value; borrowed */
};

/* A member that an object may have. */
struct want {
	const char *name;
	enum want_type type;
	size_t offset; /* offset of the value in the struct that is filled */
	int64_t least, most;
};
#define WANTS_END                                                              \
	{                                                                      \
		NULL, WANT_JSON, 0, 0, 0                                       \
	}
#define WANT(name, type, of, field, least, most)                               \
	{                                                                      \
		name, WANT_##type, offsetof(of, field), least, most            \
	}

/* Read an object's members. `where` is the path of the object in the body, such
 * as "jobs[3]". It is "" if the object is the body itself. Returns 0, or -1
 * after refusing the request. */
int fields_read(struct request *request, json_t *object, const char *where,
		const struct want *wants, void *to);
/* Read one value. `field` is the path of the value in the body, for error
 * messages. */
int field_read(struct request *request, json_t *value, const char *field,
	       const struct want *want, void *to);
#define FIELD_PATH 200 /* size of a field's path */
/* Write the path of a member of the object with the path `where`. */
void member_path(char to[FIELD_PATH], const char *where, const char *member);
/* Refuse the request because of a member of the object with the path `where`.
 * Returns -1. */
int refuse_member(struct request *request, const char *where,
		  const char *member, const char *why);
/* Parse the body as one JSON object. Returns 0, or -1 after refusing the
 * request. */
int body_parse(struct request *request);
/* Like body_parse(), but an empty body counts as an empty object. */
int body_parse_optional(struct request *request);
/* Check that the body, which was parsed, has no members. Returns 0, or -1 after
 * refusing the request. */
int no_members(struct request *request);
/* Read the parameter `limit`, the most items in a page of a list. Returns 0, or
 * -1 after refusing the request. */
int limit_read(struct request *request);

/* content.c */
/* A payload or a result as bytes. */
struct bytes {
	const void *data;
	size_t size;
	char *memory; /* what the caller has to free, or NULL */
	int is_json;  /* 1: the bytes are JSON */
};
/* Read the member `name`, whose value is `value`, or the member NAME_base64 of
 * the object with the path `where`. A JSON string stands for its text, any
 * other value for its JSON. A member that the object does not have is NULL.
 * Returns 0, or -1 after refusing the request. */
int bytes_read(struct request *request, const char *where, const char *name,
	       json_t *value, const char *base64, struct bytes *ret);
/* Make the headers of a job, as JSON. headers: the value of the member
 * `headers` of the object with the path `where`, or NULL if the object has no
 * such member. is_json: 1 if the job's payload is JSON. Then the header
 * content-type is added, unless `headers` has it. *ret becomes NULL if the job
 * has no headers. The caller frees *ret. Returns 0, or -1 after refusing the
 * request. */
int headers_read(struct request *request, const char *where, json_t *headers,
		 int is_json, char **ret);

/* http_headers.c: give the members `job` of a job those headers of the HTTP
 * request that the job is to have, unless it has them. wants: if the body of
 * the request is the payload, the members that headers such as
 * Readpast-Max-Attempts may set. NULL for a JSON request, of which only the
 * headers of a trace are taken. Returns 0, or -1 after refusing the request. */
int http_headers_take(struct request *request, json_t *job,
		      const struct want *wants);

#endif
