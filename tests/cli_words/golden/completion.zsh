#compdef rubato
# zsh completion of rubato, made by `rubato completion zsh`

_rubato_runs() {
  local -a runs=(last ${(f)"$(rubato runs --ids 2>/dev/null)"})
  _describe run runs
}

_rubato() {
  local context state line
  typeset -A opt_args
  _arguments -C \
    '(-h --help)-h[this page]' \
    '(-h --help)--help[this page]' \
    '1: :->command' '*:: :->rest' && return
  case $state in
    command)
      local -a commands=(
        'run:run a command at a setting'
        'export:a run'\''s series'
        'sim:simulated GPUs'
      )
      _describe -t commands command commands
      ;;
    rest)
      case $words[1] in
        run) _rubato_run ;;
        export) _rubato_export ;;
        sim) _rubato_sim ;;
      esac
      ;;
  esac
}

_rubato_run() {
  _arguments -s \
    '(-h --help)-h[this page]' \
    '(-h --help)--help[this page]' \
    '--power-limit[power limit of every GPU]:W: ' \
    '--sm-clock[lock the SM clock]:MHZ: ' \
    '--json[the report as JSON]' \
    '(-q --quiet)-q[errors only]' \
    '(-q --quiet)--quiet[errors only]' \
    '*::command:_normal' \
    && return
}

_rubato_export() {
  _arguments -s \
    '(-h --help)-h[this page]' \
    '(-h --help)--help[this page]' \
    '--format[csv or json]:FORMAT:(csv json)' \
    '::RUN:_rubato_runs' \
    && return
}

_rubato_sim() {
  local context state line
  typeset -A opt_args
  _arguments -C \
    '(-h --help)-h[this page]' \
    '(-h --help)--help[this page]' \
    '1: :->command' '*:: :->rest' && return
  case $state in
    command)
      local -a commands=(
        'train:train a network'
      )
      _describe -t commands command commands
      ;;
    rest)
      case $words[1] in
        train) _rubato_sim_train ;;
      esac
      ;;
  esac
}

_rubato_sim_train() {
  _arguments -s \
    '(-h --help)-h[this page]' \
    '(-h --help)--help[this page]' \
    '--iterations[how many]:N: ' \
    '--repeats[how often (1 to 1000)]:N: ' \
    ':WORKLOAD:(resnet50)' \
    && return
}

if [[ $funcstack[1] == _rubato ]]; then
  _rubato "$@"
else
  compdef _rubato rubato
fi
