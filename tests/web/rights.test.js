// A server that needs a token, and a server with --read-only.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, row, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();

/** Make a token with these scopes. */
function addToken(name, may) {
	return its.db.run(["token", "add", name, "--may", may]).trim();
}

async function logIn(page, token) {
	await page.getByLabel("Token").fill(token);
	await page.keyboard.press("Enter");
	await page.getByRole("button", { name: "Log out" }).waitFor();
}

/** Returns the names of the page's buttons that change something. */
function changesOf(page) {
	return page.evaluate(() =>
		[...document.querySelectorAll("main button")]
			.map((one) => one.getAttribute("aria-label") ?? one.innerText)
			.map((name) => name.replace(/ \(\d+\)$/, "")) // a number in an error
			.filter((name) => !/^(Filter|Read again|as it is)$/.test(name)),
	);
}

/** Visit pages, wait until each shows the text that is given for it, and compare its
 * changes with those expected. */
async function compareChanges(page, texts, expected = {}) {
	for (const [hash, text] of Object.entries(texts)) {
		await visit(page, hash);
		await page.locator("main", { hasText: text }).waitFor();
		assert.deepEqual(await changesOf(page), expected[hash] ?? [], hash);
	}
}

/** Returns pages that have changes, each with a text that it shows when it has been
 * read. No text is also in the page before. */
function pagesWithChanges() {
	const [mail, imports] = ["mail", "imports"].map((queue) => its.db.json(["list", queue, "--state", "dead"])[0].id);
	return {
		"#/queues": "thumbnails",
		"#/queue/mail?state=dead": "421 try again",
		"#/queue/mail?view=settings": "keep-done",
		"#/dead": "421 try again",
		"#/queue/imports?view=settings": "keep-done",
		"#/schedules": "nightly",
		[`#/job/${mail}`]: `Job ${mail} of queue mail has been dead`,
		[`#/job/${imports}`]: `Job ${imports} of queue imports has been dead`,
	};
}

test("a server that wants a token shows a form; a token opens the page", async () => {
	const token = addToken("ops", "read:*,admin:*");
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	for (const [wrong, failure] of [
		["rp_1_wrong", "the token is not valid"],
		["rp_…", "This is not a token"],
	]) {
		await page.getByLabel("Token").fill(wrong);
		await page.getByRole("button", { name: "Log in" }).click();
		await page.getByRole("alert").getByText(failure).waitFor();
	}
	await logIn(page, token);
	await row(page, "mail").waitFor();
	await page.getByText("Live", { exact: true }).waitFor();

	const [cookie] = await page.context().cookies();
	assert.deepEqual([cookie.httpOnly, cookie.sameSite], [true, "Strict"]);
	await page.reload();
	await row(page, "mail").waitFor();
	await page.getByRole("button", { name: "Log out" }).click();
	await page.getByLabel("Token").waitFor();
	await page.reload();
	await page.getByLabel("Token").waitFor();
	await page.context().close();
});

test("a login in one tab opens the page in the other tabs", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	const other = await page.context().newPage();
	await other.goto(server.base);
	await other.getByLabel("Token").waitFor();
	await logIn(page, addToken("two-tabs", "read:*"));
	await other.evaluate(() => dispatchEvent(new Event("focus")));
	await row(other, "mail").waitFor();
	await page.context().close();
});

test("if the session ends, the field for a token has the focus, and the title says so", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await logIn(page, addToken("short", "read:*"));
	await page.getByPlaceholder("Name contains").click();
	its.db.run(["token", "remove", "short"]);
	await page.getByLabel("Token").waitFor();
	await page.keyboard.type("rp_typed");
	assert.equal(await page.getByLabel("Token").inputValue(), "rp_typed");
	await until(async () => (await page.title()) === "Log in · readpast", "the title");
	await page.context().close();
});

test("after a login with another token the page shows nothing of the former one", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await logIn(page, addToken("former", "read:mail"));
	await row(page, "mail").waitFor();
	its.db.run(["token", "remove", "former"]);
	await page.getByLabel("Token").waitFor();
	// Without live numbers the page must not fall back on those that it has.
	await page.route(/v1\/(events|stats)/, () => undefined);
	await logIn(page, addToken("later", "read:imports"));
	assert.equal(await page.getByText("mail", { exact: true }).count(), 0);
	await page.context().close();
});

test("a read-only server offers no change", async () => {
	const server = await its.db.serve("--read-only");
	const page = await open(its.browser, server.base);
	await page.getByText("read-only").waitFor();
	await compareChanges(page, pagesWithChanges());
	await page.context().close();
});

test("a token that may only read is offered no change", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await logIn(page, addToken("reader", "read:*,enqueue:*,work:*"));
	await compareChanges(page, pagesWithChanges());
	assert.equal(await page.getByText("read-only").count(), 0);
	await page.context().close();
});

test("a token is offered the changes of the queues that it may change", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await logIn(page, addToken("postmaster", "read:*,admin:mail,admin:thumb*"));
	const pages = pagesWithChanges();
	const [job] = Object.keys(pages).filter((hash) => pages[hash].includes("of queue mail"));
	await compareChanges(page, pages, {
		"#/queues": ["Pause queue mail", "Pause queue thumbnails"],
		"#/queue/mail?state=dead": ["Pause queue mail", "Retry these…", "Delete these…"],
		"#/queue/mail?view=settings": ["Pause queue mail", "Change settings…"],
		"#/dead": ["Retry: smtp.example.org: 421 try again", "Delete: smtp.example.org: 421 try again"],
		"#/schedules": ["Run digest now", "Pause digest"],
		[job]: ["Retry"],
	});
	await visit(page, "#/schedules");
	await page.reload();
	await page.getByRole("button", { name: "Log out" }).waitFor();
	await row(page, "digest").waitFor();
	assert.deepEqual(await changesOf(page), ["Run digest now", "Pause digest"]);
	await page.context().close();
});

test("a page without rows says that it shows only what the token may read", async () => {
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await logIn(page, addToken("stranger", "read:nothing"));
	for (const [hash, text] of [
		["#/queues", "There is no queue that this token may read."],
		["#/dead", "No job that this token may read is dead."],
		["#/schedules", "There is no schedule that this token may read."],
		["#/workers", "No worker serves a queue that this token may read."],
		["#/job/1", "There is no job 1 that this token may read."],
	]) {
		await visit(page, hash);
		await page.getByText(text, { exact: true }).waitFor();
	}
	await page.context().close();
});

test("a worker that also serves queues of others is shown without the numbers of its jobs", async () => {
	const id = its.db.enqueue("tenant", "x");
	its.db.start(["work", "tenant", "private", "--quiet", "--", "sleep", "600"]);
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base, "#/workers");
	await logIn(page, addToken("tenant", "read:tenant"));
	const worker = row(page, "tenant");
	await worker.getByRole("link", { name: String(id), exact: true }).waitFor();
	assert.doesNotMatch(await worker.innerText(), /private|more/);
	for (const label of ["done", "failed", "released"])
		assert.equal(await worker.locator(`[data-label=${label}]`).innerText(), "–");
	await page.context().close();
});

test("a server that hides payloads shows none", async () => {
	const server = await its.db.serve("--hide-payloads");
	const id = its.db.json(["list", "mail", "--state", "dead"])[0].id;
	const page = await open(its.browser, server.base, `#/job/${id}`);
	await page.getByText("This server does not show payloads and headers.").waitFor();
	assert.equal(await page.getByText("user3@example.org").count(), 0);
	await visit(page, "#/queue/mail?state=done");
	await row(page, "done").first().waitFor();
	assert.doesNotMatch(await page.locator("main").innerText(), /example\.org/);
	await page.context().close();
});
