// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The readpast authors

import { helpIsOpen } from "../keys";
import { PLACES } from "../places";
import { Dialog } from "./dialog";

export function Help() {
	if (!helpIsOpen.value) return null;
	const close = () => {
		helpIsOpen.value = false;
	};
	return (
		<Dialog title="Keyboard shortcuts" onClose={close}>
			<dl class="keys">
				{PLACES.map(({ key, title }) => (
					<div key={key}>
						<dt>
							<kbd>g</kbd> <kbd>{key}</kbd>
						</dt>
						<dd>{title}</dd>
					</div>
				))}
				<div>
					<dt>
						<kbd>j</kbd> <kbd>k</kbd>
					</dt>
					<dd>next and previous row; Enter opens it</dd>
				</div>
				<div>
					<dt>
						<kbd>/</kbd>
					</dt>
					<dd>find a job by its id</dd>
				</div>
				<div>
					<dt>
						<kbd>Esc</kbd>
					</dt>
					<dd>close a dialog</dd>
				</div>
			</dl>
			<div class="buttons">
				<button type="button" onClick={close}>
					Close
				</button>
			</div>
		</Dialog>
	);
}
