# The base image of authored tasks: pulled, or bootstrapped under a name of its own. To be sourced after common.sh.

BASE_IMAGE="${BASE_IMAGE:-debian:bookworm-slim}"
STAND_IN="${STAND_IN:-terminal-task-forge/debian-standin:bookworm}"
SUITE="${SUITE:-bookworm}"

image_exists() { docker image inspect "$1" >/dev/null 2>&1; }

ensure_base_image() {
    if image_exists "$BASE_IMAGE" || image_exists "$STAND_IN"; then
        return
    fi
    say "pulling $BASE_IMAGE"
    if bounded 300 docker pull --quiet "$BASE_IMAGE" >/dev/null 2>&1 </dev/null; then
        return
    fi
    say "it cannot be pulled here: bootstrapping Debian $SUITE as $STAND_IN (about a minute)"
    bootstrap_stand_in
}

bootstrap_stand_in() {
    local folder
    ensure_bootstrapper
    folder="$(mktemp -d)"
    # A subshell, so that the folder goes whichever way it ends.
    (
        trap 'rm -rf "$folder"' EXIT
        use_proxy_of_apt
        if ! make_root_archive "$folder" >"$folder/log" 2>&1 </dev/null; then
            tail -n 15 "$folder/log" >&2
            give_up "Debian could not be bootstrapped; see the last lines above" \
                "pull or load $BASE_IMAGE on a machine that can (docker save, docker load), then run this again"
        fi
        import_stand_in "$folder/root.tar"
    )
}

ensure_bootstrapper() {
    command -v mmdebstrap >/dev/null 2>&1 || command -v debootstrap >/dev/null 2>&1 && return
    may_install || give_up "$BASE_IMAGE cannot be pulled, and mmdebstrap, which would make a stand-in, is missing" \
        "install it (Debian, Ubuntu: apt-get install mmdebstrap), or load $BASE_IMAGE, then run this again"
    say "installing mmdebstrap with apt-get"
    install_packages mmdebstrap debian-archive-keyring
}

# apt's own proxy setting reaches the bootstrapper as a variable, and so never a file of the image.
use_proxy_of_apt() {
    local apt_proxy=""
    eval "$(apt-config shell apt_proxy Acquire::http::Proxy 2>/dev/null)"
    if [ -n "$apt_proxy" ] && [ -z "${http_proxy:-}" ]; then
        export http_proxy="$apt_proxy"
    fi
}

# make_root_archive FOLDER: writes FOLDER/root.tar; what the official slim images leave out is left out.
make_root_archive() {
    if command -v mmdebstrap >/dev/null 2>&1; then
        mmdebstrap --variant=minbase \
            --dpkgopt='path-exclude=/usr/share/man/*' \
            --dpkgopt='path-exclude=/usr/share/locale/*' \
            --dpkgopt='path-exclude=/usr/share/doc/*' \
            --dpkgopt='path-include=/usr/share/doc/*/copyright' \
            "$SUITE" "$1/root.tar"
        return
    fi
    debootstrap --variant=minbase "$SUITE" "$1/root" || return
    # debootstrap has written the sources of the mirror that it used itself.
    rm -rf "$1"/root/var/cache/apt/archives/*.deb "$1"/root/var/lib/apt/lists/*
    tar -C "$1/root" --numeric-owner -cf "$1/root.tar" .
}

# import_stand_in ARCHIVE: the name is given only to an image that was imported whole and runs.
import_stand_in() {
    local image
    image="$(docker import --change 'CMD ["bash"]' \
        --change "LABEL terminal-task-forge.stand-in-for=$BASE_IMAGE" "$1")" || give_up "docker import failed"
    if ! docker run --rm --network none "$image" sh -c 'apt-get --version && test -s /etc/apt/sources.list' >/dev/null; then
        docker image rm "$image" >/dev/null 2>&1
        give_up "the bootstrapped image does not run"
    fi
    docker tag "$image" "$STAND_IN"
}
