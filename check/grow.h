/*
 * grow.h - make room in an array that grows.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#ifndef GROW_H
#define GROW_H

#include <stddef.h>

/* Make room for one more item in an array of `count` items of `size` bytes, of
 * which *room have space. Returns the array, which may have moved, or NULL if
 * memory ran out. In that case the old array is still valid. */
void *grow(void *items, size_t count, size_t *room, size_t size);

#endif
