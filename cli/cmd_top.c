/*
 * cmd_top.c - the command `top`: show queues, workers and jobs on the screen,
 * refresh them every second, and act on them with keys.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include "top.h"

#include <curses.h>
#include <locale.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

/* The terminal is closed. This value differs from all keys and all RP_E*. */
#define GONE (-1000)

/* Returns whether keys can still be read from the terminal. If the terminal has
 * hung up, getch() does not wait and always returns ERR, so the command must
 * end. If the command's parent was killed, the shell takes the terminal back.
 * Then the command must end, too, because the next keys are for the shell. */
static int
has_terminal(void)
{
	struct termios ignored;
	pid_t owner;

	if (tcgetattr(STDIN_FILENO, &ignored) < 0)
		return 0;
	/* -1 if standard input is not our controlling terminal */
	owner = tcgetpgrp(STDIN_FILENO);
	return owner < 0 || owner == getpgrp();
}

/* Wait for the next key. Returns ERR if no key came within `ms` or if a signal
 * came, and GONE if the terminal is closed. */
static int
next_key(int ms)
{
	int key;

	timeout(ms);
	key = getch();
	return key == ERR && !has_terminal() ? GONE : key;
}

/* Run the loop of the command. The loop refreshes the screen at the user's
 * interval. If a refresh is slow, the loop refreshes less often, so that
 * refreshes take at most a tenth of the time. After a key that changed
 * something, the loop refreshes immediately. */
static int
run(struct top *t)
{
	int64_t next_at = 0, began_at, us;
	int r = TOP_GO_ON, key;

	while (r > 0) {
		began_at = monotonic_us();
		if (began_at >= next_at || r == TOP_CHANGED) {
			r = top_look(t);
			if (r < 0)
				return r;
			us = (monotonic_us() - began_at) * 10;
			if (us < t->interval_ms * 1000)
				us = t->interval_ms * 1000;
			next_at = monotonic_us() + us;
		}
		top_place(t, LINES - TOP_LINES);
		top_draw(t);
		us = next_at - monotonic_us();
		key = next_key(us > 0 ? (int)(us / 1000) + 1 : 0);
		r = key == GONE ? GONE : top_on_key(t, key);
	}
	return r;
}

static int
on_screen(struct top *t)
{
	const char *terminal = getenv("TERM");
	SCREEN *screen;
	int r;

	/* The names on the screen are UTF-8. So if the user's locale is not
	 * installed, assume that the terminal shows UTF-8, as most terminals
	 * do. */
	if (!setlocale(LC_CTYPE, ""))
		setlocale(LC_CTYPE, "C.UTF-8");
	screen = newterm(terminal, stdout, stdin);
	if (!screen)
		return complain(FAILED, "top: no such terminal: %.40s",
				terminal ? terminal : "TERM is not set");
	cbreak();
	noecho();
	curs_set(0);
	keypad(stdscr, TRUE);
	r = run(t);
	endwin();
	delscreen(screen);
	if (r == GONE)
		return complain(FAILED, "top: the terminal was closed");
	return r < 0 ? cmd_failed(t->cmd, r) : DONE;
}

int
cmd_top(struct cmd *cmd, int argc, char **argv)
{
	struct top top = { .cmd = cmd, .interval_ms = 1000 };
	const struct option options[] = {
		{ "--interval", DURATION, &top.interval_ms, "D",
		  "refresh interval (1s)" },
		OPTIONS_END,
	};
	int status = parse_options(cmd, &argc, argv, options);

	if (status)
		return status;
	if (argc)
		return usage(cmd, "takes no arguments");
	if (top.interval_ms < 100 || top.interval_ms > 3600000)
		return usage(cmd, "--interval: expected 100ms to 1h");
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return usage(cmd, "standard input or output is not a terminal; "
				  "use readpast stats instead");
	status = cmd_open(cmd);
	if (status)
		return status;
	status = on_screen(&top);
	top_forget(&top);
	return status;
}
