#!/bin/sh
# Runs shellcheck over every shell script, and over the templates of launch files as bash reads them
# once they are filled in.
# usage: tools/lint/shell.sh
cd "$(dirname "$0")/../.." || exit 2
command -v shellcheck >/dev/null || { echo "shell: skipped: shellcheck is not installed (tools/packages.sh lint)"; exit 0; }
filled=$(mktemp -d) || exit 2
trap 'rm -rf "$filled"' EXIT
cp -R tools/launch/templates/. "$filled"
# The scripts for ssh read cluster.sh, which lies in the folder @OUT@.
sed -i "s|@OUT@|$filled/ssh|g" "$filled"/ssh/*.sh

status=0
git ls-files -co --exclude-standard '*.sh' '.ci/run' ':!tools/launch/templates' | xargs shellcheck || status=1
# SC2016: words for a shell on another host. SC2317: functions that only traps call.
shellcheck --external-sources --exclude=SC2016,SC2317 "$filled"/ssh/s*.sh "$filled"/ssh/task.sh \
  "$filled"/slurm/* "$filled"/k8s/*.sh || status=1
[ $status = 0 ] && echo "shell: ok"
exit $status
