#!/bin/sh
# Make or refresh .venv from requirements.lock, then run doit with the given arguments.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
extras=dev
[ -n "${CC:-}" ] || { command -v cc || command -v gcc || command -v clang; } >/dev/null || extras=dev,zig
stamp="$extras $root $(cat "$root/requirements.lock" "$root/pyproject.toml" | cksum)"
if [ ! -x "$root/.venv/bin/python" ] || [ "$(cat "$root/.venv/stamp" 2>/dev/null)" != "$stamp" ]; then
    python=
    for p in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && python=$p && break
    done
    [ -n "$python" ] || { echo "do: needs Python 3.11 or later; name one: PYTHON=... ./do" >&2; exit 3; }
    echo "do: installing what requirements.lock names into .venv" >&2
    "$python" -m venv --clear "$root/.venv"
    "$root/.venv/bin/python" -m pip --quiet --quiet --disable-pip-version-check install \
        --constraint "$root/requirements.lock" --editable "$root[$extras]"
    echo "$stamp" >"$root/.venv/new" && mv "$root/.venv/new" "$root/.venv/stamp"
fi
DOIT_SEEK_FILE=1 exec "$root/.venv/bin/python" -m doit "$@"
