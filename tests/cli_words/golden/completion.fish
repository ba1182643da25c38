# fish completion of rubato, made by `rubato completion fish`
function __rubato_at
    set -l path ''
    for word in (commandline -opc)[2..-1]
        test "$word" = --; and return 1
        switch "$path|$word"
            case '|run'
                set path 'run'
            case '|export'
                set path 'export'
            case '|sim'
                set path 'sim'
            case 'sim|train'
                set path 'sim train'
        end
    end
    test "$path" = "$argv[1]"
end

complete -c rubato -f
complete -c rubato -n 'contains -- -- (commandline -opc)' -F
complete -c rubato -n '__rubato_at \'\'' -a run -d 'run a command at a setting'
complete -c rubato -n '__rubato_at \'\'' -a export -d 'a run\'s series'
complete -c rubato -n '__rubato_at \'\'' -a sim -d 'simulated GPUs'
complete -c rubato -n '__rubato_at \'\'' -s h -l help -d 'this page'
complete -c rubato -n '__rubato_at \'run\'' -s h -l help -d 'this page'
complete -c rubato -n '__rubato_at \'run\'' -l power-limit -x -d 'power limit of every GPU'
complete -c rubato -n '__rubato_at \'run\'' -l sm-clock -x -d 'lock the SM clock'
complete -c rubato -n '__rubato_at \'run\'' -l json -d 'the report as JSON'
complete -c rubato -n '__rubato_at \'run\'' -s q -l quiet -d 'errors only'
complete -c rubato -n '__rubato_at \'export\'' -s h -l help -d 'this page'
complete -c rubato -n '__rubato_at \'export\'' -l format -x -a 'csv json' -d 'csv or json'
complete -c rubato -n '__rubato_at \'export\'' -a 'last (rubato runs --ids 2>/dev/null)'
complete -c rubato -n '__rubato_at \'sim\'' -a train -d 'train a network'
complete -c rubato -n '__rubato_at \'sim\'' -s h -l help -d 'this page'
complete -c rubato -n '__rubato_at \'sim train\'' -s h -l help -d 'this page'
complete -c rubato -n '__rubato_at \'sim train\'' -l iterations -x -d 'how many'
complete -c rubato -n '__rubato_at \'sim train\'' -l repeats -x -d 'how often (1 to 1000)'
complete -c rubato -n '__rubato_at \'sim train\'' -a 'resnet50'
