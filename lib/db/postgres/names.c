/*
 * names.c - split a text into SQL statements, and replace named parameters such
 * as :id with $1, $2 and so on. psql has such parameters, but libpq does not.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "postgres.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int
is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c & 0x80;
}

static int
begins_word(char c)
{
	return is_word(c) && !isdigit((unsigned char)c);
}

/* Returns the size of a string or a quoted name. A doubled quote counts as the
 * end of one string and the start of the next. */
static size_t
quoted_size(const char *s, int has_escapes)
{
	size_t n = 1;

	while (s[n] && s[n] != *s)
		n += has_escapes && s[n] == '\\' && s[n + 1] ? 2 : 1;
	return n + (s[n] != '\0');
}

/* Returns the size of a comment. Comments nest in PostgreSQL. */
static size_t
comment_size(const char *s)
{
	size_t n = 0;
	int depth = 0;

	do {
		int opens = s[n] == '/' && s[n + 1] == '*';
		int closes = s[n] == '*' && s[n + 1] == '/';

		depth += opens - closes;
		n += opens || closes ? 2 : 1;
	} while (s[n] && depth > 0);
	return n;
}

/* Returns the size of a dollar-quoted string, $tag$ text $tag$, or 0 if `s`
 * does not begin one. */
static size_t
dollar_size(const char *s)
{
	size_t tag = 1;
	const char *end;

	if (isdigit((unsigned char)s[1]))
		return 0;
	while (is_word(s[tag]))
		tag++;
	if (s[tag++] != '$')
		return 0;
	end = s + tag;
	while ((end = strchr(end, '$')) && strncmp(end, s, tag) != 0)
		end++;
	return end ? (size_t)(end - s) + tag : strlen(s);
}

/* Returns the size of a quoted string or a comment, or 0 if `s` does not begin
 * one. Names inside strings and comments are not parameters. `from` is the
 * start of the statement. */
static size_t
opaque_size(const char *from, const char *s)
{
	char before = s > from ? s[-1] : ' ';

	if (*s == '\'')
		return quoted_size(s,
				   (before == 'e' || before == 'E') &&
					   !(s - 1 > from && is_word(s[-2])));
	if (*s == '"')
		return quoted_size(s, 0);
	if (s[0] == '-' && s[1] == '-')
		return strcspn(s, "\n");
	if (s[0] == '/' && s[1] == '*')
		return comment_size(s);
	return *s == '$' && !is_word(before) ? dollar_size(s) : 0;
}

/* Returns the size of a parameter (: or @ and a name), or 0 if `s` does not
 * begin one. Casts (::) and operators that end in @ are not parameters. */
static size_t
name_size(const char *from, const char *s)
{
	const char *none_behind = *s == ':' ? ":" : ":+-*/<>=~!@#%^&|`?";
	size_t n = 1;

	if ((*s != ':' && *s != '@') || !begins_word(s[1]) ||
	    (s > from && (is_word(s[-1]) || strchr(none_behind, s[-1]))))
		return 0;
	while (is_word(s[n]))
		n++;
	return n;
}

/* Returns the number of this name. Names are numbered from 1, in the order in
 * which they occur. Returns 0 if there are too many names. */
static size_t
number_of(struct rp_named *named, const char *at, size_t size)
{
	size_t i = 0;

	while (i < named->count && (named->names[i].size != size ||
				    memcmp(named->names[i].at, at, size) != 0))
		i++;
	if (i == RP_MOST_NAMES)
		return 0;
	if (i == named->count) {
		named->names[i].at = at;
		named->names[i].size = size;
		named->count++;
	}
	return i + 1;
}

/* Write $ and the parameter's number. `:a`, the shortest parameter, may become
 * `$10`, so the text may grow. The buffer is twice as long as the SQL, which is
 * enough. */
static int
put_number(struct rp_named *named, char **to, const char *at, size_t size)
{
	size_t number = number_of(named, at, size);

	if (!number)
		return -1;
	*to += sprintf(*to, "$%zu", number);
	return 0;
}

/* Copy a statement with its names replaced by numbers. Returns 1 if there is a
 * statement, 0 if there are only comments and space, -1 if it has too many
 * names. */
static int
copy(const char *from, const char **end, struct rp_named *ret)
{
	const char *s = from;
	char *to = ret->text;
	int is_one = 0, r = 0;

	while (*s && *s != ';' && r == 0) {
		size_t n = opaque_size(from, s), name = name_size(from, s);
		int blank = isspace((unsigned char)*s) ||
			    (n && (*s == '-' || *s == '/'));

		is_one |= !blank;
		if (name)
			r = put_number(ret, &to, s + 1, name - 1);
		else
			to = mempcpy(to, s, n ? n : 1);
		s += name ? name : n ? n : 1;
	}
	*to = '\0';
	*end = *s ? s + 1 : s;
	return r < 0 ? r : is_one;
}

int
rp__postgres_next_statement(const char **sql, struct rp_named *ret,
			    rp_error *error)
{
	int r = 0;

	ret->text = malloc(2 * strlen(*sql) + 1);
	if (!ret->text)
		return rp__fail(error, RP_ENOMEM, "out of memory");
	while (**sql && r == 0) {
		ret->count = 0;
		r = copy(*sql, sql, ret);
	}
	if (r == 1)
		return r;
	free(ret->text);
	return r == 0 ? 0
		      : rp__fail(error, RP_EINVAL,
				 "a statement can have at most %d named "
				 "parameters",
				 RP_MOST_NAMES);
}
