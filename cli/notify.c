/*
 * notify.c - report the worker's state to the service manager, such as systemd.
 *
 * The protocol is described in sd_notify(3): datagrams are sent to the socket
 * that the variable NOTIFY_SOCKET names. We do not link libsystemd, because it
 * would load a dozen libraries at each start of readpast.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "work.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* the longest time, in ms, that the worker needs after the grace period to kill
 * the handlers and to settle their jobs */
#define END_MS 20000

/* These variables are static because a signal handler sends messages, too. */
static struct sockaddr_un manager = { .sun_family = AF_UNIX };
static socklen_t manager_size;
static int fd = -1, serves;
static char ending[80];

static void
send_text(const char *text)
{
	if (fd >= 0)
		sendto(fd, text, strlen(text), MSG_NOSIGNAL,
		       (const struct sockaddr *)&manager, manager_size);
}

int64_t
notify_open(int64_t grace_ms)
{
	const char *name = getenv("NOTIFY_SOCKET");
	const char *usec = getenv("WATCHDOG_USEC"),
		   *pid = getenv("WATCHDOG_PID");
	size_t n = name ? strlen(name) : 0;
	int64_t half_ms = 0;

	if (n > 1 && n < sizeof(manager.sun_path) && strchr("/@", *name)) {
		memcpy(manager.sun_path, name, n);
		if (*name == '@') /* abstract socket */
			manager.sun_path[0] = '\0';
		manager_size =
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	}
	if (fd >= 0 && usec && (!pid || strtoll(pid, NULL, 10) == getpid()))
		half_ms = strtoll(usec, NULL, 10) / 2000;
	snprintf(ending, sizeof(ending), "STOPPING=1\nEXTEND_TIMEOUT_USEC=%lld",
		 (long long)(grace_ms + END_MS) * 1000);
	/* Handlers must not inherit these variables, because they could send
	 * messages that look like ours. */
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return half_ms > 0 && half_ms <= RP_MOST_MS ? half_ms : 0;
}

void
notify_alive(void)
{
	send_text(serves ? "WATCHDOG=1" : "READY=1");
	serves = 1;
}

void
notify_ending(void)
{
	send_text(ending);
}
