// Texts that other people wrote, such as payloads and errors, are shown as plain text,
// even if they look like HTML or scripts.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { closeQuietly, open, row, visit } from "./browser.js";
import { suite } from "./suite.js";

const HOSTILE = '<script>document.title="pwned"</script><img src=x onerror=alert(1)><a href="javascript:alert(2)">x</a>';

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
