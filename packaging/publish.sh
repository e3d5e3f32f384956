#!/usr/bin/env bash
# Publishes the crates, in the order in which they need each other.
#
#   packaging/publish.sh            checks every crate's description and files, and compiles each from its package alone
#   packaging/publish.sh --quick    the same without compiling
#   packaging/publish.sh --publish  the same as without an option, then uploads them
set -euo pipefail
cd "$(dirname "$0")/.."

cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys

packages = [p for p in json.load(sys.stdin)["packages"] if p["publish"] != []]
wrong = []
for p in packages:
    for field in ("description", "license", "repository", "readme", "rust_version", "keywords", "categories"):
        if not p[field]:
            wrong.append(p["name"] + " has no " + field)
    if len(p["keywords"]) > 5 or len(p["categories"]) > 5:
        wrong.append(p["name"] + " has more than five keywords or categories")
    for d in p["dependencies"]:
        if d.get("path") and d["kind"] != "dev" and d["req"] != "^" + p["version"]:
            wrong.append(p["name"] + " needs another version of " + d["name"] + " than its own: " + d["req"])
if len({p["version"] for p in packages}) != 1:
    wrong.append("the crates have different versions")
print("\n".join(wrong) or "{} crates, version {}".format(len(packages), packages[0]["version"]))
sys.exit(bool(wrong))
'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
log=$folder/log
# Cargo itself would compile all dependencies anew for each crate.
cargo publish --workspace --dry-run --no-verify --locked --allow-dirty 2>"$log" || {
    cat "$log" >&2
    # The rest needs the registry's index.
    if [ "${1:-}" = --quick ] && grep -qiE 'HTTP request|could not (connect|resolve)|timed? ?out|failed to (connect|download)' "$log"; then
        echo "NOT RUN: the crates' packages, as the registry cannot be reached" >&2
        exit 0
    fi
    exit 1
}
# Cargo names each once, in the order of publication.
crates=$(sed -n 's/^ *Uploading \([^ ]*\) .*/\1/p' "$log")
for crate in $crates; do
    files=$(cargo package --locked --allow-dirty --list -p "$crate" 2>/dev/null)
    for file in README.md Cargo.toml; do
        grep -qx "$file" <<<"$files" || { echo "$crate: the package lacks $file" >&2; exit 1; }
    done
    if grep -E '^(tests|benches)/' <<<"$files" >&2; then
        echo "$crate: these files are tests, which read files of the whole repository" >&2
        exit 1
    fi
done
echo "to be published in this order:" $crates

# The packages as one workspace, in which they take each other for what is published.
if [ "${1:-}" != --quick ]; then
    target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    cargo package --locked --allow-dirty --no-verify $(printf ' -p %s' $crates) 2>"$log" || { cat "$log" >&2; exit 1; }
    {
        printf '[workspace]\nresolver = "3"\nmembers = ["envisa*"]\n[patch.crates-io]\n'
        for crate in $crates; do
            tar -xzf "$target"/package/"$crate"-[0-9]*.crate -C "$folder"
            printf '%s = { path = "%s" }\n' "$crate" "$(cd "$folder" && echo "$crate"-[0-9]*)"
        done
    } >"$folder/Cargo.toml"
    cp Cargo.lock "$folder"
    CARGO_TARGET_DIR=$target/published cargo check --manifest-path "$folder/Cargo.toml" --workspace
fi

if [ "${1:-}" = --publish ]; then
    cargo publish --workspace --locked
fi
