/*
 * transfer.c - move money between two accounts exactly once, even if processes
 * are killed.
 *
 *   export READPAST_DB=sqlite:bank.db
 *   sqlite3 bank.db 'create table account (name, money);
 *           insert into account values ("a", 10000), ("b", 0)'
 *   readpast init && seq 10000 | readpast enqueue transfers
 *   ./transfer & ./transfer & ./transfer      # kill -9 any, start more
 *   sqlite3 bank.db 'select * from account'   # a 0, b 10000
 *
 * SPDX-License-Identifier: MIT
 * SPDX-FileCopyrightText: The readpast authors
 */
#include <readpast.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

static int
move(rp_conn *bank, const char *sql)
{
	return sqlite3_exec(rp_conn_native(bank), sql, NULL, NULL, NULL);
}

/* Do one job: move 1 from account a to account b. The move and the completion
 * of the job are one commit. */
static int
transfer(rp_task *task, const rp_job *job, void *ctx)
{
	rp_conn *bank;

	(void)job, (void)ctx;
	if (rp_task_begin(task, &bank) < 0 ||
	    move(bank, "update account set money = money - 1 where name='a'") ||
	    move(bank, "update account set money = money + 1 where name='b'") ||
	    rp_task_complete(task) < 0 || rp_task_commit(task) < 0)
		return RP_FAIL;
	return RP_DONE;
}

int
main(void)
{
	rp_worker_options options = RP_WORKER_INIT;
	rp_worker *worker;
	rp_error error;

	options.threads = 2;
	/* rp_worker_run() returns when no job is left */
	options.drain = 1;
	/* The jobs of a killed worker are ready again after this time. */
	options.lease_ms = 2000;
	if (rp_worker_new(getenv("READPAST_DB"), &options, &worker, &error) ||
	    rp_worker_handle(worker, "transfers", NULL, transfer, NULL) ||
	    rp_worker_run(worker, &error)) {
		fprintf(stderr, "transfer: %s\n", error.message);
		return 1;
	}
	rp_worker_free(worker);
	return 0;
}
