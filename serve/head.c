/*
 * head.c - check the head of a request, which is its request line and its
 * headers.
 *
 * If a proxy and a server disagree about a head, a client can make one of them
 * read a part of the body as another request, or pass a name that the other one
 * has refused. So refuse a head that another program may read differently, and
 * close the connection, because nobody knows where the next request begins.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <string.h>
#include <strings.h>

/* The characters of a header's name (RFC 9110, 5.6.2). */
#define NAME_CHARACTERS                                                        \
	"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"                  \
	"abcdefghijklmnopqrstuvwxyz"

/* Headers that change what a request does, or whether it is refused. Of each of
 * them, only one value could count. */
static const char *const once[] = { "authorization", "content-type",
				    "idempotency-key", "origin" };
#define ONCE (sizeof(once) / sizeof(*once))

struct head {
	int has_control; /* 1: a value has a control character */
	int is_folded;   /* 1: a header is continued on the next line */
	const char *wrong_name;
	const char *coding; /* a Content-Encoding other than identity */
	int lengths, encodings, hosts;
	int counts[ONCE]; /* how often each of `once` was given */
};

static int
has_control(const char *text)
{
	for (; *text; text++)
		if (((unsigned char)*text < ' ' && *text != '\t') ||
		    *text == '\x7f')
			return 1;
	return 0;
}

/* Returns whether a header is continued on the next line, which begins with a
 * blank. libmicrohttpd 0.9 then adds the next line to the *name* of the header,
 * so `Content-Length:` on one line and ` 5` on the next one is a header
 * `Content-Length5`, and the body would be read as the next request. In the
 * buffer of libmicrohttpd, the name is followed by a NUL, by blanks, and by the
 * value. After such a continuation there is something else between them. */
static int
is_folded(const char *name, const char *value)
{
	const char *end = name + strlen(name);

	return value <= end ||
	       (size_t)(value - end - 1) != strspn(end + 1, " \t");
}

/* Cut the blanks at the end of a value, which do not belong to it (RFC 9110,
 * 5.5). libmicrohttpd 0.9 leaves them in its buffer. It does not recognize
 * `chunked` with such a blank, so the encoding stays as it is, and is
 * refused. */
static void
cut_blanks(const char *name, const char *value)
{
	size_t n = strlen(value), m = n;

	while (m && (value[m - 1] == ' ' || value[m - 1] == '\t'))
		m--;
	if (m < n && strcasecmp(name, "transfer-encoding") != 0)
		*(char *)(uintptr_t)(value + m) = '\0';
}

static enum MHD_Result
add_header(void *ctx, enum MHD_ValueKind kind, const char *name,
	   const char *value)
{
	struct head *head = ctx;
	size_t n = strspn(name, NAME_CHARACTERS);

	(void)kind;
	if (n == 0 || name[n])
		head->wrong_name = name;
	head->has_control |= has_control(value);
	head->is_folded |= is_folded(name, value);
	cut_blanks(name, value);
	head->lengths += strcasecmp(name, "content-length") == 0;
	head->encodings += strcasecmp(name, "transfer-encoding") == 0;
	if (strcasecmp(name, "content-encoding") == 0 && *value &&
	    strcasecmp(value, "identity") != 0)
		head->coding = value;
	head->hosts += strcasecmp(name, "host") == 0;
	for (size_t i = 0; i < ONCE; i++)
		head->counts[i] += strcasecmp(name, once[i]) == 0;
	return MHD_YES;
}

static int
check_text(struct request *request, const struct head *head)
{
	const char *target = request->target;

	if (head->wrong_name)
		return refuse(request, RP_EINVAL, NULL,
			      "the header name \"%.80s\" is not valid",
			      head->wrong_name);
	if (head->is_folded)
		return refuse(request, RP_EINVAL, NULL,
			      "a header is continued on the next line");
	if (head->has_control)
		return refuse(request, RP_EINVAL, NULL,
			      "a header has a control character");
	for (size_t i = 0; i < ONCE; i++)
		if (head->counts[i] > 1)
			return refuse(request, RP_EINVAL, once[i],
				      "the header is given twice");
	if (strpbrk(target, " \t") || has_control(target))
		return refuse(request, RP_EINVAL, NULL,
			      "the path has a space or a control character");
	return 0;
}

const char *
head_value(const struct request *request, const char *name)
{
	return mhd.lookup_connection_value(request->connection, MHD_HEADER_KIND,
					   name);
}

static int
check_length(struct request *request, const struct head *head)
{
	const int64_t most = request->server->options->most_body;
	const char *length = head_value(request, "Content-Length");
	const char *encoding = head_value(request, "Transfer-Encoding");

	if (head->lengths + head->encodings > 1)
		return refuse(request, RP_EINVAL, NULL,
			      "expected at most one header Content-Length or "
			      "Transfer-Encoding");
	/* libmicrohttpd would wait for the end of such a body in vain. */
	if (encoding && strcasecmp(encoding, "chunked") != 0)
		return refuse_status(request, 501, "transfer-encoding",
				     "Transfer-Encoding: expected chunked");
	if (length && (strlen(length) > 15 || atoll(length) > most))
		return refuse(request, RP_EFBIG, NULL,
			      "the body is larger than %lld bytes",
			      (long long)most);
	return 0;
}

int
head_check(struct request *request, int *ret_has_body)
{
	struct head head = { 0 };
	const char *length;

	mhd.get_connection_values(request->connection, MHD_HEADER_KIND,
				  add_header, &head);
	length = head_value(request, "Content-Length");
	*ret_has_body = head.encodings || (length && atoll(length) != 0);
	if (check_text(request, &head) < 0 || check_length(request, &head) < 0)
		return -1;
	if (head.hosts != 1)
		return refuse(request, RP_EINVAL, NULL,
			      "expected one header Host");
	if (head.coding && *ret_has_body)
		return refuse_status(request, 415, "content-encoding",
				     "the body has the Content-Encoding "
				     "%.80s; send it without one",
				     head.coding);
	return 0;
}
