# Docker Engine: used where it answers, else installed and started where that is allowed. To be sourced after common.sh.

ENGINE_WAIT_SEC="${ENGINE_WAIT_SEC:-60}"
ENGINE_ANSWER_SEC="${ENGINE_ANSWER_SEC:-10}"

engine_answers() { bounded "$ENGINE_ANSWER_SEC" docker version --format '{{.Server.Version}}' >/dev/null 2>&1; }

# process_lives NAME: whether a process of that name runs.
process_lives() {
    local comm name
    for comm in "$SYSTEM_ROOT"/proc/[0-9]*/comm; do
        if { read -r name <"$comm"; } 2>/dev/null && [ "$name" = "$1" ]; then
            return 0
        fi
    done
    return 1
}

# A daemon that was killed leaves files that keep the next one from starting.
remove_stale_files() {
    if ! process_lives dockerd; then
        rm -f "$SYSTEM_ROOT/var/run/docker.pid" "$SYSTEM_ROOT/var/run/docker.sock"
    fi
    if ! process_lives containerd; then
        rm -f "$SYSTEM_ROOT"/run/docker/containerd/containerd.pid "$SYSTEM_ROOT"/run/docker/containerd/*.sock \
            "$SYSTEM_ROOT"/run/docker/containerd/*.sock.ttrpc
    fi
}

# wait_for_engine [PID]: until it answers; no longer than the process PID lives.
wait_for_engine() {
    local end=$((SECONDS + ENGINE_WAIT_SEC))
    until engine_answers; do
        if [ -n "${1:-}" ] && ! kill -0 "$1" 2>/dev/null; then
            engine_answers
            return
        fi
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

start_dockerd() {
    local log="$SYSTEM_ROOT/var/log/terminal-task-forge-dockerd.log"
    remove_stale_files
    say "starting dockerd in the background (its log is $log)"
    # 9 is the lock of setup.sh: a daemon must not hold it.
    setsid nohup dockerd >"$log" 2>&1 </dev/null 9>&- &
    if ! wait_for_engine "$!"; then
        tail -n 15 "$log" >&2
        give_up "dockerd did not come up; see the end of its log above" \
            "start Docker Engine in your own way, or set DOCKER_HOST to one that runs"
    fi
}

start_engine() {
    if process_lives dockerd; then
        say "waiting for the Docker Engine that is running already"
        wait_for_engine || give_up "a dockerd runs on this machine but does not answer; a second one is never started" \
            "look at its log, restart it, then run this again"
    elif [ -d "$SYSTEM_ROOT/run/systemd/system" ]; then
        say "starting Docker Engine with systemctl"
        if ! systemctl start docker || ! wait_for_engine; then
            give_up "docker.service did not start: see journalctl -u docker"
        fi
    else
        start_dockerd
    fi
}

ensure_engine() {
    command -v docker >/dev/null 2>&1 && engine_answers && return
    if [ -n "${DOCKER_HOST:-}" ]; then
        command -v docker >/dev/null 2>&1 || give_up "DOCKER_HOST is set, but the docker command is missing: install it"
        give_up "no Docker Engine answers at DOCKER_HOST=$DOCKER_HOST: start it, or unset DOCKER_HOST"
    fi
    explain_engine_unless_root
    if ! command -v dockerd >/dev/null 2>&1; then
        say "installing Docker Engine with apt-get (docker.io, iptables)"
        install_packages docker.io iptables
    fi
    engine_answers || start_engine
}

explain_engine_unless_root() {
    may_install && return
    if bounded "$ENGINE_ANSWER_SEC" docker version 2>&1 | grep -qi 'permission denied'; then
        give_up "Docker Engine runs, but this user may not use it" \
            "allow it (sudo usermod -aG docker $(id -un)), log in again, then run this again"
    fi
    case "$(uname -s)" in
    Linux) give_up "Docker Engine is needed, and this user or system is not one that it can be installed on from here" \
        "install and start it (Debian, Ubuntu: sudo apt-get install docker.io; others: docs.docker.com/engine/install)" \
        "then let this user use it (sudo usermod -aG docker $(id -un)) and run this again" ;;
    *) give_up "Docker is needed: install and start Docker Desktop or Colima" \
        "set DOCKER_HOST when its socket is not /var/run/docker.sock, then run this again" ;;
    esac
}
