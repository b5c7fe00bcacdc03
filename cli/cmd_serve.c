/*
 * cmd_serve.c - the command `serve`: the queue over HTTP.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "serve.h"

#include "demo.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN "127.0.0.1:8080"
#define CONNECTIONS 10000
/* default of --body: room for a large payload and the text around it */
#define BODY (MAX_PAYLOAD + 65536)
#define TIME_MS 60000

#define LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* Returns whether a header Host may have this name. */
static int
is_host(const char *text)
{
	size_t n;

	if (*text == '[') { /* an address of IPv6 */
		n = strspn(text + 1, "0123456789ABCDEFabcdef:.");
		return n > 0 && strcmp(text + 1 + n, "]") == 0;
	}
	n = strspn(text, LETTERS "-._");
	return n > 0 && !text[n] && n <= MOST_HOST;
}

/* Returns whether the target of a request may begin with this prefix. Clients
 * remove the segments . and .. from a path, also if they are percent-encoded,
 * and a path that begins with // names another host. */
static int
is_prefix(const char *text)
{
	if (text[strspn(text, LETTERS "/-._~!$&'()*+,=:@%")] ||
	    strcasestr(text, "%2e"))
		return 0;
	while (*text == '/') {
		size_t n = strcspn(++text, "/");

		if (n == 0 || (n <= 2 && strspn(text, ".") == n))
			return 0;
		text += n;
	}
	return !*text;
}

static int
check_names(const struct cmd *cmd, const struct options *o)
{
	for (size_t i = 0; i < o->hosts.count; i++)
		if (!is_host(o->hosts.items[i]))
			return usage(cmd,
				     "--host %.80s: expected a name without a "
				     "port, such as queue.example.com",
				     o->hosts.items[i]);
	if (!is_prefix(o->prefix))
		return usage(cmd,
			     "--prefix %.80s: expected a path such as /queue",
			     o->prefix);
	return 0;
}

static int
check(const struct cmd *cmd, const struct options *o)
{
	if (o->listen.count > MOST_LISTENERS)
		return usage(cmd, "give --listen at most %d times",
			     MOST_LISTENERS);
	if (!o->cert != !o->key)
		return usage(cmd, "give both --tls-cert and --tls-key");
	if (o->most_connections < 1 || o->most_connections > 1000000)
		return usage(cmd, "--connections: expected 1 to 1000000");
	if (o->most_body < 1024 || o->most_body > 2 * (int64_t)RP_MOST_PAYLOAD)
		return usage(cmd, "--body: expected 1KiB to 2GB");
	if (o->time_ms < 1000)
		return usage(cmd, "--time: expected at least 1s");
	return check_names(cmd, o);
}

static void
terminate(int number)
{
	(void)number;
	raise(SIGTERM);
}

static int
serve_demo(struct options o)
{
	const struct sigaction quit = { .sa_handler = terminate };
	struct demo demo = { 0 };
	int status;

	/* The first signal from now on ends the server, and so the folder of
	 * the demo is removed. The folder stays if a second signal ends the
	 * process at once, or if the database does not answer any more. */
	interrupt_fd();
	catch_interrupts();
	catch_unless_ignored(SIGQUIT, &quit);
	status = demo_start(&demo);
	o.url = demo.url;
	if (!status)
		status = serve(&o);
	demo_end(&demo);
	return status;
}

int
cmd_serve(struct cmd *cmd, int argc, char **argv)
{
	static const char *standard[] = { LISTEN };
	int is_demo = 0;
	struct options o = { .prefix = "",
			     .most_body = BODY,
			     .most_connections = CONNECTIONS,
			     .time_ms = TIME_MS };
	const struct option options[] = {
		{ "--listen", TEXTS, &o.listen, "ADDRESS",
		  "ADDRESS:PORT or unix:PATH (" LISTEN ")" },
		{ "--tokens", FLAG, &o.tokens, NULL,
		  "calls of /v1 and /metrics need a token (see token add)" },
		{ "--insecure", FLAG, &o.insecure, NULL,
		  "let other machines connect without tokens" },
		{ "--host", TEXTS, &o.hosts, "NAME",
		  "a name under which clients reach this server" },
		{ "--prefix", TEXT, &o.prefix, "PATH",
		  "the path under which a proxy shows this server" },
		{ "--tls-cert", TEXT, &o.cert, "FILE",
		  "certificate in PEM, for HTTPS" },
		{ "--tls-key", TEXT, &o.key, "FILE",
		  "private key of the certificate" },
		{ "--read-only", FLAG, &o.read_only, NULL,
		  "refuse all changes, and their dry runs" },
		{ "--hide-payloads", FLAG, &o.hide_payloads, NULL,
		  "leave out payloads, headers and results, except in claims" },
		{ "--access-log", TEXT, &o.log, "FILE",
		  "write a line of JSON for each request; -: standard output" },
		{ "--body", SIZE, &o.most_body, "SIZE",
		  "the largest body of a request (16MiB and 64KiB)" },
		{ "--connections", COUNT, &o.most_connections, "N",
		  "most connections at once (" DIGITS(CONNECTIONS) ")" },
		{ "--demo", FLAG, &is_demo, NULL,
		  "serve a scratch database with a small load, to try it" },
		{ "--time", DURATION, &o.time_ms, "D",
		  "end a connection that takes longer to send a request (1m)" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (!status && argc)
		status = usage(cmd, "takes no arguments");
	if (!o.listen.count)
		o.listen = (struct texts){ standard, 1 };
	if (!status)
		status = check(cmd, &o);
	if (!status && is_demo && o.tokens)
		status = usage(cmd, "give --demo or --tokens, not both: the "
				    "scratch database has no token");
	o.url = cmd->url;
	if (!status)
		status = listen_check(&o);
	if (!status)
		status = is_demo ? serve_demo(o) : serve(&o);
	if (o.listen.items != standard)
		free(o.listen.items);
	free(o.hosts.items);
	return status;
}
