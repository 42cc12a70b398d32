# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the scripts beside it, which set `script` to their name first.

fail()
{
    echo "$script: $*" >&2
    exit 1
}

# Packages of Debian, each with a command or file that shows it is there. A command from elsewhere counts too.
readonly build_packages="cmake:cmake ninja-build:ninja gcc:gcc libc6-dev:/usr/include/stdlib.h pkg-config:pkg-config
    libzookeeper-mt-dev:/usr/include/zookeeper/zookeeper.h libjansson-dev:/usr/include/jansson.h"
# The package zookeeper would bring a desktop; the server itself is in its library.
readonly demo_packages="libzookeeper-java:/usr/share/java/zookeeper.jar default-jre-headless:java"
readonly test_packages="clang:clang libclang-rt-14-dev:/usr/share/doc/libclang-rt-14-dev
    libcunit1-dev:/usr/include/CUnit/CUnit.h libuv1-dev:/usr/include/uv.h g++:g++ groff-base:groff
    iproute2:ip iptables:iptables procps:ps python3:/usr/bin/python3
    default-jdk-headless:javac libcurator-recipes-java:/usr/share/java/curator-recipes.jar golang-go:go
    python3-kazoo:/usr/lib/python3/dist-packages/kazoo valgrind:valgrind
    clang-tidy:clang-tidy cppcheck:cppcheck gcovr:gcovr shellcheck:shellcheck"
# Servers and clients of other locks. Without their own recommendations: no services, but for those of redis and etcd.
readonly lab_packages="redis-server:redis-server etcd-server:etcd mariadb-server-core:mariadbd
    mariadb-client-core:my_print_defaults libzookeeper-java:/usr/share/java/zookeeper.jar default-jre-headless:java
    libhiredis-dev:/usr/include/hiredis/hiredis.h libmariadb-dev:/usr/include/mariadb/mysql.h
    libcurl4-openssl-dev:/usr/share/doc/libcurl4-openssl-dev libjansson-dev:/usr/include/jansson.h
    python3:/usr/bin/python3"
readonly package_packages="dpkg-dev:dpkg-buildpackage debhelper:dh fakeroot:fakeroot lintian:lintian"
readonly docker_packages="docker.io:docker docker-compose:docker-compose debootstrap:debootstrap"

has()
{
    case $1 in
    /*) [ -e "$1" ] ;;
    *) PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null ;;
    esac
}

# Names those of the given package:proof pairs whose proof is missing.
missing_packages()
{
    local pair
    for pair in "$@"; do
        has "${pair#*:}" || printf '%s ' "${pair%%:*}"
    done
}

as_root()
{
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo DEBIAN_FRONTEND=noninteractive "$@"
    else
        fail "not root, and there is no sudo"
    fi
}

# install_missing PAIR... - installs what is missing, and does nothing when nothing is.
install_missing()
{
    local missing log
    missing=$(missing_packages "$@")
    missing=${missing% }
    [ -n "$missing" ] || return 0
    if ! ${is_install_wanted:-true}; then
        fail "missing: $missing; install them, or leave out --no-install"
    fi
    command -v apt-get >/dev/null || fail "missing: $missing; there is no apt-get here, install their like"
    echo "$script: installing from Debian: $missing"
    log=$(mktemp)
    # The lists of a fresh machine are empty and those of an old one outdated.
    # shellcheck disable=SC2086
    if ! { as_root apt-get update && as_root apt-get install -y --no-install-recommends $missing; } \
        </dev/null >"$log" 2>&1; then
        tail -n 5 "$log" >&2
        rm -f "$log"
        fail "apt-get could not install: $missing"
    fi
    rm -f "$log"
}

# quietly COMMAND... - shows what a command printed only if it fails.
quietly()
{
    local log
    log=$(mktemp)
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        rm -f "$log"
        fail "failed: $*"
    fi
    rm -f "$log"
}
