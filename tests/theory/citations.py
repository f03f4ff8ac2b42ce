#!/usr/bin/env python3
"""Finds citations that lead nowhere: of sections and pages of docs/theory, of papers, of files, and links of pages.

Called as  citations.py ROOT.  docs/notation.md says what citations look like. What must be found is planted first, so
that a rule that finds nothing any more fails.
"""
import bisect
import os
import re
import subprocess
import sys

TEXT = (".h", ".cpp", ".cu", ".cuh", ".md", ".json", ".sh", ".py", ".mjs", ".cjs", ".cmake", ".txt", ".bib")
THEORY = "docs/theory/"
BIB = "docs/references.bib"
# What is planted below, and a page about things that are yet to be written.
PLANTED = "tests/theory/citations.py"
IMAGINED = "docs/adding.md"
MONTHS = "January February March April May June July August September October November December".split()


class Text:
    """A file in one line, without the marks of comments, so that citations may go over the end of a line."""

    def __init__(self, source):
        self.starts, self.lines, joined, length = [], source.split("\n"), [], 0
        for line in self.lines:
            line = re.sub(r"^\s*(///?<?|#(?!#)|\*)?\s*", "", line).rstrip() + " "
            self.starts.append(length)
            joined.append(line)
            length += len(line)
        self.flat = "".join(joined)

    def line(self, position):
        return bisect.bisect_right(self.starts, position)


def outside_code(source):
    """A page without its blocks of code and code within lines, places kept."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group(0))
    source = re.sub(r"^```.*?^```", blank, source, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", blank, source)


def headings(source):
    fenced = re.sub(r"^```.*?^```", "", source, flags=re.S | re.M)
    return re.findall(r"^#+ (.+)$", fenced, re.M)


def anchors(source):
    """As GitHub makes them of headings."""
    found = set()
    for heading in headings(source):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        again = 0
        while (anchor if not again else f"{anchor}-{again}") in found:
            again += 1
        found.add(anchor if not again else f"{anchor}-{again}")
    return found


def sections(files):
    """The labels of formulas: {"E", "E.4", ...}; and complaints about those that stand twice."""
    found, problems = {}, []
    for path, source in files.items():
        if path.startswith(THEORY) and "/experiments_" not in path:
            for heading in headings(source):
                m = re.match(r"([A-L](?:\.\d+)?)\.? ", heading)
                if m and m.group(1) in found:
                    problems.append((path, 1, f"section {m.group(1)} stands in {found[m.group(1)]}, too"))
                elif m:
                    found[m.group(1)] = path
    return found, problems


def measurements(files):
    """What can be cited of each page of measurements: numbered sections, defaults, and headings."""
    pages = {}
    for path, source in files.items():
        m = re.fullmatch(THEORY + r"(experiments_\w+)\.md", path)
        if not m:
            continue
        labels = set()
        for heading in headings(source):
            labels.add(heading)
            number = re.match(r"(Q?\d+)\.? ", heading)
            if number:
                labels.add(number.group(1))
        defaults = re.search(r"^## Recommended defaults\n(.*?)(?=^#|\Z)", source, re.S | re.M)
        if defaults:
            labels |= {f"default {n}" for n in re.findall(r"^(\d+)\. ", defaults.group(1), re.M)}
        pages[m.group(1)] = labels
    return pages


def papers(bib):
    """{(family name of an author, year)}"""
    found = set()
    for entry in re.split(r"^@", bib, flags=re.M)[1:]:
        author, year = re.search(r"author=\{(.*?)\}, title", entry), re.search(r"year=\{(\d+)\}", entry)
        if author and year:
            for name in author.group(1).split(" and "):
                found.add((name.split(",")[0], year.group(1)))
    return found


def check_sections(path, text, known):
    label = r"[A-Z](?:\.\d+)?(?!\w|\.\d|')"
    more = rf"(?:(?:, and|,| and| to) {label})*"
    cited_so = set()
    for m in re.finditer(rf"\b[Tt]heory ({label}{more})", text.flat):
        cited_so.update(range(*m.span()))
        for cited in re.findall(label, m.group(1)):
            if cited not in known:
                yield m.start(), f"theory {cited}: no such section in {THEORY}"
    for m in re.finditer(r"(?<![\w.\"'/-])[A-L]\.[1-9]\d?(?![\w\"]|\.\d)", text.flat):
        if m.group(0) not in known and m.start() not in cited_so:
            yield m.start(), f"{m.group(0)}: no such section in {THEORY}"
    for m in re.finditer(r"\b[Ff]ormulas?(?: sheet,?)?(?: section)? ([A-L](?:\.\d+)?)(?![\w'])", text.flat):
        yield m.start(), f"'{m.group(0)}' is cited as theory {m.group(1)}"


def check_measurements(path, text, pages):
    item = r"(?:default \d+|Q\d+|\d+(?!\.?\d)|\"[^\"]+\")"
    for m in re.finditer(
        rf"\bexperiments_(\w+)(\.md)?((?: {item})(?:(?:, and|,| and) {item})*)?(, *(?:Q?\d|default|\"))?", text.flat
    ):
        page = "experiments_" + m.group(1)
        if page not in pages:
            yield m.start(), f"{page}: no such page in {THEORY}"
        elif m.group(2) and not re.search(r"(docs/theory/|theory/|\()$", text.flat[: m.start()]):
            yield m.start(), f"{m.group(0)}: cited as {page} and a section, without .md"
        elif m.group(4):
            yield m.start(), f"{m.group(0)}: cited as {page} 2, {page} default 7 or the like, without a comma"
        else:
            for cited in re.findall(item, m.group(3) or ""):
                if cited.strip('"') not in pages[page]:
                    yield m.start(), f"{page} {cited}: no such section, default or heading"
    own = re.fullmatch(THEORY + r"(experiments_\w+)\.md", path)
    if own:
        for m in re.finditer(r"\bQ\d+\b", text.flat):
            if m.group(0) not in pages[own.group(1)]:
                yield m.start(), f"{m.group(0)}: no such section of this page"


def check_papers(path, text, known):
    name = r"(?:van |de )?[A-Z][a-z]\w*(?:-[A-Z]\w+)?"
    year = r"(?:1[89]|20)\d\d(?![\w.]\w)"
    for m in re.finditer(
        rf"(?<!\w){name}(?:(?:, and |, | and | & ){name})*(?: et al\.)?,? \(?({year})((?:, {year})*)\b", text.flat
    ):
        names = re.findall(name, re.sub(r"(\d.*)", "", m.group(0)))
        if names[-1] in MONTHS:
            continue
        for cited in [m.group(1)] + re.findall(r"\d+", m.group(2)):
            if not any((n, cited) in known for n in names):
                yield m.start(), f"{' '.join(names)} {cited}: no such paper in {BIB}"


def check_files(path, text, exists):
    for m in re.finditer(r"(?<![\w./$}-])(?:docs|tests)/[\w/.-]*\w\.(?:md|bib|sh|py|cpp|h|json)\b", text.flat):
        if not exists(m.group(0)):
            yield m.start(), f"{m.group(0)}: no such file"
    if path.startswith("docs/"):
        for m in re.finditer(r"`([a-z_]+/[\w/]+\.(?:h|cpp|cu|cuh))`", text.flat):
            if not exists(m.group(1)) and not exists("src/tribo/" + m.group(1)):
                yield m.start(), f"{m.group(1)}: no such source"


def check_links(path, source, files, exists):
    """Of pages: (line, complaint)."""
    page = outside_code(source)
    for m in re.finditer(r"\]\(([^)\s]+)\)", page):
        target, _, anchor = m.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        line = page.count("\n", 0, m.start()) + 1
        to = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
        if not exists(to):
            yield line, f"({m.group(1)}): no such file"
        elif anchor and to in files and anchor not in anchors(files[to]):
            yield line, f"({m.group(1)}): no such heading"


def problems_of(files, exists, only=None):
    """(path, line, complaint) of all files, or of one."""
    known, found = sections(files)
    pages = measurements(files)
    authors = papers(files.get(BIB, ""))
    for path, source in files.items():
        if path == PLANTED or (only and path != only) or path == BIB:
            continue
        text = Text(source)
        rules = [check_sections(path, text, known), check_measurements(path, text, pages)]
        if not path.endswith(".json") or path.startswith("scenes/"):
            rules.append(check_papers(path, text, authors))
        if path != IMAGINED:
            rules.append(check_files(path, text, exists))
        for rule in rules:
            found += [(path, text.line(position), complaint) for position, complaint in rule]
        if path.endswith(".md"):
            found += [(path, line, complaint) for line, complaint in check_links(path, source, files, exists)]
    return found


def test_of_the_test():
    """Each of these must be found, or none."""
    tree = {
        THEORY + "rods.md": "# E. Rods\n## E.4 Gradients\n## E.10 Blend\n",
        THEORY + "experiments_hair.md": "# Hair\n## Recommended defaults\n1. one\n7. seven\n## 2. Modulus\n## Form C\n",
        THEORY + "experiments_solids.md": "# Solids\n## Q9 Steps\n",
        BIB: "@article{Han2019, author={Han, Xuchen and Gast, Theodore}, title={A}, year={2019}}\n"
        "@article{Bergou2008, author={Bergou, M.}, title={B}, year={2008}}\n",
        "src/tribo/grid/grid.cpp": "",
    }
    bad = [
        ("a.h", "/// (theory E.5)"),
        ("a.h", "/// (Han 2019; theory E.4, E.6)"),
        ("a.h", "/// as theory\n/// E.11 has it"),
        ("a.h", "/// Theory B: all"),
        ("a.h", "/// the derivative of E.5,"),
        ("a.h", "/// (formulas E.4)"),
        ("a.h", "/// (formulas\n  /// E)"),
        ("a.md", "dt is (formula sheet, section E)"),
        ("a.h", "// experiments_hair 3"),
        ("a.h", "// (experiments_hair 2 and 3)"),
        ("a.h", "// (experiments_hair\n// default 2)"),
        ("a.h", "// experiments_solids Q8"),
        ("a.h", '// experiments_hair "Form D"'),
        ("a.h", "// experiments_sand"),
        ("a.h", "// experiments_hair.md"),
        ("a.h", "// experiments_hair, 2"),
        (THEORY + "experiments_solids.md", "# Solids\n## Q9 Steps\nas in Q8"),
        ("a.h", "/// [Han 2018; theory E]"),
        ("a.h", "/// (Jang\n/// and Gest 2019)"),
        ("scenes/a.json", "// after Hu et al. 2018"),
        ("a.h", "/// (Bergou 2008, 2010)"),
        ("a.cpp", "// see docs/hare.md"),
        ("docs/a.md", "`grid/gird.cpp`"),
        ("docs/a.md", "[here](theory/rod.md)"),
        ("docs/a.md", "[here](theory/rods.md#e4-gradient)"),
        ("docs/a.md", "[here](#nowhere)"),
        ("docs/a.md", "![picture](images/none.png)"),
        (THEORY + "more.md", "## E.4 Again\n"),
    ]
    good = [
        ("a.h", "/// (Han 2019, eq. 3; theory E.4, E.10)"),
        (
            "a.h",
            '/// [Han and Gast 2019; theory\n  /// E]. A theory of Kirchhoff; in theory; column C.0, "C.4", H.264, 1.5 E.',
        ),
        (
            "a.h",
            "/// theory E.4 to E.10 and the rest (experiments_hair default 1, default 7, 2; experiments_solids Q9)",
        ),
        ("a.h", '/// experiments_hair "Form C", experiments_hair: all of it. On March 2024.'),
        (
            "docs/a.md",
            "[x](theory/rods.md#e4-gradients) [y](#own) `grid/grid.cpp` [z](https://a.b/c)\n# Own\n`[no](link)`",
        ),
        ("a.cpp", "// docs/theory/rods.md, docs/theory/experiments_hair.md; the formulas stand; all formulas"),
    ]
    for cases, wanted in ((bad, 1), (good, 0)):
        for path, source in cases:
            files = dict(tree)
            files[path] = source
            found = problems_of(files, lambda p: p in files, path)
            if len(found) != wanted:
                sys.exit(f"the test itself: {len(found)} complaints, not {wanted}, of {source!r}: {found}")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: citations.py ROOT")
    root = sys.argv[1]
    test_of_the_test()
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        paths = listed.stdout.split("\n")
    else:  # not a clone
        paths = []
        for folder, inside, names in os.walk(root):
            inside[:] = [d for d in inside if not d.startswith((".", "build", "out"))]
            paths += [os.path.relpath(os.path.join(folder, n), root) for n in names]
    files = {}
    for path in sorted(paths):
        if path == "cmake/build_costs.txt":
            continue  # names of objects
        if path.endswith(TEXT) or path in ("run", "test"):
            try:
                with open(os.path.join(root, path), encoding="utf-8") as file:
                    files[path] = file.read()
            except (UnicodeDecodeError, FileNotFoundError):  # scenes that tests of bad input are about; removed files
                pass
    if len(files) < 100 or not measurements(files) or not sections(files)[0]:
        sys.exit(f"{root} is not the root of tribo")
    found = problems_of(files, lambda p: os.path.exists(os.path.join(root, p)))
    for path, line, complaint in found:
        print(f"{path}:{line}: {complaint}")
    print(f"{len(files)} files, {len(found)} citations that lead nowhere")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
