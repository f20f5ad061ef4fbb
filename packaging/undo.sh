#!/bin/sh
case $0 in
  *undo.sh)
    if [ "$(tail -n 1 "$0")" != '# The end of undo.sh.' ]; then # it has lost its end, and would do nothing, or half of it
      echo "undo.sh: $0 is damaged: its last line is missing; nothing was changed. Run the other of /var/lib/rocmcfg/undo.sh" \
        "and /var/backups/rocmcfg/undo.sh, or: sudo rocmcfg rollback --pristine" >&2
      exit 1
    fi
    ;;
esac
# Takes back what rocmcfg applied, without rocmcfg and without Python:
#
#   sudo sh /usr/share/rocmcfg/undo.sh              on the host itself, at a rescue shell too
#   sudo sh /mnt/usr/share/rocmcfg/undo.sh          on the host that is mounted at /mnt
#
# It finds and runs the script that rocmcfg wrote on that host for what is in force there, /var/lib/rocmcfg/undo.sh, or
# the copy of it in /var/backups/rocmcfg. That script takes back, and says why where it cannot. Root runs it, and changes
# anything below --root DIR, only where nobody else than root may change what it would believe there.
#
#   undo.sh left        prints the files that hold something of ours; status 1 where there are none
#   undo.sh removal     what the packages run before they go: warns. Always ends well. With ROCMCFG_UNDO=1 in the
#                       environment it takes everything back first.
#   undo.sh installed   what they run when they have come: with the program here again, `rocmcfg rollback` knows better
#                       than an undo that was begun
#   --force             takes our part out also where somebody altered it; without it nothing is changed then
#   --root DIR          the host that is mounted there, wherever this script lies
set -f
# The system's programs alone, NixOS' and Guix System's too: sudo and su may let a PATH through whose folders are others'.
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

# As a word that can be typed.
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

# Reads the command line. Its words stay for the script that this one may run.
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
      -h | --help) sed -n '/^# Takes back/,/^set -f$/ { /^set -f$/d; s/^# \{0,1\}//p; }' "$self" && exit ;;
      *) echo "undo.sh: unknown: $1 (left, removal, installed, --force, --root DIR)" >&2 && exit 2 ;;
    esac
    shift
  done
  again="sudo sh $(quoted "$self")${force:+ --force}$given"
}
read_words "$@"

# -- where the host's paths lie ------------------------------------------------------------------------

# Goes down PATH below FOLDER, name by name, and follows links as a chroot in FOLDER does: one to /etc means FOLDER/etc.
# Sets `there` to the place where that ends; with `look` also `weak`, to the first part that others than root may change.
walk() { # FOLDER PATH [look]
  if [ -z "$1${3-}" ]; then # the running host's own, which the kernel follows
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
      links=$((links + 1)) target=$(ls -ld "$there") # no readlink(1), which a bare rescue shell may lack
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

# Notes `there` as `weak` where somebody else owns it, or may write it. Of a link the owner counts alone. So of a sticky
# folder, which is everybody's to make new names in, and only these are then looked at. Nothing is below what is missing.
look() {
  [ -z "$weak$missing" ] || return 0
  anybody=$everybody everybody=
  case "$nl$strong$nl" in *"$nl${there:-/}$nl"*) return 0 ;; esac
  if [ ! -e "${there:-/}" ] && [ ! -L "${there:-/}" ]; then
    missing=yes
    [ -z "$anybody" ] || weak="$there (anybody can make it)"
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

# Where a path of the host is, to be read; `named` does not follow the last name. What is neither a file nor a directory
# holds nothing of anybody: a pipe would be waited for, and a device may heed that it is opened.
at() { # PATH
  walk "$root" "$1"
  if [ -e "$there" ] && [ ! -f "$there" ] && [ ! -d "$there" ]; then there=/dev/null; fi
  printf '%s' "$there"
}
named() { printf '%s/%s' "$(at "${1%/*}")" "${1##*/}"; } # PATH

# Paths of the host that a pattern finds, each on a line. Broken links count.
glob() { # PATTERN…
  for pattern; do expand '' "$pattern"; done
}

# What it keeps is in its arguments, for it calls itself.
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

# How a transaction stands: begin, commit, undo, undone; empty where nothing was begun.
stands() { # JOURNAL
  sed -nE 's/.*"kind":"(begin|commit|undo|undone)".*/\1/p' "$(at "$1")" 2>/dev/null | tail -n 1
}

# The locks of rocmcfg: that of the running host, and that of a host which it works on from outside.
locks() {
  for lock in "$(named /run/rocmcfg.lock)" "$state/lock"; do
    if [ -f "$lock" ] && [ ! -L "$lock" ]; then printf '%s\n' "$lock"; fi
  done
}

at_work() {
  for lock in $(locks); do
    # shellcheck disable=SC2012 # a name of ours, and no stat(1) in a bare rescue shell
    number=$(ls -i "$lock" | sed 's/^ *\([0-9]*\) .*/\1/')
    if grep -qs ":$number [0-9]" /proc/locks; then return 0; fi # proc_locks(5); of both kinds that rocmcfg takes
  done
  return 1
}

require_host() {
  [ -d "$(at /etc)" ] || stop "there is no host at $root: it has no /etc; nothing was changed. Mount its root file system there"
  [ -n "$root" ] || [ "${user:-0}" = 0 ] || stop "this takes root, and nothing was changed. Run: $again"
  [ ! -L "$state" ] || stop "$state is a symbolic link, which rocmcfg does not make; nothing was changed." \
    "Put the directory in its place, then run again: $again"
  for file in "$state/receipt.json" "$state/trial.json" "$unfinished"; do
    [ ! -e "$file" ] || [ -f "$file" ] || stop "$file is no regular file, and rocmcfg makes one there; nothing was changed." \
      "Look into it, move it away, then run again: $again"
  done
}

# Adds to `others` the first part on the way to each of these paths that others than root may change.
note_weak() { # PATH…
  for path; do
    walk "$root" "$path" look
    others=$others$nl$weak
  done
}

require_nothing_weak() {
  others=$(printf '%s\n' "$others" | grep . | sort -u)
  # shellcheck disable=SC2086 # one path a line
  [ -z "$others" ] || stop 'others than root may change what root would believe here; nothing was changed:' $others \
    '(a tree of your own: run this without sudo. A host: look into it, and give it back to root, chown root:root and' \
    'chmod go-w on each of these; FAT is mounted with umask=0022. A folder on the way to it: mount the host below /mnt)'
}

# -- the script that rocmcfg wrote ---------------------------------------------------------------------

# Sets `script` to where the newest one lies that is whole, empty where there is none, and `damaged` to those before it
# that are not. Ends where root may not believe one.
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

# Says that there is a script, and none that is whole.
# shellcheck disable=SC2086 # one path a line
say_damaged() {
  say 'the script that takes back what is applied here is damaged, its last line is missing:' $damaged \
    '(nothing was changed. Run: sudo rocmcfg rollback --pristine; of a host that is mounted: --root DIR --chroot)'
}

# Transactions that are neither undone nor without a beginning.
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

# Runs the script in this shell, with the words that this one was given, or others in their place.
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
    # shellcheck disable=SC2086 # one path a line
    [ -z "$damaged" ] || say 'damaged, its last line is missing:' $damaged "(this runs its copy, $script)"
    run_script "$@"
    exit
  fi
  [ -z "$damaged" ] || { say_damaged && exit 1; }
  if at_work; then stop "rocmcfg is at work on this host right now; nothing was changed. Run again when it has ended: $again"; fi
  if interrupted; then
    stop 'a change of this host was interrupted, and no script to take it back lies here; nothing was changed.' \
      'Run: sudo rocmcfg recover'
  fi
  if [ -n "$(in_force)" ] || [ -e "$state/receipt.json" ]; then
    stop 'what is applied to this host was applied by an older rocmcfg, which wrote no script to take it back;' \
      'nothing was changed. Run: sudo rocmcfg rollback --pristine (of a host that is mounted: --root DIR --chroot)'
  fi
  [ ! -e "$unfinished" ] || rm -rf "$state" # a rollback has ended what was begun
  echo 'Nothing of rocmcfg is applied to this host, as far as anything here says.'
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
warning: rocmcfg is at work on this host right now, and its program goes while it runs.
When it has ended, install the package again and see: sudo rocmcfg recover
TEXT
  elif interrupted; then
    said=yes
    warn <<'TEXT'
warning: a change of this host was interrupted and is neither finished nor undone.
its record stays in /var/lib/rocmcfg. Install the package again and run: sudo rocmcfg recover
TEXT
  elif [ "${ROCMCFG_UNDO-}" = 1 ] && [ -n "$left" ]; then
    set --
    [ -z "$root" ] || set -- --root "$root"
    (undo "$@") </dev/null && return
    echo 'warning: it could not be taken back, as asked for by ROCMCFG_UNDO=1; see above' | warn
  fi
  if [ -e "$state/trial.json" ]; then
    warn <<'TEXT'
warning: a trial is on record. Without the package nobody confirms it, and its files stay;
if its boot has not come yet, the next one is it. To end it, install the package again and run:
sudo rocmcfg reject
TEXT
  fi
  find_script
  if [ -n "$left" ]; then
    {
      echo 'warning: what it applied stays in force after the package is gone:'
      for file in $left; do echo "  $file"; done
      echo 'to take it back, install the package again and run: sudo rocmcfg rollback --pristine'
    } | warn
  elif [ -z "$script" ] && [ -n "$(in_force)" ]; then
    {
      echo 'warning: what it applied may stay in force after the package is gone'
      echo 'to take it back, install the package again and run: sudo rocmcfg rollback --pristine'
    } | warn
  fi
  [ -n "$left$said" ] || return 0
  [ -z "$script" ] || echo 'or, without it: sudo sh /var/lib/rocmcfg/undo.sh' | warn
}

# An undo.sh that does not say what is in force is the copy that a removal of an older rocmcfg left.
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
