// A real `readpast serve` over a real database in a temporary folder.
//
// The environment variable READPAST names the program to test. The default is the
// program in build/.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program =
	process.env.READPAST ?? fileURLToPath(new URL("../../build/cli/readpast", import.meta.url));
const START_MS = 30000;
const STOP_MS = 2000;
const LEAST_WAIT_MS = 50;
const MOST_OUTPUT = 64 * 1024 * 1024;

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** Call `question` until its result is true, and return the result. */
export async function until(question, what, ms = START_MS) {
	const end = Date.now() + ms;
	for (;;) {
		const answer = await question();
		if (answer) return answer;
		if (Date.now() > end) throw new Error(`waited ${ms} ms in vain: ${what}`);
		await sleep(LEAST_WAIT_MS);
	}
}

export class Database {
	constructor() {
		this.folder = mkdtempSync(join(tmpdir(), "readpast-web-"));
		this.url = `sqlite:${this.folder}/test.db`;
		this.children = [];
		this.run(["init"]);
	}

	/** Run the command to its end, and return what it printed. */
	run(args, input = "") {
		return execFileSync(program, ["--db", this.url, ...args], {
			input,
			encoding: "utf8",
			maxBuffer: MOST_OUTPUT,
			stdio: ["pipe", "pipe", "pipe"],
		});
	}

	/** Run the command, whatever its exit status is. A worker whose job died
	 * exits with another status than 0. */
	attempt(args, input) {
		try {
			return this.run(args, input);
		} catch (error) {
			return error.stdout;
		}
	}

	json(args) {
		const lines = this.run([...args, "--json"]).split("\n");
		return lines.filter(Boolean).map((line) => JSON.parse(line));
	}

	job(id) {
		return this.json(["show", String(id)])[0];
	}

	enqueue(queue, payload, ...options) {
		return Number(this.run(["enqueue", queue, payload, ...options]));
	}

	/** Fail each job of the queue once, with this text. */
	fail(queue, text) {
		const handler = ["sh", "-c", 'echo "$1" >&2; exit 1', "sh", text];
		this.attempt(["work", queue, "--drain", "--quiet", "--", ...handler]);
	}

	start(args, options = {}) {
		const child = spawn(program, ["--db", this.url, ...args], {
			stdio: ["ignore", "pipe", "pipe"],
			...options,
		});
		child.said = "";
		for (const stream of [child.stdout, child.stderr])
			stream.on("data", (text) => {
				child.said += text;
			});
		child.ended = new Promise((done) => child.on("exit", done));
		this.children.push(child);
		return child;
	}

	/** A worker that runs each job for a long time. */
	worker(queue, jobs = 1) {
		return this.start(["work", queue, `-j${jobs}`, "--quiet", "--", "sleep", "600"]);
	}

	async serve(...options) {
		const server = this.start(["serve", "--listen", "127.0.0.1:0", ...options]);
		server.base = await until(() => {
			if (server.exitCode !== null) throw new Error(`serve ended: ${server.said}`);
			return server.said.match(/^listening on (http.*)\n/m)?.[1];
		}, "the server to listen");
		return server;
	}

	/** Stop a server or a worker. A worker would first wait for its handlers. */
	async stop(child) {
		child.kill("SIGTERM");
		const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
		await child.ended;
		clearTimeout(late);
	}

	async remove() {
		for (const child of this.children) await this.stop(child);
		rmSync(this.folder, { recursive: true, force: true });
	}
}
