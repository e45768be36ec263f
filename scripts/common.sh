# Shared by the scripts here. To be sourced.
#
# SYSTEM_ROOT is empty but in tests, which lay out a machine of their own below a folder.

SYSTEM_ROOT="${SYSTEM_ROOT:-}"

say() { printf 'setup: %s\n' "$*" >&2; }

# give_up MESSAGE...: one line an argument, exit 3 (the environment does not fit).
give_up() {
    printf 'setup: %s\n' "$@" >&2
    exit 3
}

is_root() { [ "$(id -u)" = 0 ]; }

# Debian, Ubuntu and what derives from them.
has_apt() {
    command -v apt-get >/dev/null 2>&1 &&
        grep -qiE '^(ID|ID_LIKE)=.*(debian|ubuntu)' "$SYSTEM_ROOT/etc/os-release" 2>/dev/null
}

may_install() { is_root && has_apt; }

# bounded SECONDS COMMAND...: ends it then, where the system has a command for that.
bounded() {
    if command -v timeout >/dev/null 2>&1; then
        timeout "$@"
    else
        shift
        "$@"
    fi
}

# install_packages PACKAGE...: by apt, without a question, without what is only recommended.
install_packages() {
    local log
    log="$(mktemp)"
    if ! { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"; } \
        >"$log" 2>&1 </dev/null; then
        tail -n 15 "$log" >&2
        rm -f "$log"
        give_up "apt-get could not install: $*" "see its last lines above; install the packages, then run this again"
    fi
    rm -f "$log"
}

# ensure_command COMMAND PACKAGE...
ensure_command() {
    local command="$1"
    shift
    command -v "$command" >/dev/null 2>&1 && return
    may_install || give_up "$command is missing: install the package(s) $*, then run this again"
    say "installing $* with apt-get"
    install_packages "$@"
}
