# bash completion for zklock(1)                                            -*- shell-script -*-

_zklock()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} subcommand=${COMP_WORDS[1]}
    local common="--servers --session-timeout --connect-timeout --lease --tick-time --auth-file --tls --verbose --quiet --help --version"
    local own words i
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        words="exec elect status list wait verify revoke break permits doctor server demo --help --version"
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
        return
    fi
    # Behind "--" stands a command with completions of its own.
    for ((i = 2; i < COMP_CWORD; i++)); do
        if [ "${COMP_WORDS[i]}" = -- ]; then
            if [ $((i + 1)) -eq "$COMP_CWORD" ]; then
                mapfile -t COMPREPLY < <(compgen -c -- "$cur")
            elif declare -F _command_offset >/dev/null; then
                _command_offset $((i + 1))
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            fi
            return
        fi
    done
    case $prev in
    --lease) mapfile -t COMPREPLY < <(compgen -W "strict standalone cheap" -- "$cur"); return ;;
    --on-loss) mapfile -t COMPREPLY < <(compgen -W "stop warn" -- "$cur"); return ;;
    --style) mapfile -t COMPREPLY < <(compgen -W "curator curator-rw curator-latch kazoo" -- "$cur"); return ;;
    --stop-signal|--revoke-signal)
        mapfile -t COMPREPLY < <(compgen -W "TERM INT HUP QUIT USR1 USR2 KILL" -- "$cur"); return ;;
    --acl) mapfile -t COMPREPLY < <(compgen -W "open creator creator-read" -- "$cur"); return ;;
    --auth-file|--tls) mapfile -t COMPREPLY < <(compgen -f -- "$cur"); return ;;
    --dir) mapfile -t COMPREPLY < <(compgen -d -- "$cur"); return ;;
    esac
    case $subcommand in
    exec) own="--shared --permits --nonblock --wait --conflict-exit-code --kill-after --stop-signal --revoke-signal --on-loss --min-hold --hold-limit
        --once-per --kill-leftovers --guard --no-guard --label --style --acl --persistent-parent --" ;;
    elect) own="--nonblock --wait --conflict-exit-code --kill-after --stop-signal --revoke-signal --min-hold --hold-limit
        --kill-leftovers --guard --no-guard --label --style --acl --persistent-parent --" ;;
    status) own="--json --watch" ;;
    list|doctor) own="--json" ;;
    wait) own="--wait" ;;
    break) own="--contender" ;;
    server) own="--port --dir --tick-time"; common="--quiet --help --version" ;;
    demo) own="--workers --rounds --think --no-lock --counter" ;;
    *) own="" ;;
    esac
    case $cur in
    -*) mapfile -t COMPREPLY < <(compgen -W "$own $common" -- "$cur") ;;
    /*)
        # Locks that are held or waited for now. Strangers may have named them: nothing here expands a name, and it is
        # put into the command line quoted. Those that JSON has to escape are left out.
        while IFS= read -r words; do
            printf -v words %q "$words"
            if [[ $words == "$cur"* ]]; then
                COMPREPLY+=("$words")
            fi
        done < <(timeout 2 zklock list --connect-timeout 1 -q --json 2>/dev/null |
            sed -n '/\\/d; s/^ *"path": "\(.*\)",\{0,1\}$/\1/p')
        ;;
    esac
}
complete -F _zklock zklock
