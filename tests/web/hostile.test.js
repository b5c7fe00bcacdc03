// Texts that other people wrote, such as payloads and errors, are shown as plain text,
// even if they look like HTML or scripts.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { allRead, closeQuietly, open, row, said, visit } from "./browser.js";
import { suite } from "./suite.js";

const HOSTILE = '<script>document.title="pwned"</script><img src=x onerror=alert(1)><a href="javascript:alert(2)">x</a>';

/** Turns the direction of all text after it. */
const TURN = "\u202e";

const its = suite((db) => {
	db.run(["queue", "set", "hostile", "--max-attempts", "1"]);
	db.enqueue("hostile", HOSTILE, "--kind", HOSTILE, "--unique", HOSTILE, "--header", `x=${HOSTILE}`);
	db.fail("hostile", HOSTILE);
	db.enqueue("hostile", HOSTILE);
	db.run(["pause", "hostile", "--reason", HOSTILE]);
	db.run(["cron", "add", "hostile", "<b>bold</b>", "@daily", "--payload", HOSTILE, "--kind", HOSTILE]);
});

test("script and HTML in payloads, errors, kinds, keys, headers and reasons do nothing", async () => {
	const id = its.db.json(["list", "hostile", "--state", "dead"])[0].id;
	const page = await open(its.browser, its.base);
	const texts = {
		"#/queues": ".note",
		"#/queue/hostile?state=dead": "td .clip",
		"#/queue/hostile?state=ready": "td .clip",
		[`#/job/${id}`]: ".bytes pre",
		"#/dead": "th a.open",
		"#/doctor": ".finding",
	};
	for (const [hash, where] of Object.entries(texts)) {
		await visit(page, hash);
		await page.locator(where, { hasText: '<script>document.title="pwned"' }).first().waitFor();
		assert.equal(await page.locator("main script, main a[href^=javascript]").count(), 0, hash);
		assert.equal(await page.locator("main img").count(), 0, hash);
		assert.doesNotMatch(await page.title(), /^pwned/);
	}
	await visit(page, "#/schedules");
	await row(page, "<b>bold</b>").waitFor();
	await closeQuietly(page);
});

test("no character of a name turns the words around it, or hides", async () => {
	const name = `a${TURN}b`;
	const seen = "a\\u202eb";
	const { db } = its;
	db.run(["queue", "set", name, "--group-limit", "1", "--max-attempts", "1"]);
	db.run(["cron", "add", name, name, "@daily", "--kind", name]);
	const fields = ["--kind", name, "--group", name, "--unique", name];
	const dead = db.enqueue(name, "x", ...fields);
	const claim = { method: "POST", body: JSON.stringify({ queues: [name], worker: name }) };
	const { jobs } = await (await fetch(`${its.base}v1/claim`, claim)).json();
	db.run(["fail", jobs[0].claim, "--error", "no route"]);
	const id = db.enqueue(name, "x", ...fields);
	const worker = db.worker(name);
	const page = await open(its.browser, its.base);
	const address = `#/queue/${encodeURIComponent(name)}`;
	for (const hash of ["#/queues", "#/workers", "#/schedules", "#/dead", "#/doctor", address, `${address}?view=groups`, `#/job/${id}`, `#/job/${dead}`]) {
		await visit(page, hash);
		await page.locator("main", { hasText: hash === "#/doctor" ? "Doctor" : seen }).waitFor();
		await allRead(page);
		assert.doesNotMatch((await page.innerText("body")) + (await page.title()), /\u202e/, hash);
	}
	await page.locator(".why", { hasText: `queue ${seen} has been dead since` }).waitFor();
	await page.locator(".timeline", { hasText: `worker ${seen}` }).waitFor();
	await visit(page, `${address}?state=dead&kind=${encodeURIComponent(name)}`);
	await page.getByRole("button", { name: "Delete these…" }).click();
	await page.getByRole("heading", { name: `Delete dead jobs of queue ${seen} of kind ${seen}` }).waitFor();
	await page.getByRole("button", { name: "Delete 1 job" }).click();
	await said(page, `1 job of ${seen} is deleted.`);
	await db.stop(worker);
	await closeQuietly(page);
});

test("names whose letters run from right to left stay in the order of their list", async () => {
	const queues = ["\u05d0\u05d1\u05d2", "\u05d3\u05d4\u05d5"];
	const worker = its.db.start(["work", ...queues, "--quiet", "--", "true"]);
	const page = await open(its.browser, its.base, "#/workers");
	const list = page.locator("td[data-label=queues] .name", { hasText: queues[0] });
	const lefts = await list.evaluate((one, names) => {
		const text = one.firstChild;
		const range = document.createRange();
		return names.map((name) => {
			const at = text.data.indexOf(name);
			range.setStart(text, at);
			range.setEnd(text, at + name.length);
			return range.getBoundingClientRect().left;
		});
	}, queues);
	assert.ok(lefts[0] < lefts[1], String(lefts));
	await its.db.stop(worker);
	await closeQuietly(page);
});

test("queues whose names have nothing to see can be opened, and names with other spaces told apart", async () => {
	for (const name of [" ", "\u200b", "\u200d", "a b", "a  b"]) its.db.run(["queue", "set", name]);
	const page = await open(its.browser, its.base);
	for (const [seen, name] of [
		['" "', " "],
		['"\\u200b"', "\u200b"],
		['"\\u200d"', "\u200d"],
	]) {
		await page.getByRole("link", { name: seen, exact: true }).click();
		await page.getByRole("heading", { name: `Queues / ${seen}` }).waitFor();
		assert.equal(page.url(), `${its.base}#/queue/${encodeURIComponent(name)}`);
		await page.goBack();
	}
	const narrow = await page.locator("a.open").getByText(/^a b$/).evaluate((one) => one.getBoundingClientRect().width);
	const wide = await page.locator("a.open").getByText(/^a  b$/).evaluate((one) => one.getBoundingClientRect().width);
	assert.ok(wide > narrow, `${wide} > ${narrow}`);
	await closeQuietly(page);
});

test("the payload itself is never a page of the server", async () => {
	const id = its.db.json(["list", "hostile", "--state", "dead"])[0].id;
	const answer = await fetch(`${its.base}v1/jobs/${id}/payload`);
	assert.equal(await answer.text(), HOSTILE);
	assert.doesNotMatch(answer.headers.get("content-type"), /html|svg|xml/);
	assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
});

test("the policy forbids every script but ours", async () => {
	const answer = await fetch(its.base);
	assert.match(answer.headers.get("content-security-policy"), /default-src 'self'/);
	const page = await open(its.browser, its.base);
	await page.evaluate(() => {
		const script = document.createElement("script");
		script.textContent = 'document.title = "pwned"';
		document.body.append(script);
	});
	assert.doesNotMatch(await page.title(), /^pwned/);
	assert.equal(page.complaints.length, 1);
	await page.context().close();
});
