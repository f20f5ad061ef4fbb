#!/bin/sh
case $0 in
  *undo.sh)
    if [ "$(tail -n 1 "$0")" != '# The end of undo.sh.' ]; then # without its end it would do nothing, or only half
      echo "undo.sh: $0 is damaged: its last line is missing; nothing was changed. Run the other copy, /var/lib/rocmcfg/undo.sh" \
        "or /var/backups/rocmcfg/undo.sh, or: sudo rocmcfg rollback --pristine" >&2
      exit 1
    fi
    ;;
esac
# Undoes what rocmcfg applied, without rocmcfg and without Python:
#
#   sudo sh /usr/share/rocmcfg/undo.sh              on the host itself, also in a rescue shell
#   sudo sh /mnt/usr/share/rocmcfg/undo.sh          on a host that is mounted at /mnt
#
# It finds and runs the script that rocmcfg wrote on that host for what is in force there: /var/lib/rocmcfg/undo.sh, or
# its copy in /var/backups/rocmcfg. That script does the work, or says why it cannot. As root, it is run, and changes
# files below --root DIR, only if nobody but root can change the files that it relies on there.
#
#   undo.sh left        prints the files that hold something of rocmcfg's; status 1 if there are none
#   undo.sh removal     for packages, before their removal: warns, and always succeeds. With ROCMCFG_UNDO=1 in the
#                       environment it undoes everything first
#   undo.sh installed   for packages, after their installation: with the program installed again, `rocmcfg rollback`
#                       knows better than an unfinished undo
#   --force             removes rocmcfg's part even if it was altered; without this option nothing is changed then
#   --root DIR          works on the host that is mounted at DIR, wherever this script is
set -f
# Only the system's programs, including those of NixOS and Guix System: sudo and su may pass on a PATH with folders of
# other users.
given_path=$PATH
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin:/run/current-system/profile/bin
user=$(id -u)
[ "${user:-0}" = 0 ] || PATH=$given_path:$PATH
export PATH
LC_ALL=C
export LC_ALL
umask 022
nl='
'
IFS=$nl

# Prints WORD as it can be typed in a shell.
quoted() { # WORD
  case $1 in
    '' | *[!A-Za-z0-9_@%+=:,./-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}

say() { (IFS=' ' && echo "undo.sh: $*" >&2); }

stop() {
  say "$@"
  exit 1
}

# Reads the command line. Its words are kept for the script that this one may run.
read_words() { # WORD…
  mode=undo force='' root='' given=''
  case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
  for place in /var/lib/rocmcfg/undo.sh /usr/share/rocmcfg/undo.sh /var/backups/rocmcfg/undo.sh; do
    case $self in *"$place") root=${self%"$place"} ;; esac
  done
  while [ $# -gt 0 ]; do
    case $1 in
      left | removal | installed) mode=$1 ;;
      --force) force=yes ;;
      --root)
        [ -d "${2-}" ] || { echo "undo.sh: --root ${2-}: there is no such directory" >&2 && exit 2; }
        case $2 in /*) root=${2%/} ;; *) root=$PWD/${2%/} ;; esac
        given=" --root $(quoted "$2")" && shift
        ;;
      -h | --help) sed -n '/^# Undoes what/,/^set -f$/ { /^set -f$/d; s/^# \{0,1\}//p; }' "$self" && exit ;;
      *) echo "undo.sh: unknown argument: $1 (left, removal, installed, --force, --root DIR)" >&2 && exit 2 ;;
    esac
    shift
  done
  again="sudo sh $(quoted "$self")${force:+ --force}$given"
}
read_words "$@"

# -- where the host's paths lie ------------------------------------------------------------------------

# Resolves PATH below FOLDER, name by name, and follows links as a chroot to FOLDER would: a link to /etc means
# FOLDER/etc. Sets `there` to the result; with `look` also sets `weak` to the first part that users other than root can
# change.
walk() { # FOLDER PATH [look]
  if [ -z "$1${3-}" ]; then # a path of the running host, which the kernel resolves
    there=$2
    return
  fi
  rest=$2/ there=$1 weak='' missing='' links=0 everybody=
  [ -z "${3-}" ] || look
  while [ -n "$rest" ]; do
    part=${rest%%/*} rest=${rest#*/}
    case $part in
      '' | .) continue ;;
      ..)
        [ "$there" = "$1" ] || there=${there%/*}
        continue
        ;;
    esac
    there=$there/$part
    [ -z "${3-}" ] || look
    if [ -L "$there" ]; then
      links=$((links + 1)) target=$(ls -ld "$there") # without readlink(1), which a minimal rescue shell may not have
      target=${target#*"$there -> "} there=${there%/*}
      case $target in /*) there=$1 ;; esac
      rest=$target/$rest
      if [ "$links" -gt 40 ]; then # as many as the kernel follows (Linux, fs/namei.c, MAXSYMLINKS)
        there=/dev/null/too-many-links
        return
      fi
    fi
  done
}

# Sets `weak` to `there` if another user owns it or can write to it. For a link, only the owner counts, and so for a
# sticky folder; but everybody can create new names in that, so a name that is missing there is weak as well. Nothing
# exists below a missing name.
look() {
  [ -z "$weak$missing" ] || return 0
  anybody=$everybody everybody=
  case "$nl$strong$nl" in *"$nl${there:-/}$nl"*) return 0 ;; esac
  if [ ! -e "${there:-/}" ] && [ ! -L "${there:-/}" ]; then
    missing=yes
    [ -z "$anybody" ] || weak="$there (anybody can create it)"
    return 0
  fi
  IFS=' '
  # shellcheck disable=SC2046 # its words
  set -- $(ls -ldn "${there:-/}" 2>/dev/null)
  IFS=$nl
  access=${1-} owner=${3-}
  case $owner:$access in
    0:l*) ;;
    0:d???????w[tT]*) everybody=yes && return ;;
    0:d????????[tT]*) ;;
    0:?????w* | 0:????????w*) weak="${there:-/} ($access)" ;;
    0:*) ;;
    *) weak="${there:-/} (of user $owner, $access)" ;;
  esac
  [ -n "$weak" ] || strong=$strong$nl${there:-/}
}
strong=

# Prints where a path of the host is, for reading; `named` does not follow a link in the last name. Anything but a file
# or a directory is treated as empty: reading a pipe would block, and opening a device may have effects.
at() { # PATH
  walk "$root" "$1"
  if [ -e "$there" ] && [ ! -f "$there" ] && [ ! -d "$there" ]; then there=/dev/null; fi
  printf '%s' "$there"
}
named() { printf '%s/%s' "$(at "${1%/*}")" "${1##*/}"; } # PATH

# Prints the paths of the host that match a pattern, one per line, broken links included.
glob() { # PATTERN…
  for pattern; do expand '' "$pattern"; done
}

# Keeps its state in its arguments because it calls itself.
expand() { # FOLDER PATTERN
  case $2 in
    '')
      walk "$root" "${1%/*}"
      if [ -e "$there/${1##*/}" ] || [ -L "$there/${1##*/}" ]; then printf '%s\n' "$1"; fi
      return
      ;;
    */*) set -- "$1" "${2%%/*}" "${2#*/}" ;;
    *) set -- "$1" "$2" '' ;;
  esac
  case $2 in
    '') expand "$1" "$3" ;;
    *[*?[]*)
      walk "$root" "$1"
      set +f
      for match in "$there"/$2; do
        set -f
        expand "$1/${match##*/}" "$3"
      done
      set -f
      ;;
    *) expand "$1/$2" "$3" ;;
  esac
}

state=$(named /var/lib/rocmcfg)
unfinished=$state/undo.unfinished

journals() { glob '/var/lib/rocmcfg/transactions/*/journal.jsonl'; }

# Prints the state of a transaction: begin, commit, undo or undone; nothing if it did not begin.
stands() { # JOURNAL
  sed -nE 's/.*"kind":"(begin|commit|undo|undone)".*/\1/p' "$(at "$1")" 2>/dev/null | tail -n 1
}

# Prints rocmcfg's locks: the one of the running host, and the one of a host that rocmcfg works on from outside.
locks() {
  for lock in "$(named /run/rocmcfg.lock)" "$state/lock"; do
    if [ -f "$lock" ] && [ ! -L "$lock" ]; then printf '%s\n' "$lock"; fi
  done
}

at_work() {
  for lock in $(locks); do
    # shellcheck disable=SC2012 # the name is rocmcfg's, and a minimal rescue shell has no stat(1)
    number=$(ls -i "$lock" | sed 's/^ *\([0-9]*\) .*/\1/')
    if grep -qs ":$number [0-9]" /proc/locks; then return 0; fi # proc_locks(5); both kinds that rocmcfg uses
  done
  return 1
}

require_host() {
  [ -d "$(at /etc)" ] || stop "there is no host at $root: it has no /etc; nothing was changed. Mount its root file system there"
  [ -n "$root" ] || [ "${user:-0}" = 0 ] || stop "only root can do this; nothing was changed. Run: $again"
  [ ! -L "$state" ] || stop "$state is a symbolic link, which rocmcfg does not create; nothing was changed." \
    "Replace it with the directory, then run again: $again"
  for file in "$state/receipt.json" "$state/trial.json" "$unfinished"; do
    [ ! -e "$file" ] || [ -f "$file" ] || stop "$file is not a regular file, but rocmcfg creates one there; nothing was changed." \
      "Inspect it, move it away, then run again: $again"
  done
}

# Adds to `others` the first part of each of these paths that users other than root can change.
note_weak() { # PATH…
  for path; do
    walk "$root" "$path" look
    others=$others$nl$weak
  done
}

require_nothing_weak() {
  others=$(printf '%s\n' "$others" | grep . | sort -u)
  # shellcheck disable=SC2086 # one path per line
  [ -z "$others" ] || stop 'users other than root can change files that root would rely on here; nothing was changed:' $others \
    '(for a tree of your own, run this without sudo. On a host, inspect each of these and give it back to root with' \
    'chown root:root and chmod go-w; mount FAT with umask=0022. If a folder above the host is listed, mount the host below' \
    '/mnt)'
}

# -- the script that rocmcfg wrote ---------------------------------------------------------------------

# Sets `script` to the newest complete script, empty if there is none, and `damaged` to the incomplete ones before it.
# Stops if root cannot trust one.
find_script() {
  script='' damaged='' others=
  for place in /var/lib/rocmcfg/undo.sh /var/backups/rocmcfg/undo.sh; do
    walk "$root" "$place" look
    if [ ! -f "$there" ]; then continue; fi
    script=$there
    if [ "${user:-0}" = 0 ]; then
      note_weak "$place"
      walk '' "$root" look
      others=$others$nl$weak
      require_nothing_weak
    fi
    [ "$(tail -n 1 "$script")" != '# The end of undo.sh.' ] || return 0
    damaged=$damaged$nl$script script=''
  done
}

# Says that there is a script, but no complete one.
# shellcheck disable=SC2086 # one path per line
say_damaged() {
  say 'the script that undoes what is applied here is damaged, its last line is missing:' $damaged \
    '(nothing was changed. Run: sudo rocmcfg rollback --pristine; for a mounted host add: --root DIR --chroot)'
}

# Prints the journals of transactions that have begun and are not undone.
in_force() {
  for journal in $(journals); do
    case $(stands "$journal") in '' | undone) ;; *) printf '%s\n' "$journal" ;; esac
  done
}

interrupted() {
  for journal in $(journals); do
    [ -s "$(at "$journal")" ] || continue
    case $(stands "$journal") in commit | undone) ;; *) return 0 ;; esac
  done
  return 1
}

# Runs the script in this shell, with the words that this script was given, or with others.
# shellcheck disable=SC1090 # it is found at run time
run_script() { # WORD…
  . "$script"
}

everything() {
  find_script
  [ -n "$script" ] || return 0
  set -- left
  [ -z "$root" ] || set -- left --root "$root"
  (run_script "$@")
}

undo() { # WORD…
  require_host
  find_script
  if [ -n "$script" ]; then
    # shellcheck disable=SC2086 # one path per line
    [ -z "$damaged" ] || say 'damaged, its last line is missing:' $damaged "(its copy is run instead: $script)"
    run_script "$@"
    exit
  fi
  [ -z "$damaged" ] || { say_damaged && exit 1; }
  if at_work; then stop "rocmcfg is running on this host; nothing was changed. When it has finished, run again: $again"; fi
  if interrupted; then
    stop 'a change of this host was interrupted, and there is no script to undo it; nothing was changed.' \
      'Run: sudo rocmcfg recover'
  fi
  if [ -n "$(in_force)" ] || [ -e "$state/receipt.json" ]; then
    stop 'the settings of this host were applied by an older rocmcfg, which wrote no script to undo them;' \
      'nothing was changed. Run: sudo rocmcfg rollback --pristine (for a mounted host add: --root DIR --chroot)'
  fi
  [ ! -e "$unfinished" ] || rm -rf "$state" # a rollback has finished what this script began
  echo 'Nothing that rocmcfg applied was found on this host.'
}

# -- what packages run ---------------------------------------------------------------------------------

warn() {
  while IFS= read -r line; do echo "rocmcfg: $line"; done >&2
}

removal() {
  said='' left=$(everything)
  if at_work; then
    said=yes
    warn <<'TEXT'
warning: rocmcfg is running on this host, and its program is being removed.
When it has finished, install the package again and run: sudo rocmcfg recover
TEXT
  elif interrupted; then
    said=yes
    warn <<'TEXT'
warning: a change of this host was interrupted and is neither finished nor undone.
Its record stays in /var/lib/rocmcfg. Install the package again and run: sudo rocmcfg recover
TEXT
  elif [ "${ROCMCFG_UNDO-}" = 1 ] && [ -n "$left" ]; then
    set --
    [ -z "$root" ] || set -- --root "$root"
    (undo "$@") </dev/null && return
    echo 'warning: it could not be undone, although ROCMCFG_UNDO=1 requests it; see above' | warn
  fi
  if [ -e "$state/trial.json" ]; then
    warn <<'TEXT'
warning: a trial is on record. Without the package it cannot be confirmed, and its files stay;
if its boot has not come yet, the next boot is the trial. To end it, install the package again and run:
sudo rocmcfg reject
TEXT
  fi
  find_script
  if [ -n "$left" ]; then
    {
      echo 'warning: the settings that it applied stay in force after the package is removed:'
      for file in $left; do echo "  $file"; done
      echo 'to undo it, install the package again and run: sudo rocmcfg rollback --pristine'
    } | warn
  elif [ -z "$script" ] && [ -n "$(in_force)" ]; then
    {
      echo 'warning: settings that it applied may stay in force after the package is removed'
      echo 'to undo it, install the package again and run: sudo rocmcfg rollback --pristine'
    } | warn
  fi
  [ -n "$left$said" ] || return 0
  [ -z "$script" ] || echo 'or, without the package: sudo sh /var/lib/rocmcfg/undo.sh' | warn
}

# An undo.sh without facts is a copy that the removal of an older rocmcfg left.
installed() {
  rm -f "$unfinished"
  grep -qs '^facts() {' "$state/undo.sh" || rm -f "$state/undo.sh"
}

case $mode in
  left)
    (find_script && { [ -n "$script" ] || [ -z "$damaged" ] || { say_damaged && exit 1; }; }) || exit 2
    left=$(everything)
    [ -n "$left" ] || exit 1
    printf '%s\n' "$left"
    ;;
  removal) (removal) || exit 0 ;;
  installed) installed ;;
  *) undo "$@" ;;
esac
# The end of undo.sh.
