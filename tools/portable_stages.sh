# shellcheck shell=bash
# The steps of tools/make-portable, in order. Each can be repeated: what is there already is kept.
# shellcheck disable=SC2154  # set by make-portable

get_compiler() {
  [[ -x $root/python/bin/pip ]] || python3 -m venv "$root/python"
  "$root/python/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r cmake/portable/requirements.txt
  zig=$(echo "$root"/python/lib/python3*/site-packages/ziglang/zig)
  # Its cache beside the rest, so that removing one folder removes everything.
  export ZIG_GLOBAL_CACHE_DIR=$root/zig-cache ZIG_LOCAL_CACHE_DIR=$root/zig-cache
  "$zig" version
}

# An apt of our own: the machine's lists, sources and installed packages are neither read nor changed.
private_apt() {
  local apt=$root/apt keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  [[ -r $keyring ]] || die "needs $keyring: apt-get install debian-archive-keyring"
  mkdir -p "$apt"/{lists,archives}/partial
  : >"$apt/status"
  cat >"$apt/sources.list" <<EOF
deb [signed-by=$keyring] $mirror bookworm main
deb-src [signed-by=$keyring] $mirror bookworm main
deb-src [signed-by=$keyring] ${mirror%/debian}/debian-security bookworm-security main
EOF
  # Of the machine's settings only the way out: proxies and certificates.
  apt-config dump | grep -E '^Acquire::(http|https)(::[^ ]*)? ".+";$|^Acquire::Retries ' >"$apt/apt.conf" || true
  cat >>"$apt/apt.conf" <<EOF
Dir::State "$apt"; Dir::State::status "$apt/status"; Dir::Cache "$apt";
Dir::Etc::Main "/dev/null"; Dir::Etc::Parts "/dev/null";
Dir::Etc::SourceList "$apt/sources.list"; Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null"; Dir::Etc::PreferencesParts "/dev/null";
APT::Architecture "amd64"; APT::Sandbox::User "root"; Acquire::Languages "none";
EOF
  export APT_CONFIG=$apt/apt.conf
  apt-get -qq update
}

# Header-only libraries as Debian packages them, and a tclsh, which SQLite's build wants.
get_packages() {
  if [[ ! -e $root/packages/complete-5 ]]; then
    rm -rf "$root/packages" "$root/dependencies"
    mkdir -p "$root"/packages/{debs,headers,tcl}
    private_apt
    (cd "$root/packages/debs" && apt-get -qq download libexpected-dev libcli11-dev nlohmann-json3-dev libtomlplusplus-dev libeigen3-dev tcl8.6 libtcl8.6)
    local file
    for file in "$root"/packages/debs/*.deb; do
      case $file in
        *tcl8.6*) dpkg-deb -x "$file" "$root/packages/tcl" ;;
        *) dpkg-deb -x "$file" "$root/packages/headers" ;;
      esac
    done
    (cd "$root/packages" && apt-get -qq source fmtlib libsodium libzstd sqlite3 zlib >/dev/null)
    touch "$root/packages/complete-5"
  fi
  (cd "$root/packages" && printf '%s\n' ./*.dsc debs/*.deb | sed 's|.*/||')
}

configure() { # SOURCE OBJECTS OPTION...
  local from=$1 to=$2
  shift 2
  cmake -S "$from" -B "$to" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/portable/toolchain.cmake" \
    -DRUBATO_PORTABLE="$root" -DRUBATO_GLIBC="$glibc" "$@" >"$to.log" || { tail -n 20 "$to.log" >&2; return 1; }
}

compile() { # OBJECTS TARGET...
  nice ninja -j "$jobs" -C "$@" >"$1.log" 2>&1 || { grep -E -A 5 'error|FAILED' "$1.log" | head -n 40 >&2; return 1; }
}

build_library() { # NAME SOURCE OPTION...
  local objects=$root/libraries/$1 from=$2
  shift 2
  configure "$from" "$objects" -DCMAKE_INSTALL_PREFIX="$root/dependencies" -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON "$@"
  compile "$objects" install
}

build_libraries() {
  local done_for=$root/dependencies/built-for packages=$root/packages
  [[ $(cat "$done_for" 2>/dev/null) != "$glibc" ]] || return 0
  rm -rf "$root/dependencies" "$root/libraries"
  mkdir -p "$root/dependencies" "$root/libraries/sqlite"
  cp -a "$packages/headers/usr/." "$root/dependencies"
  build_library fmt "$packages"/fmtlib-*/ -DFMT_TEST=OFF -DFMT_DOC=OFF
  build_library zstd "$packages"/libzstd-*/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF \
    -DZSTD_LEGACY_SUPPORT=OFF
  cp -r "$packages"/zlib-*/ "$root/libraries/zlib"
  cp cmake/portable/zlib.cmake "$root/libraries/zlib/CMakeLists.txt"
  build_library zlib-objects "$root/libraries/zlib"
  cp -r "$packages"/libsodium-*/ "$root/libraries/sodium"
  cp cmake/portable/sodium.cmake "$root/libraries/sodium/CMakeLists.txt"
  build_library sodium-objects "$root/libraries/sodium"
  (
    cd "$root/libraries/sqlite" || exit
    export PATH=$packages/tcl/usr/bin:$PATH TCL_LIBRARY=$packages/tcl/usr/share/tcltk/tcl8.6
    export LD_LIBRARY_PATH=$packages/tcl/usr/lib/x86_64-linux-gnu
    # One file out of the many; that much is done by the machine's own compiler.
    configure=$(echo "$packages"/sqlite3-*/configure)
    { "$configure" --disable-tcl --disable-readline && make sqlite3.c TCLSH_CMD=tclsh8.6; } >log 2>&1 ||
      { tail -n 20 log >&2; exit 1; }
  )
  cp cmake/portable/sqlite.cmake "$root/libraries/sqlite/CMakeLists.txt"
  build_library sqlite-objects "$root/libraries/sqlite"
  echo "$glibc" >"$done_for"
}

build_rubato() {
  configure . "$root/rubato" -DRUBATO_TESTS=OFF -DRUBATO_WERROR=OFF -DRUBATO_UNITY=ON
  compile "$root/rubato" all
}

# What the tarball holds. The stand-in lies where no loader looks by itself.
fill_stage() {
  rm -rf "$root/stage"
  mkdir -p "$stage"
  cmake --install "$root/rubato" --prefix "$stage" >/dev/null
  third_party_notices >"$stage/share/doc/rubato/THIRD-PARTY-NOTICES"
}

third_party_notices() {
  local packages=$root/packages file library
  echo "The programs of rubato contain the libraries below, each under its own licence."
  for file in "$packages"/*.dsc; do
    library=$(basename "$file" .dsc)
    notice "$library" "$packages/${library%%_*}"-*/debian/copyright
  done
  for file in "$packages"/debs/*-dev_*.deb; do
    library=$(basename "$file" .deb)
    notice "$library" "$packages/headers/usr/share/doc/${library%%_*}/copyright"
  done
  notice 'uPlot, in HTML reports' web/dist/uPlot-LICENSE
  # What the compiler adds by itself.
  local compiler
  compiler=$(dirname "$zig")
  notice 'compiler_rt of zig' "$compiler/LICENSE"
  notice 'libc++ of LLVM' "$compiler/lib/libcxx/LICENSE.TXT"
  for library in libcxxabi libunwind; do notice "$library of LLVM" "$compiler/lib/$library/LICENSE.TXT"; done
}

notice() { # TITLE FILE
  printf '\n\n======== %s\n\n' "$1"
  cat "$2"
}

# The highest GLIBC_x that FILE asks for, and that it asks for no library but glibc's own.
check_file() {
  local file=$1 needed highest
  needed=$(objdump -p "$file" | awk '$1 == "NEEDED" {print $2}' | sort | tr '\n' ' ')
  highest=$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
  printf '%s: %s, %s bytes, needs %s\n' "${file##*/}" "$highest" "$(stat -c %s "$file")" "$needed"
  [[ -n $highest ]] || die "$file asks for no version of glibc at all: objdump -T $file"
  [[ $(printf '%s\n' "GLIBC_$glibc" "$highest" | sort -V | tail -n 1) == "GLIBC_$glibc" ]] ||
    die "$file needs $highest, newer than the baseline GLIBC_$glibc"
  local library
  for library in $needed; do
    case $library in
      libc.so.6 | libm.so.6 | libdl.so.2 | librt.so.1 | libpthread.so.0 | ld-linux-x86-64.so.2) ;;
      *) die "$file needs $library, which is not part of glibc" ;;
    esac
  done
  if objdump -p "$file" | grep -E 'R(UN)?PATH'; then die "$file looks for libraries in a folder of the building machine"; fi
}

pack() {
  rm -f "$root"/rubato*.tar.gz "$root"/rubato*.whl
  # The same tree gives the same bytes.
  local time
  time=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
  tar -C "$root/stage" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" -cf - "$name" | gzip -n -9 >"$root/$name.tar.gz"
  RUBATO_STAGE=$stage RUBATO_GLIBC=$glibc SOURCE_DATE_EPOCH=$time \
    "$root/python/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$root" ./python
  stat -c '%n: %s bytes' "$root"/rubato*.tar.gz "$root"/rubato*.whl
}
