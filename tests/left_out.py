#!/usr/bin/env python3
"""left_out.py RESULTS.xml: which tests of a run of ctest were skipped, and why, in the words of the tests.

RESULTS.xml is what `ctest --output-junit` writes. One line for each reason; nothing when no test was skipped.
"""
import re
import sys
import xml.etree.ElementTree as xml


def reason(output):
    """Why a test was skipped: GoogleTest says it below a line `FILE:LINE: Skipped`, scripts in their last line."""
    said = re.search(r"^.+:\d+: Skipped\n(.*?)\n?^\[  SKIPPED \]", output, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for line in (said.group(1) if said else output).splitlines() if line.strip()]
    if not lines:
        return "no reason given"
    return " ".join(lines) if said else lines[-1]


def main(path):
    reasons = {}
    for test in xml.parse(path).iter("testcase"):
        if test.find("skipped") is not None:
            reasons.setdefault(reason(test.findtext("system-out") or ""), []).append(test.get("name"))
    for why, names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        few = ", ".join(names) if len(names) <= 3 else ", ".join(sorted({name.split(".")[0] + ".*" for name in names}))
        print(f"  {len(names)} test{'s' if len(names) > 1 else ''} ({few}): {why}")


if __name__ == "__main__":
    main(sys.argv[1])
