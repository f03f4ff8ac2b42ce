#!/usr/bin/env python3
"""Who may include whom, as the table "folder | holds | may include" of docs/design.md says it.

Called as  includes.py ROOT.  "above" is every folder of the rows above, "each other" those of the same row; files may be
named too. A folder may always include itself; of rooms, `matter/*/` is what lies in one and `matter/*/*/` what lies in its
folders. What must be found is planted first, so that a rule that finds nothing any more fails.
"""
import os
import re
import sys


def folder_of(path):
    """The row of a file: `scene/`, `matter/*/`, `matter/*/*/`, or the file itself where it lies in no folder."""
    parts = path.split("/")
    if len(parts) == 1:
        return "simulation.h" if parts[0].startswith("simulation.") else parts[0]
    if parts[0] == "matter":
        return "matter/*/" if len(parts) == 3 else "matter/*/*/"
    return parts[0] + "/"


def rules_of(design):
    """For each folder, the folders and files that it may include."""
    table = design[design.index("| folder | holds | may include |"):].split("\n\n")[0].split("\n")[2:]
    allowed, above = {}, set()
    for row in table:
        folders, _, may = [cell.strip() for cell in row.strip("|").split("|")]
        names = re.findall(r"`([^`]+)`", folders)
        listed = set(re.findall(r"`([^`]+)`", may))
        if re.search(r"\babove\b", may):
            listed |= above
        if "each other" in may:
            listed |= set(names)
        for name in names:
            allowed[name] = listed | {name}
        above |= set(names)
    return allowed


def offenses(allowed, sources):
    """`sources`: text by path below src/tribo."""
    for path in sorted(sources):
        folder = folder_of(path)
        if folder not in allowed:
            yield f"{path}: {folder} is no row of the table"
            continue
        for line, text in enumerate(sources[path].split("\n"), 1):
            found = re.match(r'\s*#include "tribo/([^"]+)"', text)
            if not found:
                continue
            target = found.group(1)
            if folder_of(target) not in allowed[folder] and target not in allowed[folder]:
                yield f"{path}:{line}: {folder} may not include {target}"


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs/design.md"), encoding="utf-8") as page:
        allowed = rules_of(page.read())
    planted = {
        "math/a.h": '#include "tribo/scene/scene.h"',
        "io/a.cpp": '#include "tribo/engine/engine.h"',
        "grid/a.cpp": '#include "tribo/matter/solids/stages/state.h"',
        "matter/solids/stages/a.cpp": '#include "tribo/engine/solver.h"',
        "nowhere/a.h": "",
        "engine/good.cpp": '#include "tribo/matter/solids/stages/system.h"\n#include "tribo/grid/state.h"',
    }
    found = {offense.split(":")[0] for offense in offenses(allowed, planted)}
    if found != set(planted) - {"engine/good.cpp"}:
        sys.exit(f"the rules no longer find what was planted: {sorted(found)}")

    base = os.path.join(root, "src/tribo")
    sources = {}
    for folder, _, names in os.walk(base):
        for name in names:
            if name.endswith((".h", ".cpp", ".cu", ".cuh")):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as source:
                    sources[os.path.relpath(path, base)] = source.read()
    bad = list(offenses(allowed, sources))
    print("\n".join(bad) or f"{len(sources)} files include what they may")
    sys.exit(1 if bad else 0)


main()
