#!/usr/bin/env python3
"""Fails when a file uses a name of the standard library without including its header.

A header that the file's own headers include counts. What the standard library's headers or other
libraries' include does not: it differs between compilers, and a build of several files at a time
(FOREBAY_UNITY) hides what is missing. The table has the names that have gone missing in practice."""
import functools
import pathlib
import re
import subprocess
import sys

NAMES = {
    "algorithm": "(?:ranges::)?(?:sort|stable_sort|partial_sort|nth_element|is_sorted|find_if(?:_not)?|count_if|any_of|all_of|"
                 "none_of|max_element|min_element|minmax_element|clamp|minmax|lower_bound|upper_bound|equal_range|copy_n|copy_if|"
                 "fill_n|transform|remove_if|unique|reverse|rotate|partition_point|binary_search|shuffle|mismatch|push_heap|pop_heap)"
                 "|min|max|ranges::(?:find|count|fill|copy|equal|min|max|move)",
    "array": "array",
    "atomic": "atomic(?:_\\w+)?|memory_order_\\w+",
    "bit": "bit_cast|bit_width|bit_ceil|bit_floor|has_single_bit|countr_zero|countl_zero|popcount|endian",
    "charconv": "from_chars|to_chars",
    "chrono": "chrono::\\w+",
    "cmath": "abs|ceil|exp|expm1|floor|isfinite|isnan|lerp|llround|log|log1p|log2|lround|pow|round|sqrt|trunc",
    "condition_variable": "condition_variable(?:_any)?",
    "cstring": "mem(?:chr|cmp|cpy|move|set)|str(?:chr|cmp|error|len|ncmp|rchr|str)",
    "deque": "deque",
    "filesystem": "filesystem::\\w+",
    "fstream": "[io]?fstream",
    "functional": "function|bind_front|greater|less|plus|reference_wrapper|ref|cref",
    "future": "future|promise|async|packaged_task",
    "limits": "numeric_limits",
    "list": "list",
    "map": "map|multimap",
    "memory": "unique_ptr|make_unique|shared_ptr|make_shared|weak_ptr|enable_shared_from_this",
    "mutex": "mutex|lock_guard|unique_lock|scoped_lock|once_flag|call_once",
    "numeric": "accumulate|iota|reduce|inner_product|partial_sum|exclusive_scan|inclusive_scan|gcd|lcm|midpoint",
    "optional": "optional|nullopt",
    "queue": "queue|priority_queue",
    "random": "mt19937(?:_64)?|(?:uniform_\\w+|normal|poisson|discrete|bernoulli|exponential)_distribution",
    "set": "set|multiset",
    "span": "span|as_bytes|as_writable_bytes|dynamic_extent",
    "sstream": "[io]?stringstream",
    "string": "string|to_string|stoi|stol|stoul|stoull|stod",
    "string_view": "string_view",
    "thread": "thread|jthread|this_thread::\\w+",
    "tuple": "tuple|tie|apply|make_tuple|forward_as_tuple",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant|visit|get_if|holds_alternative|monostate",
    "vector": "vector",
}
# What a header gives beside its own names, by the standard (string: [string.syn], and so on).
ALSO = {"string": ["string_view"], "queue": ["deque", "vector"], "fstream": ["string"], "sstream": ["string"]}
USES = {header: re.compile(r"\bstd::(?:" + names + r")\b(?!::)" if header not in ("chrono", "filesystem")
                           else r"\bstd::(?:" + names + r")") for header, names in NAMES.items()}
INCLUDE = re.compile(r'^#include ([<"])([^>"]+)[>"]', re.M)
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:\\.|[^"\\\n])*"', re.S)


@functools.cache
def included(path):
    """The standard headers that the file and its own headers include."""
    headers = set()
    for kind, name in INCLUDE.findall(pathlib.Path(path).read_text()):
        if kind == "<":
            headers |= {name, *ALSO.get(name, [])}
        elif pathlib.Path(name).is_file():
            headers |= included(name)
        elif pathlib.Path("include", name).is_file():
            headers |= included("include/" + name)
    return frozenset(headers)


def missing(path):
    text = pathlib.Path(path).read_text()
    code = NOT_CODE.sub(lambda found: "\n" * found.group().count("\n"), INCLUDE.sub("", text))
    for header, use in USES.items():
        found = use.search(code)
        if found and header not in included(path):
            yield f"{path}: uses {found.group()} and does not include <{header}>"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.h", "*.cpp", "*.cu"],
                            capture_output=True, text=True, check=True).stdout.split()
    files = sys.argv[1:] or [path for path in listed if pathlib.Path(path).is_file()]
    complaints = [line for path in files for line in missing(path)]
    print("\n".join(complaints) if complaints else f"includes: ok ({len(files)} files)")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
