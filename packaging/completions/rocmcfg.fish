# Completion of rocmcfg for fish 3.1 and newer. docs/generate.py writes this file from the program. Names that
# depend on the host, and settings with their values, come from `rocmcfg complete`; everything else is here.

# The command on the line, `profile show` as two words, after `help` too; nothing before one is there.
function __fish_rocmcfg_command
    set -l words (commandline -opc)
    set -e words[1]
    set -l found
    for word in $words
        string match -q -- '-*' $word; and continue
        set -a found $word
        contains -- "$found" help profile "help profile" knowledge "help knowledge"; or break
    end
    echo "$found"
end

function __fish_rocmcfg_at
    test (__fish_rocmcfg_command) = "$argv"
end

function __fish_rocmcfg_ask
    set -l words (commandline -opc)
    set -l program (string replace -r '^~(?=/)' $HOME -- $words[1])
    set -e words[1]
    set -l current (commandline -ct)
    $program complete $argv[1] $words "$current" 2>/dev/null </dev/null
end

function __fish_rocmcfg_profile_files
    set -l found (__fish_rocmcfg_ask profile)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_suffix .toml
    end
end

# `rocmcfg run … -- COMMAND …`: what COMMAND's own completion says.
function __fish_rocmcfg_run
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words); or return
    set -e words[1..$at]
    set -l current (commandline -ct)
    complete -C (string join ' ' -- (string escape -- $words) "$current")
end

complete -c rocmcfg -f
complete -c rocmcfg -n "__fish_rocmcfg_at " -a help -d 'Show the help of a command'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a status -d 'Show this host and the settings in force'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a profile -d 'List, show, validate and create profiles'
complete -c rocmcfg -n "__fish_rocmcfg_at help profile" -a list -d 'List the profiles, those for this host first'
complete -c rocmcfg -n "__fish_rocmcfg_at help profile" -a show -d 'Explain each setting of a profile'
complete -c rocmcfg -n "__fish_rocmcfg_at help profile" -a validate -d 'Check profiles against this host'"'"'s kernels'
complete -c rocmcfg -n "__fish_rocmcfg_at help profile" -a new -d 'Create a profile in /etc/rocmcfg/profiles'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a plan -d 'Show what apply would change, and why'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a apply -d 'Apply a profile; rollback undoes it'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a verify -d 'Check applied settings on the running kernel'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a confirm -d 'Keep the settings of this trial boot'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a reject -d 'Drop the trial'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a rollback -d 'Undo the last transaction'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a history -d 'List what was applied and rolled back'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a recover -d 'Undo an interrupted transaction'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a explain -d 'Explain a setting, a GPU, an issue, a message'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a issues -d 'List the known issues of this host'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a doctor -d 'Find known issues in logs, and their cure'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a lint -d 'Check settings in any file, and propose fixes'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a report -d 'Describe this host for an issue tracker'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a env -d 'Print or write the variables of a profile'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a run -d 'Run a command with a profile'"'"'s variables'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a knowledge -d 'Add your own known issues and parameters'
complete -c rocmcfg -n "__fish_rocmcfg_at help knowledge" -a check -d 'List and check what this host adds'
complete -c rocmcfg -n "__fish_rocmcfg_at help knowledge" -a new -d 'Draft a known issue from a log'
complete -c rocmcfg -n "__fish_rocmcfg_at help knowledge" -a export -d 'Make a bundle for other hosts'
complete -c rocmcfg -n "__fish_rocmcfg_at help knowledge" -a install -d 'Install a signed bundle'
complete -c rocmcfg -n "__fish_rocmcfg_at help knowledge" -a remove -d 'Remove an installed bundle'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a render -d 'Print a profile for NixOS, Guix or images'
complete -c rocmcfg -n "__fish_rocmcfg_at help" -a schema -d 'Print the JSON Schemas of the documents'

complete -c rocmcfg -n "__fish_rocmcfg_at " -a status -d 'Show this host and the settings in force'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a profile -d 'List, show, validate and create profiles'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a plan -d 'Show what apply would change, and why'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a apply -d 'Apply a profile; rollback undoes it'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a verify -d 'Check applied settings on the running kernel'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a confirm -d 'Keep the settings of this trial boot'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a reject -d 'Drop the trial'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a rollback -d 'Undo the last transaction'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a history -d 'List what was applied and rolled back'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a recover -d 'Undo an interrupted transaction'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a explain -d 'Explain a setting, a GPU, an issue, a message'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a issues -d 'List the known issues of this host'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a doctor -d 'Find known issues in logs, and their cure'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a lint -d 'Check settings in any file, and propose fixes'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a report -d 'Describe this host for an issue tracker'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a env -d 'Print or write the variables of a profile'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a run -d 'Run a command with a profile'"'"'s variables'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a knowledge -d 'Add your own known issues and parameters'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a render -d 'Print a profile for NixOS, Guix or images'
complete -c rocmcfg -n "__fish_rocmcfg_at " -a schema -d 'Print the JSON Schemas of the documents'
complete -c rocmcfg -n "__fish_rocmcfg_at " -l version -d 'Show the version and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at " -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at status" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at status" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at status" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at status" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at status" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at status" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at profile" -a list -d 'List the profiles, those for this host first'
complete -c rocmcfg -n "__fish_rocmcfg_at profile" -a show -d 'Explain each setting of a profile'
complete -c rocmcfg -n "__fish_rocmcfg_at profile" -a validate -d 'Check profiles against this host'"'"'s kernels'
complete -c rocmcfg -n "__fish_rocmcfg_at profile" -a new -d 'Create a profile in /etc/rocmcfg/profiles'
complete -c rocmcfg -n "__fish_rocmcfg_at profile" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile list" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile show" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile validate" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l extends -x -a '(__fish_rocmcfg_ask profile)' -d 'The profile to extend.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at profile new" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l with -x -a '(__fish_rocmcfg_ask optional)' -d 'Add an optional setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l without -x -a '(__fish_rocmcfg_ask leavable)' -d 'Leave out a setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l unconditional -d 'Also apply settings that this kernel and ROCm do not need.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l any-gpu -d 'Apply even if this host has no GPU of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l add -x -a '(__fish_rocmcfg_ask setting)' -d 'Like --set, but keep the settings that are applied already. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l via -x -a 'cmdline modprobe' -d 'Where module parameters go (default: the kernel command line).'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l boot-backend -x -a 'bootc grub grub-bls grub-mkconfig kernelstub limine proxmox-boot-tool refind rpm-ostree sdboot-manage sdbootutil systemd-boot uki' -d 'The boot loader, if two are installed.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l env-target -x -a '(__fish_rocmcfg_ask env-target)' -d 'Also write variables for this reader: fish, systemd, environment, gentoo, or unit:NAME.service. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l trial -d 'Apply for the next boot only, unless you confirm the settings during that boot.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l confirm-after -x -d 'With --trial: it confirms itself this long after its boot began (90s, 10m, 1h) if verify succeeds, the kernel log is clean and a user has logged in.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l health-check -x -d 'With --confirm-after: a shell command, run as root, that must succeed instead of a login. It is stored where every user can read it; keep secrets in a script that it calls.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l diff -d 'Show file changes as diffs.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l detailed-exitcode -d 'Exit with 3 if something would change.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at plan" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l with -x -a '(__fish_rocmcfg_ask optional)' -d 'Add an optional setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l without -x -a '(__fish_rocmcfg_ask leavable)' -d 'Leave out a setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l unconditional -d 'Also apply settings that this kernel and ROCm do not need.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l any-gpu -d 'Apply even if this host has no GPU of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l add -x -a '(__fish_rocmcfg_ask setting)' -d 'Like --set, but keep the settings that are applied already. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l via -x -a 'cmdline modprobe' -d 'Where module parameters go (default: the kernel command line).'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l boot-backend -x -a 'bootc grub grub-bls grub-mkconfig kernelstub limine proxmox-boot-tool refind rpm-ostree sdboot-manage sdbootutil systemd-boot uki' -d 'The boot loader, if two are installed.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l env-target -x -a '(__fish_rocmcfg_ask env-target)' -d 'Also write variables for this reader: fish, systemd, environment, gentoo, or unit:NAME.service. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l trial -d 'Apply for the next boot only, unless you confirm the settings during that boot.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l confirm-after -x -d 'With --trial: it confirms itself this long after its boot began (90s, 10m, 1h) if verify succeeds, the kernel log is clean and a user has logged in.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l health-check -x -d 'With --confirm-after: a shell command, run as root, that must succeed instead of a login. It is stored where every user can read it; keep secrets in a script that it calls.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l dry-run -d 'Show the plan only, like `rocmcfg plan --diff`.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l diff -d 'Show file changes as diffs.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l yes -s y -d 'Do not ask.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at apply" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l pid -x -d 'Check the variables of a running process too.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at verify" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l yes -s y -d 'Do not ask.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at confirm" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l force -d 'Overwrite edits made to the trial'"'"'s files.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l yes -s y -d 'Do not ask.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at reject" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l to -x -a '(__fish_rocmcfg_ask transaction)' -d 'Go back to the state after transaction N.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l pristine -l all -d 'Undo everything that rocmcfg ever wrote.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l force -d 'Overwrite edits made to rocmcfg'"'"'s files.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l dry-run -d 'Show what it would do, and change nothing.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l diff -d 'Show file changes as diffs.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l yes -s y -d 'Do not ask.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at rollback" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at history" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at history" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at history" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at history" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at history" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at history" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l force -d 'Overwrite edits made to rocmcfg'"'"'s files.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l yes -s y -d 'Do not ask.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l chroot -d 'With --root: run that host'"'"'s own tools inside it.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at recover" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l kernel -x -a '(__fish_rocmcfg_ask kernel)' -d 'For this kernel instead of those of the host.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at explain" -a '(__fish_rocmcfg_ask name)'

complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l search -x -d 'List the issues of any host that mention this word. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l all -d 'List the issues of every GPU.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at issues" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l log -r -F -d 'A log, compressed or not; - reads standard input. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l kernel -x -a '(__fish_rocmcfg_ask kernel)' -d 'For this kernel.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l rocm -x -d 'For this ROCm release.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at doctor" -F

complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l fix -d 'Show the proposals as a diff; nothing is written.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l kernel -x -a '(__fish_rocmcfg_ask kernel)' -d 'For this kernel instead of those of the host.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at lint" -F

complete -c rocmcfg -n "__fish_rocmcfg_at report" -l log -r -F -d 'A log, compressed or not; - reads standard input. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l bundle -r -F -d 'Also pack the report and the logs into a new .tar.gz.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at report" -F

complete -c rocmcfg -n "__fish_rocmcfg_at env" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l with -x -a '(__fish_rocmcfg_ask optional)' -d 'Add an optional setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l without -x -a '(__fish_rocmcfg_ask leavable)' -d 'Leave out a setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l unconditional -d 'Also apply settings that this kernel and ROCm do not need.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l any-gpu -d 'Apply even if this host has no GPU of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l format -s f -x -a 'sh fish systemd docker python' -d 'The format of the lines.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l user -d 'Write them for this account, to ~/.config/environment.d/90-rocmcfg.conf.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l remove -d 'With --user: remove that file.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at env" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at run" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l with -x -a '(__fish_rocmcfg_ask optional)' -d 'Add an optional setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l without -x -a '(__fish_rocmcfg_ask leavable)' -d 'Leave out a setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l unconditional -d 'Also apply settings that this kernel and ROCm do not need.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l any-gpu -d 'Apply even if this host has no GPU of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at run" -a '(__fish_rocmcfg_run)'

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -a check -d 'List and check what this host adds'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -a new -d 'Draft a known issue from a log'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -a export -d 'Make a bundle for other hosts'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -a install -d 'Install a signed bundle'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -a remove -d 'Remove an installed bundle'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge check" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l from-log -l log -r -F -d 'A log of the fault. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'The setting that cured it (default: those applied now).'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge new" -F

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l name -x -d 'The name of the bundle.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge export" -F

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge install" -F

complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at knowledge remove" -s h -l help -d 'Show the options, and exit.'

complete -c rocmcfg -n "__fish_rocmcfg_at render" -l profile -s p -x -a '(__fish_rocmcfg_profile_files)' -d 'A profile: its name, a GPU (rx9070xt), a .toml file, or auto (the default). May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l set -x -a '(__fish_rocmcfg_ask setting)' -d 'Set one value: amdgpu.runpm=0, feature.gfxoff=false, karg.iommu=pt, env.NAME=VALUE, or profile.NAME=NUMBER for a number that a profile leaves to you. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l with -x -a '(__fish_rocmcfg_ask optional)' -d 'Add an optional setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l without -x -a '(__fish_rocmcfg_ask leavable)' -d 'Leave out a setting of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l unconditional -d 'Also apply settings that this kernel and ROCm do not need.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l any-gpu -d 'Apply even if this host has no GPU of the profile.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l via -x -a 'cmdline modprobe' -d 'Where module parameters go (default: the kernel command line).'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l format -s f -x -a 'nixos guix bootc ignition butane machineconfig cloud-init ubuntu-core kickstart' -d 'The system to print it for.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l gfx -x -a 'gfx1010 gfx1011 gfx1012 gfx1013 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036 gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153 gfx1154 gfx1170 gfx1171 gfx1200 gfx1201 gfx1250 gfx600 gfx601 gfx602 gfx700 gfx701 gfx703 gfx704 gfx801 gfx802 gfx803 gfx810 gfx900 gfx902 gfx904 gfx906 gfx908 gfx90a gfx90c gfx942 gfx950' -d 'For this GPU, such as gfx1100 or 9070xt. May be repeated.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l kernel -x -a '(__fish_rocmcfg_ask kernel)' -d 'For this kernel.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l rocm -x -d 'For this ROCm release.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l root -x -a '(__fish_complete_directories)' -d 'Work on the host in DIR; the running host is not touched.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l quiet -s q -d 'Print problems only.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l verbose -s v -d 'Print evidence, sources and details.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at render" -a '(__fish_rocmcfg_profile_files)'

complete -c rocmcfg -n "__fish_rocmcfg_at schema" -l json -d 'Print one JSON document and nothing else.'
complete -c rocmcfg -n "__fish_rocmcfg_at schema" -l debug -d 'Show the traceback of an unexpected error.'
complete -c rocmcfg -n "__fish_rocmcfg_at schema" -s h -l help -d 'Show the options, and exit.'
complete -c rocmcfg -n "__fish_rocmcfg_at schema" -a 'failure plan apply confirm reject verify rollback recover history status explain report lint doctor issues env render check-kernel watch-trial profile-file known-issue'
