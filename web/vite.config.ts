// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The licences of these libraries demand their notices in every copy.
const PACKAGES = ["preact", "@preact/signals", "uplot"];
const notices = PACKAGES.map((name) => {
	const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8");
	return `${name}\n\n${text.trim()}`;
}).join("\n\n");

// The server embeds the built files, so their names must not change from one
// build to the next. All addresses are relative, because the page may be served
// below a prefix.
export default defineConfig({
	base: "./",
	esbuild: { legalComments: "inline" },
	build: {
		target: "es2021",
		outDir: "dist",
		assetsInlineLimit: 0, // the content security policy forbids data:
		modulePreload: { polyfill: false },
		cssCodeSplit: false,
		rollupOptions: {
			output: {
				banner: `/*!\n${notices}\n*/`,
				entryFileNames: "app.js",
				assetFileNames: "app[extname]",
				inlineDynamicImports: true,
			},
		},
	},
});
