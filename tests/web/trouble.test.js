// The page while the server is slow, gone, or refuses.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyPage, open, row, said, visit } from "./browser.js";
import { until } from "./readpast.js";
import { suite } from "./suite.js";

const its = suite();
const PAGES = ["#/queue/mail?state=dead", "#/job/1", "#/dead", "#/workers", "#/schedules", "#/doctor"];

test("an error is shown as such on each page, and not as an empty list", async () => {
	const page = await open(its.browser, its.base);
	await row(page, "mail").waitFor();
	await page.route(/v1\/(?!events)/, (route) =>
		route.fulfill({
			status: 503,
			contentType: "application/problem+json",
			body: JSON.stringify({ status: 503, detail: "the database is busy" }),
		}),
	);
	for (const hash of PAGES) {
		await visit(page, hash);
		await page.getByRole("alert").getByText("the database is busy").first().waitFor();
		assert.equal(await page.locator(".empty").count(), 0, hash);
		assert.equal(await page.locator("h1").count(), 1, hash);
	}
	await page.context().close();
});

test("an answer that does not come is a time-out, and is asked for again", async () => {
	const page = await open(its.browser, its.base);
	await page.route(/v1\/workers/, () => new Promise(() => undefined));
	await visit(page, "#/workers");
	await page.getByText("The server did not answer within 10 s.").waitFor();
	assert.equal(await page.getByText("No worker runs.").count(), 0);
	await page.getByRole("button", { name: "Try again" }).waitFor();
	await page.unroute(/v1\/workers/);
	await page.getByText("No worker runs.").waitFor();
	await page.context().close();
});

test("old numbers stay where they are, marked as old, if reading again fails", async () => {
	const page = await open(its.browser, its.base, "#/schedules");
	const nightly = row(page, "nightly");
	await nightly.waitFor();
	const { y } = await nightly.boundingBox();
	await page.route(/v1\/schedules/, (route) => route.abort());
	await page.getByText("These numbers are not up to date.").waitFor();
	assert.equal((await nightly.boundingBox()).y, y);
	await page.getByRole("button", { name: "Try again" }).click({ trial: true });
	await page.context().close();
});

test("a refused action says why", async () => {
	const page = await open(its.browser, its.base);
	// The page gets the first list again and again, so it cannot notice that the
	// schedule is removed.
	let first;
	await page.route(/v1\/schedules$/, async (route) => {
		first ??= (await route.fetch()).json();
		await route.fulfill({ json: await first });
	});
	await visit(page, "#/schedules");
	const run = page.getByRole("button", { name: "Run digest now" });
	await run.waitFor();
	its.db.run(["cron", "remove", "digest"]);
	await run.click();
	await page.locator(".toast.bad").waitFor();
	await page.context().close();
});

test("if the end of a change of many jobs is not known, the dialog says so", async () => {
	const page = await open(its.browser, its.base, "#/queue/mail?state=dead");
	await page.route(/v1\/queues\/mail\/purge$/, (route) => route.abort());
	await page.getByRole("button", { name: "Delete these…" }).click();
	await page.getByRole("button", { name: "Delete 6 jobs" }).click();
	await page.getByRole("dialog").getByText("The change may have been made.").waitFor();
	await page.context().close();
});

test("a failure is shown even if its dialog was closed meanwhile", async () => {
	const job = its.db.enqueue("reports", "stays");
	const page = await open(its.browser, its.base, "#/workers");
	const dialog = page.getByRole("dialog");
	const press = (name) => page.getByRole("button", { name, exact: true }).click();
	const submit = () => dialog.locator("button[type=submit]").click();
	for (const [hash, path, ask] of [
		["#/queue/mail?state=dead", "mail/purge", () => press("Delete these…")],
		["#/queue/mail", "mail/pause", () => press("Pause queue mail")],
		[`#/job/${job}`, "cancel", () => press("Cancel…")],
		[`#/job/${job}`, "change", () => press("Change…").then(() => dialog.getByLabel("Priority").fill("3"))],
		["#/queue/mail?view=settings", "mail", () => press("Change settings…").then(() => dialog.getByLabel("lease").fill("9s"))],
	]) {
		await visit(page, hash);
		await ask();
		let call;
		await page.route(new RegExp(`/${path}$`), (route) =>
			route.request().method() === "GET" ? route.continue() : (call = route),
		);
		await submit();
		await until(() => call, `the call of ${path}`);
		await page.keyboard.press("Escape");
		await until(async () => (await dialog.count()) === 0, "no dialog");
		await call.abort();
		await said(page, "The change may have been made.");
		await press("Close message");
		await page.unroute(new RegExp(`/${path}$`));
	}
	await page.context().close();
});

test("a change of many jobs may take longer than other calls", async () => {
	const page = await emptyPage(its.browser);
	await page.addInitScript(() => {
		const timeout = AbortSignal.timeout.bind(AbortSignal);
		AbortSignal.timeout = (ms) => timeout(ms / 10);
	});
	await page.goto(`${its.base}#/queue/thumbnails?state=ready`);
	let change;
	await page.route(/v1\/queues\/thumbnails\/cancel$/, (route) => (change = route));
	await page.route(/v1\/workers/, () => new Promise(() => undefined));
	await page.getByRole("button", { name: "Cancel these…" }).click();
	await page.getByRole("button", { name: "Cancel 24 jobs" }).click();
	await until(() => change, "the call");
	await page.keyboard.press("Escape");
	await visit(page, "#/workers");
	await page.getByText("The server did not answer within 10 s.").waitFor();
	await change.continue();
	await said(page, "24 jobs of thumbnails are cancelled.");
	await page.context().close();
});

test("a hidden page reads nothing, and goes on when it is shown", async () => {
	const page = await open(its.browser, its.base, "#/workers");
	await page.getByText("Live", { exact: true }).waitFor();
	const hide = (hidden) =>
		page.evaluate((value) => {
			Object.defineProperty(document, "hidden", { value, configurable: true });
			document.dispatchEvent(new Event("visibilitychange"));
		}, hidden);
	await hide(true);
	let calls = 0;
	page.on("request", () => calls++);
	await page.waitForTimeout(4000);
	assert.equal(calls, 0);
	await hide(false);
	await until(() => calls > 0, "a call after the page is shown");
	await page.getByText("Live", { exact: true }).waitFor();
	await page.context().close();
});

test("a stream that falls silent is replaced", async () => {
	const server = await its.db.serve();
	const page = await emptyPage(its.browser);
	await page.addInitScript(() => {
		const wait = window.setTimeout;
		window.setTimeout = (run, ms) => wait(run, ms / 3);
	});
	let streams = 0;
	// The first stream brings no numbers at all, and the second one stops.
	await page.route(/v1\/events/, (route) => (++streams > 1 ? route.continue() : undefined));
	await page.goto(server.base);
	const live = page.getByText("Live", { exact: true });
	const old = page.getByText("Numbers are old");
	await old.waitFor();
	await live.waitFor();
	assert.equal(streams, 2);
	server.kill("SIGSTOP");
	await old.waitFor();
	await page.getByText("Not connected").waitFor();
	await until(() => streams > 2, "another stream");
	await old.getByRole("button", { name: "Try now" }).click();
	await until(() => streams > 3, "a stream after the click");
	server.kill("SIGCONT");
	await live.waitFor();
	await page.context().close();
});

test("the page asks again what the server permits, if it got no answer", async () => {
	const server = await its.db.serve("--read-only");
	const page = await emptyPage(its.browser);
	let calls = 0;
	await page.route(/v1\/session$/, (route) => (++calls > 1 ? route.continue() : route.fulfill({ status: 503 })));
	await page.goto(server.base);
	await page.getByText("read-only").waitFor();
	await until(async () => (await page.getByRole("button", { name: /^Pause/ }).count()) === 0, "no button");
	await page.context().close();
});

test("after a restart of the server the page offers what the new server permits", async () => {
	const server = await its.db.serve();
	const port = new URL(server.base).port;
	const id = its.db.json(["list", "mail", "--state", "dead"])[0].id;
	const page = await open(its.browser, server.base, `#/job/${id}`);
	await page.getByRole("button", { name: "Retry" }).waitFor();
	await page.getByText("Live", { exact: true }).waitFor();
	await its.db.stop(server);
	its.db.start(["serve", "--listen", `127.0.0.1:${port}`, "--read-only", "--hide-payloads"]);
	await page.getByText("read-only").waitFor();
	await page.getByText("This server does not show payloads").waitFor();
	assert.equal(await page.getByRole("button", { name: "Retry" }).count(), 0);
	await page.context().close();
});

test("the page tells that the server is gone, and finds it again", async () => {
	const page = await open(its.browser, its.base);
	const doctor = await open(its.browser, its.base);
	const dead = await open(its.browser, its.base);
	for (const one of [page, doctor, dead]) await one.getByText("Live", { exact: true }).waitFor();
	const port = new URL(its.base).port;
	await its.db.stop(its.server);
	await page.getByText("Not connected").waitFor();
	assert.equal(await row(page, "mail").count(), 1);
	await visit(doctor, "#/doctor");
	await visit(dead, "#/dead");
	await doctor.getByText("This could not be read.").waitFor();
	await dead.getByText("Not all dead jobs could be read.").waitFor();
	its.server = its.db.start(["serve", "--listen", `127.0.0.1:${port}`]);
	await page.getByText("Live", { exact: true }).waitFor();
	await doctor.locator(".finding").first().waitFor();
	await dead.getByText("in the newest 18 dead jobs").waitFor();
	await doctor.context().close();
	await dead.context().close();
	await page.context().close();
});
