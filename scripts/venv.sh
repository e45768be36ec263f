# The virtual environment in .venv. To be sourced after common.sh, in the project's folder.

PYTHON_WANTED="3.11"

# Prints the first interpreter that is new enough and can make a virtual environment with pip in it.
find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then
            command -v "$candidate"
            return 0
        fi
    done
    return 1
}

require_python() {
    find_python && return
    if may_install; then
        say "installing python3 and python3-venv with apt-get"
        install_packages python3 python3-venv
        find_python && return
    fi
    give_up "no Python $PYTHON_WANTED or newer with the venv module was found" \
        "install one (Debian, Ubuntu: apt-get install python3 python3-venv; macOS: brew install python)" \
        "or name one: make test PYTHON=/path/to/python3"
}

# What the environment was made from: a change of any of these makes it anew.
venv_key() { printf '%s %s\n' "$(cksum <pyproject.toml)" "$PWD"; }

ensure_venv() {
    local key python
    key="$(venv_key)"
    if [ "$(cat .setup/venv 2>/dev/null)" = "$key" ] && .venv/bin/python -c '' >/dev/null 2>&1; then
        return
    fi
    python="$(require_python)" || exit $?
    say "installing the Python packages into .venv (about two minutes)"
    mkdir -p .setup
    rm -f .setup/venv
    if ! { "$python" -m venv --clear .venv && .venv/bin/python -m pip install --editable '.[dev]'; } \
        >.setup/venv.log 2>&1 </dev/null; then
        tail -n 15 .setup/venv.log >&2
        give_up "the Python packages could not be installed; the whole log is .setup/venv.log" \
            "pip takes its own settings: PIP_INDEX_URL, PIP_CERT, PIP_PROXY or pip.conf help behind a proxy"
    fi
    printf '%s\n' "$key" >.setup/venv
}
