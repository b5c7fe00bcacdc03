// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { render } from "preact";
import { App } from "./app";
import "./focus";
import { loadSession } from "./session";
import { reconnect, streams } from "./live";
import "./scroll";
import "./style/base.css";
import "./style/parts.css";
import "./style/pages.css";
import "./style/forced.css";

const root = document.getElementById("app");
if (root) render(<App />, root);
reconnect();
// Without an answer the page keeps its defaults; its parts say what failed.
streams.subscribe(() => void loadSession().catch(() => undefined));
