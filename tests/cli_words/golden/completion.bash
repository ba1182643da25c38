# bash completion of rubato, made by `rubato completion bash`
_rubato_offer() { COMPREPLY=($(compgen -W "$1" -- "$cur")); }
_rubato() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path="" i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      # The job's own completion, where the shell has that of other commands.
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        COMPREPLY=($(compgen -c -f -- "$cur"))
      fi
      return
    fi
    case "$path|${COMP_WORDS[i]}" in
      "|run") path="run" ;;
      "|export") path="export" ;;
      "|sim") path="sim" ;;
      "sim|train") path="sim train" ;;
    esac
  done
  # Bash takes sim:v100 for three words.
  if [[ $cur == : && $prev == sim ]]; then
    cur=""; _rubato_offer "v100"; return
  elif [[ $prev == : && ${COMP_WORDS[COMP_CWORD-2]} == sim ]]; then
    _rubato_offer "v100"; return
  fi
  case "$path|$prev" in
    "run|--power-limit") :; return ;;
    "run|--sm-clock") :; return ;;
    "export|--format") _rubato_offer "csv json"; return ;;
    "sim train|--iterations") :; return ;;
    "sim train|--repeats") :; return ;;
  esac
  case "$path" in
    "") _rubato_offer "run export sim -h --help" ;;
    "run") _rubato_offer "-h --help --power-limit --sm-clock --json -q --quiet" ;;
    "export") [[ $cur != -* ]] && { _rubato_offer "last $(rubato runs --ids 2>/dev/null)"; return; }; _rubato_offer "-h --help --format" ;;
    "sim") _rubato_offer "train -h --help" ;;
    "sim train") [[ $cur != -* ]] && { _rubato_offer "resnet50"; return; }; _rubato_offer "-h --help --iterations --repeats" ;;
  esac
}
complete -F _rubato rubato
