/*
 * alone.c - decide when a worker runs suspects, and when it runs other jobs.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 *
 * A suspect is a job that may have killed its worker, so it runs alone. To make
 * room for a suspect, the worker claims nothing until it holds no job. Then it
 * claims the suspect, and nothing more until the suspect has ended or has run
 * for LIVED_US. After that the worker serves other jobs, for as long as they
 * had to wait, and at least until the suspect ends. So suspects take at most
 * half of a worker's time, however many there are and however long other jobs
 * run. Other workers are not delayed by a suspect.
 */
#include "worker.h"

/* A suspect runs alone for this time (us). A job that kills its worker usually
 * does so within this time after its start. */
#define LIVED_US INT64_C(2000000)

#define ROOM_US INT64_C(2000000)
#define MOST_ROOM_US INT64_C(3600000000)

static int
has_lived(const struct alone *alone, int64_t now)
{
	return now - alone->taken_us >= LIVED_US;
}

/* Returns 1 if it is the turn of other jobs: the worker claims jobs, but no
 * suspect. A suspect that was claimed earlier may still be running. Returns 0
 * if the worker runs a suspect that has not yet run for LIVED_US. If the worker
 * has no suspect, returns 0 once the time `others_until` has come. */
static int
is_turn_of_others(const struct alone *alone, int64_t now)
{
	return alone->task ? has_lived(alone, now) : now < alone->others_until;
}

/* Returns since when the worker has claimed no other jobs, in order to make
 * room for a suspect. */
static int64_t
room_since(const struct alone *alone)
{
	return alone->wanted_since > alone->others_until ? alone->wanted_since
							 : alone->others_until;
}

/* To make room for a suspect, the worker claims nothing until its other jobs
 * have ended. If they take longer than a limit, this function gives up for now.
 * The worker then serves other jobs for as long as the limit, and tries again.
 * The limit is ROOM_US at first, and doubles with each try. */
void
rp__alone_end_making_room(struct alone *alone, size_t holding)
{
	int64_t now = rp__monotonic_us();
	int64_t room = alone->room_us ? alone->room_us : ROOM_US;

	if (alone->task || !alone->wanted_since || holding == 0 ||
	    now - room_since(alone) < room)
		return;
	alone->others_until = now + room;
	alone->room_us = room < MOST_ROOM_US ? 2 * room : room;
}

/* Returns 1 if a worker that holds `holding` jobs must claim nothing now. */
int
rp__alone_must_wait(const struct alone *alone, size_t holding)
{
	if (is_turn_of_others(alone, rp__monotonic_us()))
		return 0;
	return alone->task || (alone->wanted_since && holding > 0);
}

/* Returns the number of held jobs that is passed to the next claim. A claim
 * returns a suspect only if this number is 0. In the turn of other jobs no
 * suspect may be claimed. So this function then returns 1 even if the worker
 * holds no job. */
size_t
rp__alone_holding(const struct alone *alone, size_t holding)
{
	return !holding && is_turn_of_others(alone, rp__monotonic_us())
		       ? 1
		       : holding;
}

/* Record that a claim returned `jobs` jobs and skipped `passed_over` suspects.
 * If it skipped suspects and returned no jobs, no other jobs are ready. Then
 * the turn of other jobs ends, and the worker makes room for a suspect. */
void
rp__alone_note_claim(struct alone *alone, size_t jobs, size_t passed_over)
{
	if (passed_over == 0)
		alone->wanted_since = 0;
	else if (!alone->wanted_since || jobs > 0)
		alone->wanted_since = rp__monotonic_us();
	if (passed_over && jobs == 0)
		alone->others_until = 0;
}

/* Record that the worker has claimed this suspect. */
void
rp__alone_note_begin(struct alone *alone, const rp_task *task)
{
	alone->task = task;
	alone->taken_us = rp__monotonic_us();
	alone->began_us =
		alone->wanted_since ? room_since(alone) : alone->taken_us;
	alone->room_us = 0;
}

/* Record that the suspect's handler has ended, or will not be started. */
void
rp__alone_note_end(struct alone *alone, const rp_task *task)
{
	int64_t end = rp__monotonic_us();

	if (alone->task != task)
		return;
	if (has_lived(alone, end))
		end = alone->taken_us + LIVED_US;
	alone->others_until = end + (end - alone->began_us);
	alone->task = NULL;
	alone->wanted_since = 0;
}

/* Returns how many milliseconds are left until the suspect has run for
 * LIVED_US. Returns -1 if the suspect has run that long already, or if the
 * worker holds no suspect. */
int64_t
rp__alone_lives_in_ms(const struct alone *alone)
{
	int64_t now = rp__monotonic_us();

	return alone->task && !has_lived(alone, now)
		       ? (alone->taken_us + LIVED_US - now + 999) / 1000
		       : -1;
}
