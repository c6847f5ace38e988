#!/bin/sh
# Install into .venv what is asked for and is not there as its lock says; then run `lairmake`.
set -eu
for word in "$@"; do
    [ -n "$word" ] || { echo "do: an empty word names no task: leave it out" >&2; exit 3; }
done
root=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
venv=$root/.venv
parts='build project'
unreached= answers=
[ -n "${CC:-}" ] || { command -v cc || command -v gcc || command -v clang; } >/dev/null || parts="$parts zig"
for word; do
    case $word in
    test:long) parts="$parts dev s3 arbiter" ;;
    bench | lint | lint:* | test | types) parts="$parts dev" ;;
    esac
done

select_part() {
    lock=$root/requirements/$1.lock
    case $1 in
    venv) does='making .venv' ;;
    build) does='installing what builds' ;;
    project) does='installing Lairmake' lock=$root/pyproject.toml ;;
    zig) does='installing a C compiler' ;;
    dev) does='installing what tests and checks' ;;
    s3) does='installing a server for tests of shared stores' ;;
    arbiter) does='installing what else runs graphs in ONNX' ;;
    esac
}

# A part is there if what it was installed from is kept, as the last step, and is the same.
is_there() { select_part "$1" && cmp -s "$lock" "$venv/parts/$1"; }

find_missing() {
    missing=
    if [ "$(cat "$venv/parts/venv" 2>/dev/null)" != "$root" ] || ! [ -x "$venv/bin/python" ] ||
        ! is_there build; then
        missing="venv $parts"
        return
    fi
    for part in $parts; do is_there "$part" || missing="$missing $part"; done
}

install_part() {
    select_part "$1"
    echo "do: $does" >&2
    mkdir -p "$venv/parts"
    rm -f "$venv/parts/$1"
    : >"$venv/parts/begun"
    case $1 in
    venv) "$python" -m venv --clear "$venv" && mkdir "$venv/parts" && : >"$venv/parts/begun" ;;
    project) pip --no-deps --no-build-isolation --editable "$root" ;;
    *) install_lock ;;
    esac || {
        rm -f "$venv/parts/begun"
        [ "$1" != arbiter ] || { echo "do: that failed: its tests are skipped" >&2 && return; }
        [ -n "$unreached" ] || unreached="that failed: $does"
        echo "do: $unreached" >&2 && exit 3
    }
    case $1 in
    venv) echo "$root" >"$venv/parts/new" ;;
    *) cp "$lock" "$venv/parts/new" ;;
    esac
    mv "$venv/parts/new" "$venv/parts/$1"
    rm "$venv/parts/begun"
}

# Ask the index first, and after a failure: pip tries each package for a minute.
install_lock() {
    unreached=
    [ -n "$answers" ] || reach_index || return 1
    answers=yes
    pip --no-deps --require-hashes --requirement "$lock" && return
    reach_index || :
    return 1
}

# Whether the index answers to the name of the first package of a lock, or there is to be none;
# what else is wrong pip says itself.
reach_index() {
    [ -z "${PIP_NO_INDEX:-}" ] || return 0
    while read -r line; do
        case $line in [A-Za-z0-9]*==*) break ;; esac
    done <"$lock"
    set -- --retries 1 --timeout 10 index versions "${line%%==*}"
    said=$("$venv/bin/python" -m pip "$@" 2>&1 >/dev/null) || :
    case $said in
    *SSL*) return 0 ;;
    *NewConnectionError* | *NameResolutionError* | *ConnectTimeoutError* | *'ailed to connect'*) ;;
    *) return 0 ;;
    esac
    index=${PIP_INDEX_URL:-$("$venv/bin/python" -m pip config get global.index-url 2>/dev/null || :)}
    case $index in *://*@*) index=${index%%://*}://${index#*@} ;; esac
    unreached="${index:-https://pypi.org/simple} cannot be reached; without network: PIP_NO_INDEX=1 \
PIP_FIND_LINKS=FOLDER ./do, with wheels in FOLDER: CONTRIBUTING.md"
    return 1
}

pip() {
    quiet=--quiet
    [ -t 2 ] && quiet=
    "$venv/bin/python" -m pip --disable-pip-version-check $quiet $quiet install "$@" >&2
}

find_missing
if [ -n "$missing" ]; then
    python=
    for p in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        "$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && python=$p && break
    done
    [ -n "$python" ] || { echo "do: needs Python 3.11 or later; name one: PYTHON=... ./do" >&2; exit 3; }
    exec 9<"$root/do"
    "$python" -c '
import contextlib, fcntl, sys
with contextlib.suppress(OSError):
    try:
        fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("do: waits for another one, which installs", file=sys.stderr)
        fcntl.flock(9, fcntl.LOCK_EX)' 9<&9
    find_missing
    [ -e "$venv/parts/begun" ] && missing="venv $parts"
    for part in $missing; do is_there "$part" || install_part "$part"; done
    exec 9<&-
fi
export LAIRMAKE_CALLED="$0"
exec "$venv/bin/lairmake" "$@"
