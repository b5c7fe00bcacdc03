/*
 * guard.c - check whether the sender of a request may use this server, and
 * whether it may do what the request asks for.
 *
 * A foreign web page can make the browser of a user on this machine send
 * requests to a server on loopback. The browser names the page's host in the
 * header Origin. If an attacker lets the name of that host resolve to this
 * machine (DNS rebinding), the header Host has that name, too. So both headers
 * must name this server.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "internal.h"

/* ---- Host and Origin ---- */

/* Split a text of the form HOST or HOST:PORT. Without a port, *ret_port is set
 * to 0. Returns 0, or -1 if the text has another form. */
static int
split_host(const char *text, char *host, size_t room, int *ret_port)
{
	/* An IPv6 address has colons of its own, between brackets. */
	const char *end = *text == '[' ? strchr(text, ']') : text;
	const char *colon = end ? strchr(end, ':') : NULL;
	size_t n = colon ? (size_t)(colon - text) : strlen(text);
	int64_t port = 0;

	if (!end || n == 0 || n >= room)
		return -1;
	if (colon && (parse_whole(colon + 1, &port) < 0 || port > 65535))
		return -1;
	memcpy(host, text, n);
	host[n] = '\0';
	*ret_port = (int)port;
	return 0;
}

/* A socket that listens on [::] also gets clients of IPv4. Its address for such
 * a client is an IPv6 address like ::ffff:127.0.0.1, which no client writes
 * into the header Host. Replace it by the IPv4 address. */
static void
unmap_address(struct sockaddr_storage *address, socklen_t *size)
{
	struct sockaddr_in6 from;
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (address->ss_family != AF_INET6)
		return;
	memcpy(&from, address, sizeof(from));
	if (!IN6_IS_ADDR_V4MAPPED(&from.sin6_addr))
		return;
	to.sin_port = from.sin6_port;
	memcpy(&to.sin_addr, &from.sin6_addr.s6_addr[12], sizeof(to.sin_addr));
	memcpy(address, &to, sizeof(to));
	*size = sizeof(to);
}

int
is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		return ntohl(in->sin_addr.s_addr) >> 24 == 127;
	}
	return address->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(
		       &((const struct sockaddr_in6 *)(const void *)address)
				->sin6_addr);
}

/* Write to `host` the address at which the client reached this server. Returns
 * the port, 0 if the client used a socket in the file system, or -1 if the
 * address cannot be found. */
static int
own_address(const struct request *request, char *host, size_t room,
	    int *ret_is_loopback)
{
	struct sockaddr_storage address = { 0 };
	socklen_t size = sizeof(address);
	char text[NI_MAXHOST], port[8];

	*ret_is_loopback = 0;
	if (getsockname(request->fd, (struct sockaddr *)&address, &size) < 0)
		return -1;
	if (address.ss_family == AF_UNIX)
		return 0;
	unmap_address(&address, &size);
	if (getnameinfo((struct sockaddr *)&address, size, text, sizeof(text),
			port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV))
		return -1;
	*ret_is_loopback = is_loopback((struct sockaddr *)&address);
	snprintf(host, room, strchr(text, ':') ? "[%s]" : "%s", text);
	return atoi(port);
}

static int
is_given_name(const struct request *request, const char *host)
{
	const struct texts *hosts = &request->server->options->hosts;

	for (size_t i = 0; i < hosts->count; i++)
		if (strcasecmp(hosts->items[i], host) == 0)
			return 1;
	return 0;
}

static int
check_host(struct request *request)
{
	const char *text = head_value(request, "Host");
	int own_port, port, is_local, standard;
	char host[MOST_HOST + 1], own[MOST_HOST + 1];

	if (!text || split_host(text, host, sizeof(host), &port) < 0)
		return refuse(request, RP_EINVAL, NULL,
			      "the header Host is not valid");
	standard = request->server->options->cert ? 443 : 80;
	own_port = own_address(request, own, sizeof(own), &is_local);
	if (own_port == 0 || is_given_name(request, host))
		return 0;
	if ((port ? port : standard) == own_port &&
	    (strcasecmp(host, own) == 0 ||
	     (is_local && strcasecmp(host, "localhost") == 0)))
		return 0;
	return refuse_status(request, 421, "wrong-host",
			     "the header Host names %.80s, which is not this "
			     "server; --host adds a name",
			     text);
}

/* If the target has a host, it must be the one of the header Host. Otherwise a
 * proxy and this server could disagree about the host. */
static int
check_authority(struct request *request)
{
	const char *host = head_value(request, "Host");
	size_t n;
	const char *authority = target_authority(request, &n);

	if (!authority ||
	    (strlen(host) == n && strncasecmp(authority, host, n) == 0))
		return 0;
	return refuse_status(request, 421, "wrong-host",
			     "the target names %.*s, but the header Host names "
			     "%.80s",
			     n < 80 ? (int)n : 80, authority, host);
}

/* Check the header Origin, in which a browser names the page that sends the
 * request. Programs other than browsers send no Origin. The page may be of
 * https although the request is of http, because a proxy may speak TLS for us.
 */
static int
check_origin(struct request *request)
{
	const char *origin = head_value(request, "Origin");
	const char *host = head_value(request, "Host");
	const char *name = origin ? after_scheme(origin) : NULL;
	char bare[MOST_HOST + 1];
	int port;

	if (!origin)
		return 0;
	if (name && strcasecmp(name, host) == 0)
		return 0;
	if (name && split_host(name, bare, sizeof(bare), &port) == 0 &&
	    is_given_name(request, bare))
		return 0;
	return refuse_status(request, 403, "foreign-origin",
			     "a page of %.80s may not use this server", origin);
}

int
guard_check(struct request *request)
{
	if (check_host(request) < 0 || check_authority(request) < 0)
		return -1;
	return check_origin(request);
}

/* ---- tokens ---- */

#define COOKIE "readpast" /* the page keeps its token in this cookie */

const char *
guard_token_text(const struct request *request)
{
	static const char bearer[] = "Bearer ";
	const char *text = head_value(request, "Authorization");

	if (text && strncasecmp(text, bearer, strlen(bearer)) == 0) {
		text += strlen(bearer);
		return text + strspn(text, " ");
	}
	return mhd.lookup_connection_value(request->connection, MHD_COOKIE_KIND,
					   COOKIE);
}

char *
guard_cookie(const struct request *request, const char *token)
{
	const struct options *o = request->server->options;
	char *cookie;

	if (asprintf(&cookie,
		     COOKIE "=%s; Path=%s/; HttpOnly; "
			    "SameSite=Strict%s%s",
		     token ? token : "", o->prefix, o->cert ? "; Secure" : "",
		     token ? "" : "; Max-Age=0") < 0)
		return NULL;
	return cookie;
}

/* Find the request's token, if the route needs a token. If the token's key is
 * not in the list of tokens, the token may be newer than the list. So if the
 * list was read before the request came, set is_token_unknown. The server then
 * reads the list again, and calls this function once more. */
static int
find_token(struct request *request)
{
	struct tokens *tokens = &request->server->tokens;
	const char *text = guard_token_text(request);
	int is_unknown = 0, was_read = request->is_token_unknown;

	if (!request->server->options->tokens || request->route->may == MAY_ALL)
		return 0;
	request->is_token_unknown = 0;
	request->token = text ? tokens_find(tokens, text, &is_unknown) : NULL;
	if (request->token)
		return 0;
	if (is_unknown && !was_read &&
	    atomic_load(&tokens->read_us) <= request->began_us) {
		request->is_token_unknown = 1;
		return 0;
	}
	return refuse_status(request, 401, "token",
			     text ? "the token is not valid"
				  : "this server needs a token, in the header "
				    "Authorization: Bearer TOKEN");
}

int
guard_again(struct request *request)
{
	if (!request->token ||
	    tokens_have(&request->server->tokens, request->token))
		return 0;
	return refuse_status(request, 401, "token", "the token was removed");
}

/* ---- rights ---- */

int
may(const struct request *request, enum may what, const char *queue)
{
	return !request->server->options->tokens ||
	       (request->token && token_may(request->token, what, queue));
}

int
refuse_scope(struct request *request)
{
	return refuse_status(request, 403, "scope",
			     "the token does not allow this");
}

int
guard_queue(struct request *request, enum may what, const char *queue)
{
	return may(request, what, queue) ? 0 : refuse_scope(request);
}

int
guard_named_queue(struct request *request, const char *parameter,
		  const char *queue)
{
	rp_error error;

	if (rp__check_name(&error, "the name of a queue", queue, RP_MOST_NAME))
		return refuse(request, RP_EINVAL, parameter, "%s",
			      error.message);
	return guard_queue(request, MAY_READ, queue);
}

/* Returns whether a server with --read-only accepts the request. It accepts
 * v1/session with every method, because that path changes only a cookie. */
static int
only_reads(const struct route *route)
{
	return strcmp(route->method, "GET") == 0 ||
	       strcmp(route->path, "v1/session") == 0;
}

int
guard_route(struct request *request)
{
	const struct route *route = request->route;

	if (request->server->options->read_only && !only_reads(route))
		return refuse(request, RP_EREADONLY, NULL,
			      "this server was started with --read-only");
	if (find_token(request) < 0)
		return -1;
	return route->names_queue && !request->is_token_unknown
		       ? guard_queue(request, route->may, request->segments[2])
		       : 0;
}
