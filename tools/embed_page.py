#!/usr/bin/env python3
"""Make a C file that contains the files that the HTTP server sends.

  embed_page.py OUTPUT DEPFILE OPENAPI FOLDER

Prints a table with the file OPENAPI and all files below FOLDER. Each file is in the
table twice: as it is, and compressed by gzip.

SPDX-License-Identifier: MIT
SPDX-FileCopyrightText: The readpast authors
"""

import gzip
import hashlib
import pathlib
import sys

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}


def array(name, data):
    """Return the bytes as a C array."""
    lines = [",".join(map(str, data[i:i + 24])) for i in range(0, len(data), 24)]
    return f"static const unsigned char {name}[] = {{\n" + ",\n".join(lines) + "\n};\n"


def main():
    output, depfile, openapi, folder = map(pathlib.Path, sys.argv[1:])
    files = [("openapi.json", openapi)]
    files += [(path.relative_to(folder).as_posix(), path)
              for path in sorted(folder.rglob("*")) if path.suffix in TYPES]
    text = ["/* Made by tools/embed_page.py. */", '#include "page.h"', ""]
    rows = []
    for i, (name, path) in enumerate(files):
        data = path.read_bytes()
        packed = gzip.compress(data, 9, mtime=0)
        mark = hashlib.sha256(data).hexdigest()[:16]
        text += [array(f"bytes_{i}", data or b"\0"), array(f"packed_{i}", packed)]
        rows.append(f'\t{{ "{name}", "{TYPES[path.suffix]}", "W/\\"{mark}\\"",\n'
                    f"\t  bytes_{i}, {len(data)}, packed_{i}, {len(packed)} }},")
    text += ["const struct file files[] = {", *rows,
             "\t{ NULL, NULL, NULL, NULL, 0, NULL, 0 },", "};", ""]
    output.write_text("\n".join(text))
    folders = [p for p in [folder, *folder.rglob("*")] if p.is_dir()]
    depends = [str(path) for _, path in files] + list(map(str, folders))
    depfile.write_text(f"{output}: {' '.join(depends)}\n")


main()
