/*
 * page.c - answer with a file of the web page, or with the description of the
 * API.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "page.h"

#include <string.h>
#include <strings.h>

#include "handlers.h"

#define INDEX "index.html"
/* The page loads nothing from other servers, and no other page may show it in a
 * frame. */
#define POLICY                                                                 \
	"default-src 'self'; base-uri 'none'; form-action 'self'; "            \
	"frame-ancestors 'none'"

/* Returns whether a path consists of the request's segments. */
static int
is_path(const struct request *request, const char *path)
{
	for (size_t i = 0; i < request->depth; i++) {
		const char *segment = request->segments[i];
		size_t n = strlen(segment);

		if (strchr(segment, '/') || strncmp(path, segment, n) != 0)
			return 0;
		path += n;
		if (i + 1 < request->depth && *path++ != '/')
			return 0;
	}
	return !*path;
}

int
page_find(const struct request *request)
{
	int is_index = request->depth == 1 && !*request->segments[0];

	for (int i = 0; files[i].path; i++)
		if (is_index ? strcmp(files[i].path, INDEX) == 0
			     : is_path(request, files[i].path))
			return i;
	return -1;
}

#define BLANKS " \t"

/* Returns what an element of Accept-Encoding, such as "gzip;q=0.5", says about
 * a coding: 1 that it is accepted, -1 that it is refused (its q is 0), or 0 if
 * the element is about another coding. */
static int
accepts(const char *element, const char *coding)
{
	size_t n = strlen(coding);

	if (strncasecmp(element, coding, n) != 0)
		return 0;
	element += n + strspn(element + n, BLANKS);
	if (!*element || *element == ',')
		return 1;
	if (*element != ';')
		return 0;
	element += strspn(element, ";" BLANKS);
	if (*element != 'q' && *element != 'Q')
		return 1;
	element += 1 + strspn(element + 1, "=" BLANKS);
	n = strspn(element, "0.");
	return n && strchr(",;" BLANKS, element[n]) ? -1 : 1;
}

/* Returns whether the client accepts gzip (RFC 9110, 12.5.3). The element *
 * stands for all codings that have no element of their own. */
static int
accepts_gzip(const struct request *request)
{
	const char *at = head_value(request, "Accept-Encoding");
	int gzip = 0, others = 0;

	while (at && !gzip) {
		at += strspn(at, "," BLANKS);
		gzip = accepts(at, "gzip");
		if (!others)
			others = accepts(at, "*");
		at = strchr(at, ',');
	}
	return (gzip ? gzip : others) > 0;
}

/* The ETag is weak (W/"..."), because the file as it is and its gzip have the
 * same one. RFC 9110, 13.1.2: a client may send it without the W/. */
static int
has_it_already(const struct request *request, const struct file *file)
{
	const char *etag = head_value(request, "If-None-Match");

	return etag && (strcmp(etag, "*") == 0 ||
			strstr(etag, strchr(file->etag, '"')));
}

void
page_run(struct request *request, rp_conn *conn)
{
	int i = page_find(request), packed = accepts_gzip(request);
	const struct file *file = i < 0 ? NULL : &files[i];
	const unsigned char *bytes;

	(void)conn;
	if (!file) {
		refuse(request, RP_ENOENT, NULL,
		       "no such path; this readpast was built without the web "
		       "page");
		return;
	}
	bytes = packed ? file->packed : file->bytes;
	answer_bytes(request, 200, file->type, (char *)(uintptr_t)bytes,
		     packed ? file->packed_size : file->size);
	request->answer.is_static = 1;
	request->answer.is_gzip = packed;
	request->answer.etag = file->etag;
	request->answer.policy = POLICY;
	if (!has_it_already(request, file))
		return;
	request->answer.status = 304;
	request->answer.is_gzip = 0;
	request->answer.size = 0;
}
