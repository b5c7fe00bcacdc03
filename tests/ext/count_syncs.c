/*
 * count_syncs.c - count how often a program syncs files. This is an LD_PRELOAD
 * library.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <dlfcn.h>
#include <unistd.h>

extern int syncs;
int syncs;

static int
count(const char *name, int fd)
{
	int (*function)(int);

	*(void **)&function = dlsym(RTLD_NEXT, name);
	syncs++;
	return function(fd);
}

int
fsync(int fd)
{
	return count("fsync", fd);
}

int
fdatasync(int fd)
{
	return count("fdatasync", fd);
}
