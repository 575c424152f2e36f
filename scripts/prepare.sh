#!/bin/sh
# Makes sure that this machine can build Gadus: a C compiler and linker, and cargo.
#
# - Installs Debian packages when it may (as root, or by sudo without a password); otherwise prints
#   the one command that is needed and stops.
# - Never installs a Rust toolchain: which one, and how, is its owner's choice.
# - `prepare.sh python` also asks for what the Python package's tests and the benchmarks' peers need:
#   python3 with venv; `prepare.sh wire` for the clients of PostgreSQL that test the server; `prepare.sh guest`
#   for qemu and a kernel, whose guests have more memory nodes than this machine. Several may be named.
set -eu

PATH="${HOME:-/root}/.cargo/bin:$PATH"
need=''

have() {
    command -v "$1" >/dev/null 2>&1
}

# The standard library is linked by cc; ring compiles C and assembler; zstd and lz4 compile C.
have cc && have ld && have ar || need="$need build-essential"

for part in "$@"; do
    case "$part" in
    python)
        have python3 && python3 -c 'import ensurepip' >/dev/null 2>&1 ||
            need="$need python3 python3-venv"
        ;;
    wire)
        have psql && { have pgbench || ls /usr/lib/postgresql/*/bin/pgbench >/dev/null 2>&1; } ||
            need="$need postgresql-15"
        have javac || need="$need default-jdk-headless"
        have npm || need="$need nodejs npm"
        ;;
    guest)
        # Tests with guests are for this processor alone, and say so where they are skipped.
        [ "$(uname -m)" != x86_64 ] || have qemu-system-x86_64 || need="$need qemu-system-x86"
        ;;
    esac
done

if [ -n "$need" ]; then
    install="apt-get update -qq && apt-get install -y -qq --no-install-recommends$need"
    if ! have apt-get; then
        echo "Missing:$need (Debian's names). Install the same with this system's package manager," >&2
        echo "then run make again." >&2
        exit 1
    elif [ "$(id -u)" -eq 0 ]; then
        echo "Installing:$need"
        DEBIAN_FRONTEND=noninteractive sh -c "$install"
    elif have sudo && sudo -n true 2>/dev/null; then
        echo "Installing:$need"
        sudo -n DEBIAN_FRONTEND=noninteractive sh -c "$install"
    else
        echo "Missing:$need. Run this, then make again:" >&2
        echo "    sudo sh -c '$install'" >&2
        exit 1
    fi
fi

if ! have cargo; then
    echo "Missing: cargo. Install Rust's stable toolchain, then run make again:" >&2
    echo "    curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y" >&2
    exit 1
fi

# A kernel for guests is kept beside what is built: this machine goes on with its own.
guests="${CARGO_TARGET_DIR:-target}/guest"
case " $* " in
*" guest "*)
    if [ "$(uname -m)" = x86_64 ] && have apt-get && ! ls "$guests"/boot/vmlinuz-* >/dev/null 2>&1; then
        kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-[^ ]*\)/\1/p')
        mkdir -p "$guests" && { (cd "$guests" && [ -n "$kernel" ] && apt-get download -qq "$kernel" &&
            dpkg -x "$kernel"_*.deb . && rm -rf "$kernel"_*.deb lib usr) 2>/dev/null ||
            echo "No kernel for guests could be fetched: their tests are skipped" >&2; }
    fi
    ;;
esac
