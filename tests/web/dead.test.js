// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();

test("dead jobs are grouped by error; numbers in an error do not count", async () => {
	const page = await open(its.browser, its.base, "#/dead");
	await page.getByText("3 errors in the newest 18 dead jobs").waitFor();
	const texts = await page.locator("main tbody tr").allInnerTexts();
	assert.match(texts[0], /^9\b[^]*column 4 is not a number[^]*imports/);
	assert.match(texts[1], /^6\b[^]*421 try again[^]*mail/);
	assert.match(texts[2], /^3\b[^]*no space left on device[^]*imports/);
	await closeQuietly(page);
});

test("a group leads to its jobs", async () => {
	const page = await open(its.browser, its.base, "#/dead");
	await row(page, "421 try again").locator("a.open").click();
	await until(async () => (await page.locator("main tbody tr").count()) === 6, "six jobs");
	assert.match(page.url(), /queue\/mail\?state=dead&error=/);
	await closeQuietly(page);
});

test("a group is retried, after saying how many jobs", async () => {
	const page = await open(its.browser, its.base, "#/dead");
	await row(page, "not a number").getByRole("button", { name: "Retry" }).click();
	await page.getByRole("dialog").getByText("9 jobs match now.").waitFor();
	await page.getByRole("button", { name: "Retry 9 jobs" }).click();
	await said(page, "9 jobs of imports are retried.");
	await page.getByText("2 errors in the newest 9 dead jobs").waitFor();
	assert.equal(its.db.json(["stats", "imports"])[0].dead, 3);
	await closeQuietly(page);
});

test("a group is deleted, after saying how many jobs", async () => {
	const page = await open(its.browser, its.base, "#/dead");
	await row(page, "no space left").getByRole("button", { name: "Delete" }).click();
	await page.getByRole("button", { name: "Delete 3 jobs" }).click();
	await said(page, "3 jobs of imports are deleted.");
	await page.getByText("1 error in the newest 6 dead jobs").waitFor();
	assert.equal(its.db.json(["stats", "imports"])[0].dead, 0);
	await closeQuietly(page);
});

test("errors without fixed text, long errors and jobs without an error can be told apart", async () => {
	const long = `${"x".repeat(499)}\u{1f600} at line 7`;
	for (const text of ["42", "42", "43", long]) {
		its.db.enqueue("odd", text, "--max-attempts", "1");
		its.db.fail("odd", text);
	}
	its.db.enqueue("odd", "blank", "--max-attempts", "1");
	its.db.run(["fail", its.db.json(["claim", "odd"])[0].claim, "--error", " "]);
	const page = await open(its.browser, its.base, "#/dead");
	await row(page, "no error text").waitFor();
	assert.equal(await row(page, "no error text").getByRole("button").count(), 0);
	await page.getByRole("button", { name: "Retry: 42", exact: true }).click();
	await page.getByRole("button", { name: "Retry 2 jobs" }).click();
	await said(page, "2 jobs of odd are retried.");
	await row(page, "at line 7").getByRole("button", { name: "Delete" }).click();
	await page.getByRole("button", { name: "Delete 1 job" }).click();
	await said(page, "1 job of odd is deleted.");
	assert.deepEqual(
		its.db.json(["list", "odd", "--state", "dead"]).map((job) => job.last_error),
		[" ", "43"],
	);
	its.db.run(["purge", "odd", "--state", "all", "--yes"]);
	await closeQuietly(page);
});

test("the dialog says that it includes other errors than those of the group", async () => {
	for (const text of ["E 1", "E 2", "Everything else"]) {
		its.db.enqueue("wide", text, "--max-attempts", "1");
		its.db.fail("wide", text);
	}
	const page = await open(its.browser, its.base, "#/dead");
	const dialog = page.getByRole("dialog");
	const note = dialog.getByText("The page shows 2 jobs with this error.");
	await page.getByRole("button", { name: "Retry: E 2", exact: true }).click();
	await dialog.getByText("3 jobs match now.").waitFor();
	await note.waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Retry: Everything else" }).click();
	await dialog.getByText("1 job matches now.").waitFor();
	assert.equal(await dialog.getByText("The page shows").count(), 0);
	await closeQuietly(page);
	its.db.run(["purge", "wide", "--state", "all", "--yes"]);
});

test("a failure in the middle is shown with what was read", async () => {
	const lines = Array.from({ length: 450 }, (_, i) => `job ${i}`).join("\n");
	its.db.run(["queue", "set", "many", "--max-attempts", "1"]);
	its.db.run(["enqueue", "many", "--quiet"], lines);
	its.db.attempt(["work", "many", "-j8", "--drain", "--quiet", "--", "false"]);
	const page = await open(its.browser, its.base);
	let calls = 0;
	await page.route(/v1\/jobs/, (route) => (++calls < 3 ? route.continue() : route.abort()));
	await page.evaluate(() => {
		location.hash = "#/dead";
	});
	await page.getByText("Not all dead jobs could be read.").waitFor();
	await page.getByText("in the newest 400 dead jobs").waitFor();
	assert.equal(await page.getByText("No job is dead.").count(), 0);
	await page.unroute(/v1\/jobs/);
	await page.getByRole("button", { name: "Try again" }).click();
	await page.getByText("in the newest 456 dead jobs").waitFor();
	await page.context().close();
});

test("while the page reads, the dialog keeps its filter, and does not explain jobs that are not read yet", async () => {
	its.db.run(["queue", "set", "late", "--max-attempts", "1"]);
	its.db.enqueue("late", "x");
	its.db.fail("late", "error 1");
	its.db.run(["enqueue", "late", "--quiet"], "x\n".repeat(250));
	its.db.fail("late", "error 2");
	const page = await open(its.browser, its.base);
	let pass;
	const asked = new Promise((resolve) => (pass = resolve));
	let calls = 0;
	await page.route(/v1\/jobs/, async (route) => {
		if (++calls > 1) await asked;
		await route.continue();
	});
	await visit(page, "#/dead");
	await page.getByText("in the newest 200 dead jobs, reading").waitFor();
	await row(page, "late").getByRole("button", { name: "Delete" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByText("250 jobs match now.").waitFor();
	assert.equal(await dialog.getByText("The page shows").count(), 0);
	pass();
	await page.getByText("in the newest 707 dead jobs").waitFor();
	assert.equal(await dialog.getByText("The page shows").count(), 0);
	await page.getByRole("button", { name: "Delete 250 jobs" }).click();
	await said(page, "250 jobs of late are deleted.");
	await closeQuietly(page);
});

test("while the page reads, no row moves up or down, and only the end is announced", async () => {
	its.db.enqueue("rare", "x", "--max-attempts", "1");
	its.db.fail("rare", "the newest error");
	// The page of workers has no rows, and is not announced.
	const page = await open(its.browser, its.base, "#/workers");
	await page.getByText("No worker runs.").waitFor();
	await page.evaluate(() => {
		window.announced = [];
		window.first = [];
		const note = (list, selector) => {
			const text = document.querySelector(selector)?.textContent;
			if (text && text !== list.at(-1)) list.push(text);
		};
		new MutationObserver(() => {
			note(window.announced, "main .bar [role=status]");
			note(window.first, "main tbody a.open");
		}).observe(document.body, { childList: true, characterData: true, subtree: true });
		location.hash = "#/dead";
	});
	await page.getByText(/in the newest \d+ dead jobs$/).waitFor();
	const { announced, first } = await page.evaluate(() => ({ announced: window.announced, first: window.first }));
	assert.equal(announced.length, 1, announced.join());
	assert.deepEqual(first.map((text) => text.includes("the newest error")), [true, false], first.join());
	await closeQuietly(page);
});
