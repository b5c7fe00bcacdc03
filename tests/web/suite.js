// The set-up of each test file: a database with jobs, its server and a browser. They
// are made before the first test of the file and removed after the last one.
//
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { after, before } from "node:test";
import { launch } from "./browser.js";
import { Database } from "./readpast.js";
import { seed } from "./seed.js";

/** Register the set-up. `prepare` fills the database. */
export function suite(prepare = seed, ...options) {
	const its = {};
	before(async () => {
		its.db = new Database();
		await prepare(its.db);
		its.server = await its.db.serve(...options);
		its.base = its.server.base;
		its.browser = await launch();
	});
	after(async () => {
		await its.browser?.close();
		await its.db?.remove();
	});
	return its;
}
