// A server that needs a token, and a server with --read-only.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, row, visit } from "./browser.js";
import { suite } from "./suite.js";

const its = suite();

test("a server that wants a token shows a form; a token opens the page", async () => {
	const token = its.db.run(["token", "add", "ops", "--may", "read:*,admin:*"]).trim().split(/\s/).at(-1);
	const server = await its.db.serve("--tokens");
	const page = await open(its.browser, server.base);
	await page.getByLabel("Token").fill("rp_1_wrong");
	await page.getByRole("button", { name: "Log in" }).click();
	await page.getByRole("alert").waitFor();
	await page.getByLabel("Token").fill(token);
	await page.keyboard.press("Enter");
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

test("a read-only server offers no change", async () => {
	const server = await its.db.serve("--read-only");
	const page = await open(its.browser, server.base);
	await page.getByText("read-only").waitFor();
	for (const [hash, found] of Object.entries({
		"#/queues": "mail",
		"#/queue/mail?state=dead": "421 try again",
		"#/queue/mail?view=settings": "keep-done",
		"#/dead": "421 try again",
		"#/schedules": "nightly",
	})) {
		await visit(page, hash);
		await row(page, found).first().waitFor();
		const names = await page.locator("main button").allInnerTexts();
		const changes = names.filter((name) => !/^(Filter|Read again)$/.test(name));
		assert.deepEqual(changes, [], hash);
	}
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
