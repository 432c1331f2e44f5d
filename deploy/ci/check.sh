#!/usr/bin/env bash
# Lints policies, and plans by each of them from a snapshot. Needs no cluster, and changes nothing.
#
#   EVENKEEL_POLICIES    files of RebalancePolicies, each with one; patterns are expanded   policies/*.yaml
#   EVENKEEL_SNAPSHOT    snapshot files; patterns are expanded                              snapshot/*
#   EVENKEEL_FAIL_ON     expressions for --fail-on, one a line                              none
#   EVENKEEL_EXIT_CODE   "true": fail when moves are needed                                 false
#   EVENKEEL_REPORTS     folder that the reports are written to                             reports
#
# Writes lint.sarif, lint.xml, and for each policy plan-NAME.sarif, plan-NAME.xml and plan-NAME.md. Exits with the highest
# exit code of all: 1 error, 2 moves needed, 3 a gate failed, 4 metrics missing or stale, or no node.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
reports=${EVENKEEL_REPORTS:-reports}
shopt -s nullglob
# shellcheck disable=SC2206 # patterns are meant to be expanded
policies=(${EVENKEEL_POLICIES:-policies/*.yaml})
# shellcheck disable=SC2206
snapshots=(${EVENKEEL_SNAPSHOT:-snapshot/*})
if ((${#policies[@]} == 0)); then
  echo "error: no file matches ${EVENKEEL_POLICIES:-policies/*.yaml}: set EVENKEEL_POLICIES" >&2
  exit 1
fi
if ((${#snapshots[@]} == 0)); then
  echo "error: no file matches ${EVENKEEL_SNAPSHOT:-snapshot/*}: write one with evenkeel snapshot, or set EVENKEEL_SNAPSHOT" >&2
  exit 1
fi
mkdir -p "$reports"

worst=0
# Runs evenkeel with these arguments and remembers the highest exit code.
run() {
  local code=0
  "$here/evenkeel" "$@" || code=$?
  worst=$((code > worst ? code : worst))
}

run lint "${policies[@]}"
run lint "${policies[@]}" -o sarif >"$reports/lint.sarif"
run lint "${policies[@]}" -o junit >"$reports/lint.xml"
if ((worst > 0)); then
  exit "$worst"
fi

flags=()
for snapshot in "${snapshots[@]}"; do
  flags+=(-f "$snapshot")
done
while IFS= read -r expression; do
  if [[ -n "$expression" ]]; then
    flags+=(--fail-on "$expression")
  fi
done <<<"${EVENKEEL_FAIL_ON:-}"
if [[ "${EVENKEEL_EXIT_CODE:-false}" == true ]]; then
  flags+=(--exit-code)
fi
for policy in "${policies[@]}"; do
  name=$(basename "${policy%.*}")
  run plan "${flags[@]}" -p "$policy" -o markdown >"$reports/plan-$name.md"
  run plan "${flags[@]}" -p "$policy" -o junit >"$reports/plan-$name.xml" 2>/dev/null
  run plan "${flags[@]}" -p "$policy" -o sarif >"$reports/plan-$name.sarif" 2>/dev/null
  cat "$reports/plan-$name.md"
  if [[ -n "${GITHUB_STEP_SUMMARY:-}" ]]; then
    cat "$reports/plan-$name.md" >>"$GITHUB_STEP_SUMMARY"
  fi
done
exit "$worst"
