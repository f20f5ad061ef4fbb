# Completion of rocmcfg for bash 4.4 and newer. docs/generate.py writes this file from the program.
# Sourced, or found by bash-completion as completions/rocmcfg. Names that depend on the host, and settings
# with their values, come from `rocmcfg complete`; everything else is here.

# Sets `words` and `cur`: the line up to the cursor, put together again where bash cut it at = and :
_rocmcfg_words() {
    local rest=${COMP_LINE:0:COMP_POINT} blank i part
    words=() cur=
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:blank:]]*}
        rest=${rest#"$blank"}
        part=${COMP_WORDS[i]}
        ((i == COMP_CWORD)) && part=$rest
        rest=${rest#"$part"}
        if [[ $i -gt 0 && -z $blank ]]; then
            words[${#words[@]} - 1]+=$part
        else
            words+=("$part")
        fi
    done
    cur=${words[${#words[@]} - 1]}
}

_rocmcfg_options() {
    case $1 in
        "") echo "--version -h --help" ;;
        "status") echo "--name-host --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "profile") echo "-h --help" ;;
        "profile list") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "profile show") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "profile validate") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "profile new") echo "--extends --gfx --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "plan") echo "--profile -p --set --with --without --unconditional --any-gpu --rocm --add --via --boot-backend --env-target --trial --confirm-after --health-check --diff --detailed-exitcode --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "apply") echo "--profile -p --set --with --without --unconditional --any-gpu --rocm --add --via --boot-backend --env-target --trial --confirm-after --health-check --dry-run --diff --yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "take-over") echo "--name --via --boot-backend --dry-run --diff --yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "verify") echo "--profile -p --pid --against --exit-style --metrics --features --name-host --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "confirm") echo "--yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "reject") echo "--force --yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "rollback") echo "--to --pristine --all --force --dry-run --diff --yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "history") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "recover") echo "--force --yes -y --root --chroot --json --quiet -q --verbose -v --debug -h --help" ;;
        "explain") echo "--gfx --kernel --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "issues") echo "--search --gfx --rocm --all --export --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "doctor") echo "--log --gfx --kernel --rocm --detailed-exitcode --name-host --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "lint") echo "--fix --sarif --gfx --kernel --rocm --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "report") echo "--log --bundle --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "facts") echo "--save --name-host --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "fleet") echo "--html --since --kernel --json --quiet -q --verbose -v --debug -h --help" ;;
        "env") echo "--profile -p --set --with --without --unconditional --any-gpu --rocm --format -f --user --remove --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "run") echo "--profile -p --set --with --without --unconditional --any-gpu --rocm --timeout --json --log --debug -h --help" ;;
        "try") echo "--drop --which --cost --profile -p --set --with --without --unconditional --any-gpu --rocm --timeout --bad-if-output --check --same-output --log --confidence --runs --budget --no-warm-up --reboots --user --crashed --yes -y --json --quiet -q --verbose -v --debug -h --help" ;;
        "tries") echo "-h --help" ;;
        "tries list") echo "--json --quiet -q --verbose -v --debug -h --help" ;;
        "tries show") echo "--tracker --json --quiet -q --verbose -v --debug -h --help" ;;
        "tries resume") echo "--crashed --runs --budget --yes -y --json --quiet -q --verbose -v --debug -h --help" ;;
        "tries forget") echo "--json --quiet -q --verbose -v --debug -h --help" ;;
        "knowledge") echo "-h --help" ;;
        "knowledge check") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "knowledge new") echo "--from-log --log --set --gfx --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "knowledge export") echo "--name --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "knowledge install") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "knowledge remove") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes") echo "-h --help" ;;
        "crashes on") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes off") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes list") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes show") echo "--root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes report") echo "--into --dump --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "crashes forget") echo "--all --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "render") echo "--profile -p --set --with --without --unconditional --any-gpu --rocm --via --format -f --gfx --kernel --root --json --quiet -q --verbose -v --debug -h --help" ;;
        "schema") echo "--json --debug -h --help" ;;
    esac
}

# What the value of an option, or an argument of a command, is completed with.
_rocmcfg_takes() {
    case $1 in
        --boot-backend) echo boot-backend ;;
        "crashes show" | "crashes report" | "crashes forget") echo crash ;;
        --root | --since | --into) echo directory ;;
        "schema") echo document ;;
        --env-target) echo env-target ;;
        --exit-style) echo exit-style ;;
        --export) echo export ;;
        --against | --metrics | --features | --log | "doctor" | "lint" | --bundle | "report" | --save | --html | "fleet" | --json | --from-log | "knowledge new" | "knowledge export" | "knowledge install") echo file ;;
        --format | -f) echo format ;;
        --gfx) echo gfx ;;
        --kernel) echo kernel ;;
        --without) echo leavable ;;
        "explain") echo name ;;
        --with) echo optional ;;
        --extends) echo profile ;;
        "profile show" | "profile validate" | --profile | -p | "plan" | "apply" | "env" | "render") echo profile-file ;;
        --set | --add) echo setting ;;
        --to) echo transaction ;;
        --via) echo via ;;
    esac
}

# Offers what a value that begins with $2 may become, each behind $3.
_rocmcfg_offer() {
    local found=()
    case $1 in
        boot-backend) mapfile -t found < <(compgen -W "bootc grub grub-bls grub-mkconfig kernelstub limine proxmox-boot-tool refind rpm-ostree sdboot-manage sdbootutil systemd-boot uki" -- "$2") ;;
        document) mapfile -t found < <(compgen -W "failure plan apply take-over confirm reject verify run try rollback recover history status explain report lint doctor issues facts fleet env render check-kernel watch-trial continue-try profile-file known-issue" -- "$2") ;;
        exit-style) mapfile -t found < <(compgen -W "nagios npd slurm plain" -- "$2") ;;
        export) mapfile -t found < <(compgen -W "node-problem-detector prometheus loki json" -- "$2") ;;
        format) mapfile -t found < <(compgen -W "nixos guix bootc ignition butane machineconfig cloud-init ubuntu-core kickstart gpu-operator talos tuned" -- "$2") ;;
        gfx) mapfile -t found < <(compgen -W "gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950" -- "$2") ;;
        via) mapfile -t found < <(compgen -W "cmdline modprobe" -- "$2") ;;
        file) _rocmcfg_files -f "$2" ;;
        directory) _rocmcfg_files -d "$2" ;;
        crash | env-target | kernel | leavable | name | optional | profile | setting | transaction | profile-file)
            mapfile -t found < <("${words[0]/#\~/$HOME}" complete "${1%-file}" \
                "${words[@]:1:${#words[@]}-2}" "$2" 2>/dev/null </dev/null)
            found=("${found[@]%%$'\t'*}")
            [[ ${#found[@]} -eq 0 && $1 == profile-file ]] && _rocmcfg_files -f "$2"
            ;;
    esac
    COMPREPLY=("${found[@]/#/$3}")
}

_rocmcfg_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t found < <(compgen "$1" -- "$2")
}

_rocmcfg() {
    local words cur path='' option='' command=0 help='' i word
    _rocmcfg_words
    if [[ ${#words[@]} -gt 2 && ${words[1]} == help ]]; then
        help=1
        words=("${words[0]}" "${words[@]:2}")
    fi
    COMPREPLY=()
    for ((i = 1; i < ${#words[@]} - 1; i++)); do
        word=${words[i]}
        if [[ -n $option ]]; then
            option=
        elif [[ $word == -- ]]; then
            command=$((i + 1))
            break
        elif [[ $word == -* && $word != *=* && -n $(_rocmcfg_takes "$word") ]]; then
            option=$word
        elif [[ $word != -* && ( -z $path || " profile tries knowledge crashes " == *" $path "* ) ]]; then
            path="$path${path:+ }$word"
        elif [[ $word != -* && $path == run ]]; then
            command=$i
            break
        fi
    done
    if [[ $path == run && $command -gt 0 ]]; then
        _rocmcfg_run "$command"
        return
    fi
    local value=$cur lead=
    [[ $cur == [\"\']* ]] && value=${cur:1}
    if [[ -n $help && -n $path && " profile tries knowledge crashes " != *" $path "* ]]; then
        return # the command is complete
    elif [[ -n $option ]]; then
        _rocmcfg_offer "$(_rocmcfg_takes "$option")" "$value" ''
    elif [[ $command -eq 0 && $value == --*=* ]]; then
        lead=${value%%=*}=
        _rocmcfg_offer "$(_rocmcfg_takes "${lead%=}")" "${value#*=}" "$lead"
    elif [[ $command -eq 0 && $value == -p?* ]]; then
        _rocmcfg_offer profile-file "${value:2}" -p
    elif [[ $command -eq 0 && $value == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_rocmcfg_options "$path")" -- "$value")
    elif [[ -z $path ]]; then
        mapfile -t COMPREPLY < <(compgen -W "status profile plan apply take-over verify confirm reject rollback history recover explain issues doctor lint report facts fleet env run try tries knowledge crashes render schema help" -- "$value")
    elif [[ $path == profile ]]; then
        mapfile -t COMPREPLY < <(compgen -W "list show validate new" -- "$value")
    elif [[ $path == tries ]]; then
        mapfile -t COMPREPLY < <(compgen -W "list show resume forget" -- "$value")
    elif [[ $path == knowledge ]]; then
        mapfile -t COMPREPLY < <(compgen -W "check new export install remove" -- "$value")
    elif [[ $path == crashes ]]; then
        mapfile -t COMPREPLY < <(compgen -W "on off list show report forget" -- "$value")
    else
        _rocmcfg_offer "$(_rocmcfg_takes "$path")" "$value" ''
    fi
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=.] ]] && compopt -o nospace 2>/dev/null
    # readline replaces only what is behind the last character that it cuts words at
    if [[ $cur != [\"\']* ]]; then
        for ((i = ${#cur} - 1; i >= 0; i--)); do
            [[ $COMP_WORDBREAKS == *"${cur:i:1}"* && ${cur:i:1} == [=:] ]] && break
        done
        lead=${cur:0:i+1}
        COMPREPLY=("${COMPREPLY[@]#"$lead"}")
    fi
}

# `rocmcfg run … COMMAND …`: what COMMAND's own completion says, where bash-completion is there to ask it.
_rocmcfg_run() {
    if declare -F _comp_command_offset >/dev/null; then
        _comp_command_offset "$1"
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    else
        mapfile -t COMPREPLY < <(compgen -o default -A command -- "$cur")
    fi
}

complete -F _rocmcfg rocmcfg
