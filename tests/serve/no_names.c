/*
 * no_names.c - let getnameinfo() fail after its first call, in which a server
 * names the address that it listens on. This is an LD_PRELOAD library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <dlfcn.h>
#include <netdb.h>

int
getnameinfo(const struct sockaddr *address, socklen_t size, char *host,
	    socklen_t host_size, char *port, socklen_t port_size, int flags)
{
	static int calls;
	int (*function)(const struct sockaddr *, socklen_t, char *, socklen_t,
			char *, socklen_t, int);

	if (calls++)
		return EAI_MEMORY;
	*(void **)&function = dlsym(RTLD_NEXT, "getnameinfo");
	return function(address, size, host, host_size, port, port_size, flags);
}
