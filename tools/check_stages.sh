# shellcheck shell=bash
# The stages of ./check, one function each: stage_NAME prints what it likes and returns 0 when all is well.
# shellcheck disable=SC2154  # logs, failed and package_set are set by ./check

jobs=$(nproc)

# Files of the project with one of the suffixes given, tracked or new; works in an unpacked archive too.
project_files() {
  local pattern=()
  local suffix
  for suffix in "$@"; do pattern+=("*.$suffix"); done
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    # A file may be listed that was just deleted.
    git ls-files --cached --others --exclude-standard -- "${pattern[@]}" | while read -r file; do
      [[ -f $file ]] && echo "$file"
    done
  else
    local find_names=()
    for suffix in "${pattern[@]}"; do find_names+=(-o -name "$suffix"); done
    find . -path ./build -prune -o -type f \( -false "${find_names[@]}" \) -print | sed 's|^\./||'
  fi
}

# Shown at once: it may ask for a password, and says what it wants it for.
stage_packages() { tools/install-dependencies "$package_set" 2>&1 | tee >(cat >&3); }

stage_format() { project_files cpp h c | xargs clang-format-14 --dry-run -Werror; }

stage_scripts() {
  { printf '%s\n' quickstart check .ci/run; project_files sh; grep -d skip -lE '^#!.*\bbash' tools/*; } | sort -u | xargs shellcheck
}

stage_layers() { tools/check_one_definition && tools/check_layers; }
stage_sizes() { tools/check_file_sizes; }

# What is installed must compile alone, for C and C++ programs alike.
stage_headers() {
  local header
  local flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror -Iinclude)
  for header in include/rubato/*.h; do
    echo "$header"
    echo "#include <rubato/${header##*/}>" | gcc -std=c11 "${flags[@]}" -x c - || return 1
    echo "#include <rubato/${header##*/}>" | g++ -std=c++20 "${flags[@]}" -x c++ - || return 1
  done
}

# Goes on after an error, so that one run shows them all.
build_preset() { cmake --preset "$1" -DRUBATO_TESTS=ON -DRUBATO_UNITY=ON && cmake --build --preset "$1" -- -k 0; }
stage_build_debug() { build_preset debug; }
stage_build_release() { build_preset release; }
stage_build_asan() { build_preset asan; }
stage_build_tsan() { build_preset tsan; }
stage_build_clang() {
  cmake -S . -B build/clang -G Ninja -DCMAKE_BUILD_TYPE=Release -DRUBATO_TESTS=ON -DRUBATO_UNITY=ON \
    -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 && cmake --build build/clang -- -k 0
}

# Each parser under libFuzzer for a few seconds (RUBATO_FUZZ_SECONDS), from the seeds its own encoder makes.
stage_fuzz() {
  local folder=build/fuzz target
  cmake -S . -B $folder -G Ninja -DCMAKE_BUILD_TYPE=Sanitize -DRUBATO_TESTS=ON -DRUBATO_FUZZ=ON -DRUBATO_UNITY=ON \
    -DRUBATO_SANITIZE=fuzzer-no-link,address,undefined \
    -DCMAKE_C_COMPILER=clang-14 -DCMAKE_CXX_COMPILER=clang++-14 && cmake --build $folder --target fuzz_targets || return 1
  $folder/bin/make_fuzz_corpus . $folder/seeds || return 1
  for target in "$folder"/bin/fuzz_*; do
    echo "== ${target##*/}"
    mkdir -p "$folder/found/${target##*/}"
    "$target" -max_total_time="${RUBATO_FUZZ_SECONDS:-6}" -max_len=16384 -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
      -artifact_prefix="$folder/" "$folder/found/${target##*/}" "$folder/seeds/${target##*/}" || return 1
  done
}

# Tarball and wheel for an old glibc, on roots of old distributions.
stage_portable() {
  tools/make-portable && (cd tests/packaging && python3 -m unittest -v test_portable) &&
    (cd tests/e2e && RUBATO_BUILD_DIR=$OLDPWD/build/portable/rubato python3 -m unittest -v test_run)
}

# A cluster of two nodes in namespaces of its own; where it cannot be had that is said, and is no failure.
stage_slurm() {
  tests/slurm/slurm.sh
  local ended=$?
  ((ended == 77)) || return "$ended"
}

# Debian packages, linted, and their lives in a bare Debian.
stage_debs() {
  tools/make-test-venv schemas && tools/make-release --only-packages &&
    (cd tests/packaging && python3 -m unittest -v test_packages test_systemd test_container test_release)
}

# Properties draw the same examples each time, so that a commit's result is its own; test_properties draws others.
run_ctest() {
  local folder=$1
  shift
  RC_PARAMS=${RC_PARAMS:-seed=1} ctest --test-dir "build/$folder" --output-on-failure -j "$jobs" "$@"
}
stage_test_debug() { run_ctest debug -L '^(unit|contract|golden)$' --no-tests=error; }
stage_test_release() { run_ctest release -LE '^bench$' --no-tests=error; }
stage_test_properties() {
  local drawn=$(((RANDOM << 15) + RANDOM))
  echo "seed $drawn"
  RC_PARAMS="max_success=1000 seed=$drawn" run_ctest release -L '^property$' --no-tests=error
}
stage_test_asan() { run_ctest asan -L '^(unit|contract|golden|fault)$' --no-tests=error; }
stage_test_asan_e2e() { run_ctest asan -L '^e2e$' --no-tests=error; }
stage_test_tsan() { run_ctest tsan -L '^(unit|contract|golden|fault|e2e)$' --no-tests=error; }
stage_test_clang() { run_ctest clang -LE '^bench$' --no-tests=error; }
# Alone on the machine, so that what is timed is not the neighbour.
stage_bench() { jobs=1 run_ctest release -L '^bench$' --no-tests=ignore; }

# Sources changed since the branch left main (on main: since the commit before), and for a header one source that
# includes it.
changed_sources() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null)
  [[ $base != "$(git rev-parse HEAD)" ]] || base=$(git rev-parse --verify -q HEAD~1)
  if [[ -z $base ]]; then
    project_files cpp
    return
  fi
  local file
  { git diff --name-only "$base" -- '*.cpp' '*.h'; git ls-files --others --exclude-standard -- '*.cpp' '*.h'; } |
    while read -r file; do
      [[ -f $file ]] || continue
      if [[ $file == *.h ]]; then
        project_files cpp | xargs grep -l -F "\"${file#src/}\"" | head -n 1
      else
        echo "$file"
      fi
    done
}

stage_tidy() {
  local sources
  if [[ -n ${RUBATO_CHECK_FULL-} ]] || ! git rev-parse HEAD >/dev/null 2>&1; then
    sources=$(project_files cpp)
  else
    sources=$(changed_sources)
  fi
  # A folder that is configured alone: each source has flags of its own there.
  { cmake --preset release -B build/tidy -DRUBATO_TESTS=ON && cmake --build build/tidy --target rubato_commit; } || return 1
  sources=$(sort -u <<<"$sources" | while read -r file; do
    [[ -n $file ]] && grep -qF "$PWD/$file\"" build/tidy/compile_commands.json && echo "$file"
  done)
  [[ -n $sources ]] || return 0
  echo "$(wc -l <<<"$sources") files"
  xargs -P "$jobs" -n 2 clang-tidy-14 -quiet -p build/tidy --extra-arg=-Wno-unknown-warning-option <<<"$sources"
}

# A few words beside "ok".
remark() {
  case $1 in
    test_* | bench) grep -E 'tests passed|No tests were found' "$logs/$1.log" | tail -n 1 ;;
    layers | sizes) tail -n 1 "$logs/$1.log" ;;
    slurm) grep -E '^Ran [0-9]+ tests|^slurm: skipped|^cluster: no ' "$logs/$1.log" ;;
    fuzz) grep -m 20 -E 'error|ERROR: |SUMMARY: |^== ' "$logs/fuzz.log" && tail -n 20 "$logs/fuzz.log" ;;
    tidy) grep -E '^[0-9]+ files$' "$logs/$1.log" || echo 'nothing changed' ;;
  esac
}

# The lines of a failed stage that say why.
excerpt() {
  case $1 in
    test_* | bench)
      # What the programs said, then what ctest says of them.
      grep -m 40 -E '^[A-Za-z]*(Error|Exception): |^(FAIL|ERROR): |: Failure$|SUMMARY: ' "$logs/$1.log"
      if grep -q 'tests passed,' "$logs/$1.log"; then
        sed -n '/tests passed,/,$p' "$logs/$1.log" | head -n 40
      else
        tail -n 20 "$logs/$1.log"
      fi
      ;;
    build_*) grep -m 20 -E 'error|FAILED|Error' "$logs/$1.log" || tail -n 20 "$logs/$1.log" ;;
    format) sed -nE 's/^([^:]+):.*clang-format-violations.*/\1/p' "$logs/format.log" | sort -u | sed 's/^/clang-format-14 -i /' ;;
    fuzz) grep -m 20 -E 'error|ERROR: |SUMMARY: |^== ' "$logs/fuzz.log" && tail -n 20 "$logs/fuzz.log" ;;
    tidy) grep -m 20 -E 'error:' "$logs/$1.log" || tail -n 20 "$logs/$1.log" ;;
    portable | debs) grep -m 20 -E 'error|FAILED|^(FAIL|ERROR): ' "$logs/$1.log" || tail -n 20 "$logs/$1.log" ;;
    *) head -n 20 "$logs/$1.log" ;;
  esac
}

# The least that says why a stage failed, for the end of a long output: first what was found wrong, with what stands below it.
reason() {
  local found
  found=$(grep -m 12 -A 6 -E ': Failure$|^(FAIL|ERROR): |^[A-Za-z]*(Error|Exception): |SUMMARY: |(error|warning): |FAILED: ' "$logs/$1.log" | cut -c 1-300 | head -n 60)
  if [[ -n $found ]]; then echo "$found"; else tail -n 12 "$logs/$1.log"; fi
}

# ctest's own closing lines, the stages that failed, and the sum: tests, plus one for each failed stage without tests.
summarise() {
  local passed=0 failures=0 log stage closing
  for log in "$logs"/test_*.log "$logs"/bench.log; do
    closing=$(grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+' "$log" 2>/dev/null) || continue
    printf '\n%s: %s\n' "$(basename "$log" .log)" "$(grep -E '^Total Test time' "$log")"
    echo "$closing"
    [[ $closing =~ ,\ ([0-9]+)\ tests\ failed\ out\ of\ ([0-9]+) ]]
    failures=$((failures + BASH_REMATCH[1]))
    passed=$((passed + BASH_REMATCH[2] - BASH_REMATCH[1]))
  done
  for stage in "${failed[@]}"; do
    grep -qE ', [1-9][0-9]* tests failed' "$logs/$stage.log" || failures=$((failures + 1))
  done
  printf '\n'
  ((${#failed[@]} == 0)) || echo "failed stages: ${failed[*]}"
  echo "$passed passed, $failures failed"
  ((failures == 0))
}
