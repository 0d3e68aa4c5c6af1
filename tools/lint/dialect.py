#!/usr/bin/env python3
"""Fails where too many lines of comments or pages are in words that a newcomer has to decode: pronouns for things that were
never named ("what came", "who", "none of them is told"), and the project's former private words. The list may only grow.

usage: dialect.py [--all] [PATH...]    without paths: every tracked file; --all lists each line, else the first 12
"""
import pathlib
import re
import subprocess
import sys

LIMIT = 0.005  # of the lines; headers of RocksDB, c10 and CAF have 0.0003 to 0.0013
CODE = re.compile(r"\.(?:h|cpp|cc|cu)$")
SCRIPT = re.compile(r"(?:\.(?:py|sh|cmake)|CMakeLists\.txt)$")
# "users who" and the like are plain English.
PEOPLE = re.compile(r"\b(?:users?|people|persons?|engineers?|readers?|authors?|developers?|operators?|administrators?|admins?|contributors?"
                    r"|reviewers?|maintainers?|colleagues?|callers?|clients?|customers?|anyone|everyone|someone),? (?:who|whom|whose)\b", re.I)
PATTERNS = {what: re.compile(pattern) for what, pattern in {
    "whoever": r"\bwho(?:m)?(?:so)?ever\b",
    "who without a noun": r"\bwhom?\b|(?<!\w )(?<!\w, )(?<!\w)[Ww]hose\b|\bWhom?\b",
    "nobody": r"\bnobody(?:'s)?\b|\bsomebody(?:'s)?\b",
    "is told": r"\b(?:is|are|was|were|be|been|being|not|once|when|those|what|only|must be|and|or) told\b"
               r"|\btold (?:of|whole|from|by|apart|here|there|to all)\b|\bTold\b|\btells? (?:of|all|it|them|him|her|nobody|whom)\b",
    "is none": r"(?<!there )(?<!There )\b(?:is|are|was|were|has|have) none(?! of\b)\b|\bthere are none\b"
               r"|\b(?:for|by|to|with|after|before) none(?! of\b)\b|\bmakes? none\b",
    "what came": r"\b[Ww]hat (?:came|comes|went|goes|stands|waits|lies|leaves|left|was|were|has|had|rests|no|killed|they|others) \b"
                 r"|\bwhat (?:is|are) (?:told|not|no|there|due|left|asked|said)\b",
    "likewise": r"\b[Ll]ikewise\b",
    "he, she": r"\b(?:he|she|him|her|his|hers)\b",
    "door, stranger, knock": r"\bstrangers?\b|\bknock(?:s|ed|ing)?\b|\bdoor(?:s|keeper)?\b|\bwelcomed?\b|\bdismiss(?:ed|al|es)?\b",
    "let go, let in": r"\b(?:is|are|be|was|were|been) let (?:go|in|out|off)\b|\b[Ll]ets? (?:in|out|go|it go|them go|him|her)\b",
    "that no X has": r"\bthat no \w+ (?:has|have|had|holds|knows|wants|asked|sees|owns|needs)\b|\bfor nothing\b|\bin one piece\b",
    "books, plant": r"\bbooks\b|\bplants?\b|\bfeed(?:'s)? (?:actor|end)\b",
}.items()}
TOKEN = re.compile(r'(//[^\n]*)|(/\*(?:.|\n)*?\*/)|R"(\w*)\((?:.|\n)*?\)\3"|"(?:[^"\\\n]|\\.)*"|(?<![0-9A-Fa-f])\'(?:[^\'\\\n]|\\.)*\'')


def comments_of_code(text):
    for match in TOKEN.finditer(text):
        if match[1] or match[2]:
            first = text.count("\n", 0, match.start()) + 1
            yield from enumerate((match[1] or match[2]).split("\n"), first)


def comments_of_script(text):
    return ((n, line) for n, line in enumerate(text.splitlines(), 1) if re.match(r"\s*#(?!!)", line))


def lines_of_page(text):
    inside = False
    for n, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith(("```", "~~~")):
            inside = not inside
        elif not inside and re.search(r"\w", line):
            yield n, line


def found_in(line):
    # Quoted text is a name, a message or a link's target, not prose.
    bare = PEOPLE.sub(" ", re.sub(r"`[^`]*`|\]\([^)]*\)|\"[^\"]*\"", " ", line))
    return next((what for what, pattern in PATTERNS.items() if pattern.search(bare)), None)


def check(kind, files, most):
    total, hits = 0, []
    for path, reader in files:
        for n, line in reader(pathlib.Path(path).read_text(errors="replace")):
            total += 1
            if what := found_in(line):
                hits.append(f"{path}:{n}: {what}: {line.strip()[:110]}")
    good = len(hits) <= LIMIT * total
    print(f"{kind} lines: {len(hits)} of {total}, {100 * len(hits) / max(total, 1):.2f} % (at most {100 * LIMIT:g} %)")
    print("".join(f"  {hit}\n" for hit in hits[:most]), end="")
    return good


def main():
    words = [word for word in sys.argv[1:] if word != "--all"]
    listed = words or subprocess.run(["git", "ls-files"], capture_output=True, text=True, check=True).stdout.splitlines()
    files = [path for path in listed if pathlib.Path(path).is_file() and path != "tools/lint/dialect.py"]
    most = len(files) * 1000 if "--all" in sys.argv else 12
    comments = ([(path, comments_of_code) for path in files if CODE.search(path)]
                + [(path, comments_of_script) for path in files if SCRIPT.search(path)])
    pages = [(path, lines_of_page) for path in files if path.endswith(".md")]
    good = check("comment", comments, most) & check("page", pages, most)
    print("dialect: ok" if good else "dialect: write these lines in plain English: a named subject and an active verb")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
