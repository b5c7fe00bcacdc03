// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { readFileSync } from "node:fs";
import { defineConfig } from "vite";

// The licences of these libraries demand their notices in every copy. So each file
// begins with the notices of the libraries that it contains.
const PACKAGES = ["preact", "@preact/signals", "uplot"];
function notices(chunk: { moduleIds: string[] }): string {
	const texts = PACKAGES.filter((name) => chunk.moduleIds.some((id) => id.includes(`/node_modules/${name}/`))).map(
		(name) => {
			const text = readFileSync(new URL(`node_modules/${name}/LICENSE`, import.meta.url), "utf8");
			return `${name}\n\n${text.trim()}`;
		},
	);
	return `/*!\n${texts.join("\n\n")}\n*/`;
}

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
				banner: notices,
				entryFileNames: "app.js",
				chunkFileNames: "chart.js", // uPlot, the only part that is loaded later
				assetFileNames: "app[extname]",
			},
		},
	},
});
