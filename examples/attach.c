/*
 * attach.c - take orders from standard input, in transactions of your own.
 *
 *   export READPAST_DB=sqlite:shop.db
 *   sqlite3 shop.db 'create table orders (line integer primary key, text)'
 *   readpast init
 *   ./attach shop.db <orders.txt         # kill -9 it, and start it again
 *   readpast work mail -- send-mail      # a mail for each order
 *
 * The program opens the connection to SQLite itself, and has its own table in
 * the file. An order and the job that sends the mail are one commit, so neither
 * exists without the other. After a restart the program continues after the
 * last line that it has stored, so each line is stored once.
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static sqlite3 *db;

static int
run(const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int
read_number(void *ret, int n, char **values, char **names)
{
	(void)n, (void)names;
	*(int *)ret = atoi(values[0]);
	return 0;
}

/* Insert an order and enqueue its job in one transaction: both happen, or
 * neither. */
static int
take(rp_conn *queue, int line, const char *text)
{
	rp_job_spec mail = RP_JOB_SPEC_INIT;
	char *insert = sqlite3_mprintf("insert into orders values (%d, %Q)",
				       line, text);
	int failed;

	mail.payload = text;
	mail.payload_size = strlen(text);
	failed = !insert || run("begin immediate") || run(insert) ||
		 rp_enqueue(queue, "mail", &mail, NULL) < 0 || run("commit");
	sqlite3_free(insert);
	return failed;
}

int
main(int argc, char **argv)
{
	rp_conn *queue = NULL;
	rp_error error;
	char text[4096];
	int taken, failed;

	failed = argc != 2 || sqlite3_open(argv[1], &db) ||
		 sqlite3_busy_timeout(db, 10000) ||
		 sqlite3_exec(db, "select coalesce(max(line), 0) from orders",
			      read_number, &taken, NULL);
	if (!failed && rp_attach("sqlite", db, NULL, &queue, &error) < 0) {
		fprintf(stderr, "attach: %s\n", error.message);
		return 1;
	}
	for (int line = 1; !failed && fgets(text, sizeof(text), stdin); line++)
		if (line > taken)
			failed = take(queue, line, text);
	if (failed) /* closing the database rolls the open transaction back */
		fprintf(stderr, "attach: %s\n", sqlite3_errmsg(db));
	rp_close(queue); /* our connection to SQLite stays open */
	sqlite3_close(db);
	return failed;
}
