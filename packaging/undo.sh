#!/bin/sh
# Takes back what rocmcfg applied, without rocmcfg and without Python:
#
#   sudo sh /usr/share/rocmcfg/undo.sh              on the host itself, at a rescue shell too
#   sudo sh /mnt/usr/share/rocmcfg/undo.sh          on the host that is mounted at /mnt
#   sudo sh /var/lib/rocmcfg/undo.sh                the copy that a removal of the package leaves
#
# Files of rocmcfg go to /var/backups/rocmcfg. Out of files of others our part is taken, the rest stays, and a copy of
# what was there goes there as well: configuration, boot entries, limine.conf, refind_linux.conf. Addons go from the EFI
# partition. Programs that keep our arguments, or make menus and images, are run; where they cannot be, they are named.
# Nothing is changed where somebody altered our part since (--force takes it out all the same), where a program that is
# needed is missing, or where a partition is not mounted: nothing is mounted here. Root changes nothing below --root DIR
# where others than root may change what it would believe there.
#
#   undo.sh left        prints the files that hold something of ours; status 1 where there are none
#   undo.sh removal     what the packages run before they go: warns, and leaves the copy. Always ends well. With
#                       ROCMCFG_UNDO=1 in the environment it takes everything back first.
#   undo.sh installed   what they run when they have come: with the program here again, `rocmcfg rollback` knows better
#                       than the copy, which goes.
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

# The files that are ours as a whole. A test holds this against what rocmcfg says of itself.
OWNED='/etc/default/grub.d/zz-rocmcfg.cfg
/etc/rocmcfg/kernel-arguments
/etc/rocmcfg/limine-trial
/etc/limine-entry-tool.d/zz-rocmcfg.conf
/etc/sdboot-manage.conf.d/zz-rocmcfg.conf
/etc/dracut.conf.d/zz-rocmcfg-kernel-arguments.conf
/etc/kernel/cmdline.d/90-rocmcfg.conf
/etc/modprobe.d/zz-rocmcfg.conf
/etc/dracut.conf.d/90-rocmcfg.conf
/etc/default/grub.d/zzz-rocmcfg-trial.cfg
/etc/grub.d/01_rocmcfg_trial
/efi/loader/entries/_-rocmcfg-trial.conf
/boot/loader/entries/_-rocmcfg-trial.conf
/boot/efi/loader/entries/_-rocmcfg-trial.conf
/esp/loader/entries/_-rocmcfg-trial.conf
/boot/grub2/user.cfg
/boot/grub/user.cfg
/etc/environment.d/90-rocmcfg.conf
/etc/profile.d/zz-rocmcfg.sh
/etc/rocmcfg/env
/etc/fish/conf.d/zz-rocmcfg.fish
/etc/systemd/system.conf.d/90-rocmcfg.conf
/etc/env.d/99rocmcfg
/etc/systemd/system/*.service.d/90-rocmcfg.conf
/etc/kernel/postinst.d/rocmcfg
/etc/kernel/install.d/95-rocmcfg.install
/etc/initcpio/post/rocmcfg
/etc/atomic-update.conf.d/rocmcfg.conf'
# Files of others that hold a part of ours.
EDITED='/etc/default/grub
/etc/default/limine
/etc/kernel/cmdline
/etc/sdboot-manage.conf
/etc/environment'
# Where an EFI partition, and a /boot of its own beside it, are mounted.
PARTITIONS='/efi
/boot
/boot/efi
/esp'
# Where the programs are that are run, and what they run: as rocmcfg asks with --chroot.
PROGRAMS='/bin
/sbin
/lib
/usr/bin
/usr/sbin
/usr/lib
/usr/local/sbin
/usr/local/bin
/etc
/boot/grub'
# What tells our part: a comment and the assignment below it, lines between two comments, words on a line.
NEXT_LINE='# Written by rocmcfg, with the next line. Undo: sudo rocmcfg rollback'
LINES='# rocmcfg begin: written by rocmcfg apply. Undo: sudo rocmcfg rollback'
LINES_END='# rocmcfg end'
BEGIN=rocmcfg.begin
END=rocmcfg.end

# As a word that can be typed.
quoted() { # WORD
  case $1 in
    '' | *[!A-Za-z0-9_@%+=:,./-]*) printf "'%s'" "$(printf '%s' "$1" | sed "s/'/'\\\\''/g")" ;;
    *) printf '%s' "$1" ;;
  esac
}

mode=undo
force=
menu_is_due=
root=
given=
case $0 in /*) self=$0 ;; *) self=$PWD/$0 ;; esac
for place in /var/lib/rocmcfg/undo.sh /usr/share/rocmcfg/undo.sh; do
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
    -h | --help) sed -n '2,/^set -f$/ { /^set -f$/d; s/^# \{0,1\}//p; }' "$self" && exit ;;
    *) echo "undo.sh: unknown: $1 (left, removal, installed, --force, --root DIR)" >&2 && exit 2 ;;
  esac
  shift
done
again="sudo sh $(quoted "$self")${force:+ --force}$given"

say() { (IFS=' ' && echo "undo.sh: $*" >&2); }

stop() {
  say "$@"
  exit 1
}

# -- where the host's paths lie ------------------------------------------------------------------------

# Goes down PATH below FOLDER, name by name, and follows links as a chroot in FOLDER does: one to /etc means FOLDER/etc.
# Sets `there` to the place where that ends; with `look` also `weak`, to the first part that others than root may change.
walk() { # FOLDER PATH [look]
  if [ -z "$1${3-}" ]; then # the running host's own, which the kernel follows
    there=$2
    return
  fi
  rest=$2/ there=$1 weak='' links=0 everybody=
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
# folder, which is everybody's to make new names in, and only these are then looked at.
look() {
  [ -z "$weak" ] || return 0
  anybody=$everybody everybody=
  case "$nl$strong$nl" in *"$nl${there:-/}$nl"*) return 0 ;; esac
  if ! listed=$(ls -ldn "${there:-/}" 2>/dev/null); then
    [ -z "$anybody" ] || weak="$there (anybody can make it)"
    return 0
  fi
  access=${listed%% *}
  owner=$(printf '%s' "$listed" | sed -n '1s/^[^ ]* *[0-9]* *\([0-9]*\) .*/\1/p')
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

# -- what is there -------------------------------------------------------------------------------------

# By name ours, or said to be: where a password of GRUB may stand, only its head tells.
whole() {
  for pattern in $OWNED; do
    for file in $(glob "$pattern"); do
      case $file in
        *rocmcfg*) printf '%s\n' "$file" ;;
        *) if head -c 400 "$(at "$file")" 2>/dev/null | grep -q 'Written by rocmcfg'; then printf '%s\n' "$file"; fi ;;
      esac
    done
  done
}

addons() {
  for mounted in $PARTITIONS; do glob "$mounted/EFI/Linux/*.extra.d/rocmcfg.addon.efi"; done
  for image in $(named_images); do glob "${image%/*}/*.extra.d/rocmcfg.addon.efi"; done
}

# Unified kernel images where a preset of mkinitcpio puts them.
named_images() {
  for preset in $(glob '/etc/mkinitcpio.d/*.preset'); do
    sed -nE "s/^[[:blank:]]*[[:alnum:]_]+_(uki|efi_image)=[\"']?(\/[^\"'[:space:]]+).*/\2/p" "$(at "$preset")"
  done
}

images() {
  for mounted in $PARTITIONS; do glob "$mounted/EFI/Linux/*.[eE][fF][iI]"; done
  for image in $(named_images); do glob "$image"; done
}

menus() {
  for mounted in $PARTITIONS; do
    glob "$mounted/loader/entries/*.[cC][oO][nN][fF]" "$mounted/limine.conf" "$mounted/limine/limine.conf" \
      "$mounted/boot/limine.conf" "$mounted/boot/limine/limine.conf" "$mounted/EFI/*/limine.conf" \
      "$mounted/refind_linux.conf" "$mounted/EFI/*/refind_linux.conf" "$mounted/refind-linux.conf" \
      "$mounted/refind.conf" "$mounted/EFI/*/refind.conf"
  done
}

# How this host's root file system is named: in its fstab, and by the kernel that runs.
own_roots() {
  {
    while IFS=' 	' read -r device place _; do [ "$place" = / ] && printf '%s\n' "$device"; done <"$(at /etc/fstab)"
    [ ! -r "$(at /proc/cmdline)" ] || tr ' ' '\n' <"$(at /proc/cmdline)" | sed -n 's/^root=//p'
  } 2>/dev/null | tr '[:upper:]' '[:lower:]'
}

# An entry that names another machine, or another root file system in the same way, is that of another system, which
# may have a rocmcfg of its own.
of_another_system() { # PATH
  here=$(cat "$(at /etc/machine-id)" 2>/dev/null)
  told=$(sed -nE 's/^[[:blank:]]*machine-id[[:blank:]]+([[:xdigit:]-]+).*/\1/p' "$(at "$1")" | tail -n 1 | tr -d -)
  if [ -n "$told" ] && [ ${#here} = 32 ] && [ "$told" != "$here" ]; then return 0; fi
  told=$(sed -nE 's/^[[:blank:]]*options[[:blank:]](.*[[:blank:]])?root=([^[:space:]]+).*/\2/p' "$(at "$1")" | tail -n 1)
  told=$(printf '%s' "$told" | tr '[:upper:]' '[:lower:]')
  alike=
  for name in $(own_roots); do
    [ "$name" != "$told" ] || return 1
    case $told in *=*) case $name in "${told%%=*}="*) alike=1 ;; esac ;; esac
  done
  [ -n "$alike" ]
}

# Those with a part of ours.
with_part() { # PATH…
  for file; do
    if [ ! -f "$(at "$file")" ] || of_another_system "$file"; then continue; fi
    if grep -qsF -e "$NEXT_LINE" -e "$LINES" -e "$BEGIN " -e " $END" "$(at "$file")"; then printf '%s\n' "$file"; fi
  done
}

everything() {
  for file in $(whole) $(addons); do printf '%s\n' "$file"; done | sort -u
  # shellcheck disable=SC2046,SC2086 # one path a line
  with_part $EDITED $(menus) | sort -u
}

# -- our part of a file --------------------------------------------------------------------------------

# Reads a file and prints it without our part, or (ours) only that. Ends as the file did: `glued` says that our lines
# brought the end of the line before them.
parts() { # others|ours GLUED
  inside='' gap='' last=
  while end=$nl && { IFS= read -r line || { end='' && [ -n "$line" ]; }; }; do
    last=ours
    case $inside in
      assignment)
        inside=
        case $line in
          *'="$'*' }'* | *']+=" '*)
            [ "$1" = others ] || printf '%s%s' "$line" "$end"
            [ -n "$end" ] || [ "$1" != others ] || gap=
            continue
            ;;
        esac
        ;;
      lines)
        case $line in
          "$LINES_END")
            [ -n "$end" ] || gap= # the line before ours ended the file
            inside= && { [ "$1" = others ] || printf '%s%s' "$line" "$end"; } && continue
            ;;
          '' | '#'*) inside= ;;
          *) [ "$1" = others ] || printf '%s%s' "$line" "$end" && continue ;;
        esac
        ;;
    esac
    case $line in
      "$NEXT_LINE") inside=assignment && { [ "$1" = others ] || printf '%s%s' "$line" "$end"; } && continue ;;
      "$LINES") inside=lines && { [ "$1" = others ] || printf '%s%s' "$line" "$end"; } && continue ;;
      "options  $BEGIN "*" $END")
        [ -n "$end" ] || gap=
        continue
        ;;
    esac
    last=others
    while :; do
      case $line in
        *"$BEGIN "*"$END"*)
          before=${line%%"$BEGIN "*} rest=${line#*"$BEGIN "}
          blank=${before#"${before%?}"}
          [ "$blank" = ' ' ] || blank=
          if [ "$1" = ours ]; then printf '%s' "$blank$BEGIN ${rest%%"$END"*}$END" && return; fi
          line=${before%"$blank"}${rest#*"$END"}
          ;;
        *) break ;;
      esac
    done
    [ "$1" = others ] || continue
    printf '%s%s' "$gap" "$line"
    gap=$end
  done
  if [ "$1" = ours ] || { [ "$last" = ours ] && [ -n "$2" ]; }; then return; fi
  printf '%s' "$gap"
}

journals() { glob '/var/lib/rocmcfg/transactions/*/journal.jsonl'; }

# How a transaction stands: begin, commit, undo, undone; empty where nothing was begun.
stands() { # JOURNAL
  sed -nE 's/.*"kind":"(begin|commit|undo|undone)".*/\1/p' "$(at "$1")" 2>/dev/null | tail -n 1
}

# Whether a line of a transaction that is not undone has both texts, or of any where a menu is left to be made. Its keys
# are in the order of the alphabet.
recorded() { # TEXT TEXT
  for journal in $(journals); do
    [ -n "$menu_is_due" ] || [ "$(stands "$journal")" != undone ] || continue
    if grep -F -- "$1" "$(at "$journal")" 2>/dev/null | grep -qF -- "$2"; then return; fi
  done
  return 1
}

all_undone() { [ -n "$(journals)" ] && ! recorded '"kind":"begin"' ''; }

ran() { recorded '"kind":"activation"' "\"tool\":\"$1\""; }

glued() { # PATH
  menu_is_due=
  if recorded "\"path\":\"$1\"" '"inserted":"\n#'; then echo yes; fi
}

# What the transaction was to bring: the loader that it was for, and the arguments that it added, each on a line.
for_loader() { sed -nE '1s/.*"expect":.*"backend":"([^"]*)".*/\1/p' "$(at "$1")" 2>/dev/null; } # JOURNAL
added() { sed -nE '1s/.*"expect":[{]"added":\[([^]]*)\].*/\1/p' "$(at "$1")" 2>/dev/null | tr '"' '\n' | grep -v '^,*$'; } # JOURNAL

# What programs made of the host's own configuration: of grub.cfg the entries of this system, where grub-mkconfig says
# which they are.
made_menu() {
  for menu in $(glob /boot/grub/grub.cfg /boot/grub2/grub.cfg); do
    sed -n '\|^### BEGIN /etc/grub.d/[0-9]*_linux|,\|^### END|p' "$(at "$menu")"
  done
  if [ "$loader" = sdbootutil ]; then for menu in $(menus); do cat "$(at "$menu")"; done; fi
}

asked_by_owner() { # ARGUMENT
  for file in $(glob /etc/default/grub '/etc/default/grub.d/*' '/etc/kernel/cmdline*' '/etc/kernel/cmdline.d/*'); do
    if grep -v '^[[:blank:]]*#' "$(at "$file")" 2>/dev/null | grep -qFw -e "$1"; then return; fi
  done
  return 1
}

# Whether a boot menu has arguments still that were taken back since the last apply, and that nobody else asks for: a
# `rocmcfg rollback` that can run no programs of the host leaves them there.
has_taken_back() {
  for journal in $(journals | sort -r); do
    [ "$(stands "$journal")" = undone ] || return 1
    for argument in $(added "$journal"); do
      if made_menu 2>/dev/null | grep -qFw -e "$argument" && ! asked_by_owner "$argument"; then return; fi
    done
  done
  return 1
}

# The digest of our part as it was written, of which the receipt knows; during a trial more than that is there.
written() { # PATH
  [ -e "$state/trial.json" ] ||
    sed -n "s|^ *\"$1\": \"\\([0-9a-f]\\{64\\}\\)\",\\{0,1\\}\$|\\1|p" "$state/receipt.json" 2>/dev/null
}

# Those that have one of two marks alone, so that nobody can tell what between them was ours.
torn() { # PATH…
  for file; do
    others=$(parts others <"$(at "$file")")
    case $others in *"$BEGIN "* | *" $END"*) printf '%s\n' "$file" ;; esac
  done
}

altered() { # PATH…
  command -v sha256sum >/dev/null || return 0
  for file; do
    known=$(written "$file")
    [ -n "$known" ] || continue
    now=$(parts ours <"$(at "$file")" | sha256sum)
    [ "${now%% *}" = "$known" ] || printf '%s\n' "$file"
  done
}

# -- programs ------------------------------------------------------------------------------------------

# Whether programs of the host can be run: of one that is mounted elsewhere, where the kernel's /proc is mounted there
# too. What else lies in a tree at /proc shows nothing; who is not root can hand nothing over to a program of it.
runs() { [ -z "$root" ] || if [ "${user:-0}" = 0 ]; then mounted /proc proc; else [ -e "$root/proc/self" ]; fi; }

run() { # PROGRAM ARGUMENT…
  if [ -z "$root" ]; then "$@" 9>&-; else chroot "$root" "$@" 9>&-; fi
}

has() {
  if [ -z "$root" ]; then
    command -v "$1" >/dev/null
  else
    for place in /usr/local/sbin /usr/local/bin /usr/sbin /usr/bin /sbin /bin; do
      if [ -x "$(at "$place/$1")" ]; then return; fi
    done
    return 1
  fi
}

due=
need() { # STEP PROGRAM PACKAGE
  case "$nl$due$nl" in *"$nl$1$nl"*) return 0 ;; esac
  if runs && ! has "$2"; then
    stop "$2 (package $3) is missing, and the next boot would keep what rocmcfg applied; nothing was changed." \
      "Install it and run again: $again"
  fi
  due=$due$nl$1
}

# Whether rocmcfg has written this file, or one in this directory.
wrote() { # PATH
  case "$nl$found$nl$edited$nl" in *"$nl$1/"* | *"$nl$1$nl"*) return 0 ;; esac
  grep -qsE "^$1(/|\$)" "$unfinished" || recorded '"kind":"file"' "\"path\":\"$1/" ||
    recorded '"kind":"file"' "\"path\":\"$1\""
}

# What is made of our files by programs.
plan_programs() {
  if [ -e "$(at /etc/kernel/proxmox-boot-uuids)" ] && { wrote /etc/default/grub.d || wrote /etc/kernel; }; then
    need proxmox-boot-tool proxmox-boot-tool proxmox-kernel-helper
  elif [ -z "$found$edited$menu_is_due" ] && all_undone; then
    : # by a rollback after this script began, and the menu has none of it
  elif wrote /etc/default/grub.d || ran update-grub; then
    need update-grub update-grub grub2-common
  elif ! entries_are_files && { wrote /etc/grub.d || wrote /etc/default/grub || ran grub-mkconfig || ran grub2-mkconfig; }; then
    need mkconfig "$(mkconfig_name)-mkconfig" grub
  fi
  if wrote /etc/kernel/cmdline.d || ran sdbootutil; then need sdbootutil sdbootutil sdbootutil; fi
  if built_in >/dev/null; then plan_images; fi
  if wrote /etc/modprobe.d || wrote /etc/dracut.conf.d; then plan_initramfs; fi
  if wrote /etc/env.d; then need env-update env-update portage; fi
}

# Where grub-mkconfig would write the options of the rescue entry, too, and nothing needs it.
entries_are_files() {
  [ "$loader" = grub-bls ] ||
    grep -qsE '^[[:blank:]]*blscfg([[:blank:]]|$)' "$(at /boot/grub2/grub.cfg)" "$(at /boot/grub/grub.cfg)"
}

mkconfig_name() { if [ -e "$(at /boot/grub2/grub.cfg)" ]; then echo grub2; else echo grub; fi; }

# Images with our part in their own line; status 1 where there are none.
built_in() {
  # shellcheck disable=SC2046 # one path a line
  for image in $(images); do
    if grep -qsF "$BEGIN " "$(at "$image")"; then printf '%s\n' "$image"; fi
  done | grep .
}

plan_images() {
  if enforced && ! has sbctl && ! says '(SecureBootPrivateKey|uefi_secureboot_key)[[:blank:]]*=' \
    /etc/kernel/uki.conf /etc/dracut.conf '/etc/dracut.conf.d/*.conf'; then
    stop "Secure Boot is on, the arguments are inside of $(built_in | head -n 1), and nothing here would sign the image" \
      "that is built without them; nothing was changed. Install rocmcfg again and run: sudo rocmcfg rollback --pristine"
  fi
  case $(image_builder) in
    mkinitcpio) need images mkinitcpio mkinitcpio ;;
    dracut) need images dracut dracut ;;
    *) need images kernel-install systemd ;;
  esac
}

# Whether a line of one of these files begins so.
says() { # EXPRESSION PATTERN…
  words=$1
  shift
  for file in $(glob "$@"); do
    if grep -qsE "^[[:blank:]]*$words" "$(at "$file")"; then return; fi
  done
  return 1
}

image_builder() {
  if [ -n "$(named_images)" ]; then
    echo mkinitcpio
  elif says layout=uki /etc/kernel/install.conf '/etc/kernel/install.conf.d/*.conf' /usr/lib/kernel/install.conf; then
    echo kernel-install
  elif has dracut; then
    echo dracut
  else
    echo kernel-install
  fi
}

enforced() {
  for variable in $(glob '/sys/firmware/efi/efivars/SecureBoot-*'); do
    case $(tail -c 1 "$(at "$variable")" 2>/dev/null | od -An -tu1) in *1*) return 0 ;; esac
  done
  return 1
}

plan_initramfs() {
  for tool in update-initramfs dracut mkinitcpio; do
    if ran "$tool"; then
      need "$tool" "$tool" "$tool"
      return
    fi
  done
  # on record, and no image carries the driver; or left to who ran rocmcfg on a root that was not booted
  if recorded '"kind":"file"' '"path":"/etc/modprobe.d/' && ! grep -qs '"left_to_user"' "$state/receipt.json"; then return 0; fi
  wrote /etc/modprobe.d || return 0
  for tool in update-initramfs mkinitcpio dracut; do
    if has "$tool"; then
      need "$tool" "$tool" "$tool"
      return
    fi
  done
}

# As where the owner runs it: a boot menu in another language has other titles.
in_its_language() { # PROGRAM ARGUMENT…
  for word in $(
    for file in /etc/default/locale /etc/locale.conf; do
      sed -nE 's/^(LANG|LANGUAGE|LC_MESSAGES|LC_ALL)=["'"'"']?([[:alnum:]_.@:-]+).*/\1=\2/p' "$(at "$file")" 2>/dev/null
    done
  ); do
    [ "${LC_ALL-}" != C ] || unset LC_ALL
    export "${word?}"
  done
  run "$@"
}

step() { # STEP
  case $1 in
    update-grub) (in_its_language update-grub) ;;
    proxmox-boot-tool) run proxmox-boot-tool refresh ;;
    mkconfig) (in_its_language "$(mkconfig_name)-mkconfig" -o "/boot/$(mkconfig_name)/grub.cfg") ;;
    sdbootutil) run sdbootutil update-all-entries ;;
    update-initramfs) run update-initramfs -u -k all ;;
    mkinitcpio) if has limine-mkinitcpio; then run limine-mkinitcpio; else run mkinitcpio -P; fi ;;
    env-update) run env-update --no-ldconfig ;;
    dracut) each_initramfs ;;
    images) each_image ;;
  esac
}

# Every image that has the name of a kernel, each beside the old one: a full partition costs none.
each_initramfs() {
  failures=0
  for modules in $(glob '/lib/modules/*/modules.dep'); do
    release=${modules%/modules.dep} release=${release##*/}
    base=$(cat "$(at "/lib/modules/$release/pkgbase")" 2>/dev/null)
    for image in $(
      glob "/boot/init*-$release" "/boot/init*-$release.img" "/boot/init*-$release+*.img" ${base:+"/boot/dracut-$base.img"}
      for mounted in $PARTITIONS; do glob "$mounted/*/$release/init*"; done
    ); do
      run env NO_POST_UPDATE_HOOKS=1 dracut --force --rebuild "$image" "$image.new" "$release" &&
        mv -f "$(named "$image").new" "$(named "$image")" || failures=1
    done
  done
  return "$failures"
}

each_image() {
  signs=$(built_in)
  case $(image_builder) in
    mkinitcpio) run mkinitcpio -P || return ;;
    dracut) run dracut --regenerate-all --force || return ;;
    *)
      for modules in $(glob '/usr/lib/modules/*'); do
        release=${modules##*/}
        for kernel in "$modules/vmlinuz" "/boot/vmlinuz-$release"; do
          [ -e "$(at "$kernel")" ] || continue
          run kernel-install add "$release" "$kernel" || return
          break
        done
      done
      ;;
  esac
  if enforced && has sbctl; then
    for image in $signs; do run sbctl sign "$image" || return; done
  fi
  if built_in >/dev/null; then
    say "built anew, and these still hold our arguments:" "$(built_in)"
    return 1
  fi
}

# -- programs that keep our arguments themselves -------------------------------------------------------

arguments() { grep -v '^#' "$(at /etc/rocmcfg/kernel-arguments)" 2>/dev/null | tr ' ' '\n' | grep .; }

keeper() {
  for tool in bootc rpm-ostree kernelstub; do
    if recorded '"kind":"tool"' "\"tool\":\"$tool\"" || [ "$loader" = "$tool" ]; then
      echo "$tool"
      return
    fi
  done
}

# The command by which the program forgets our arguments, a word on each line.
forget() { # KEEPER
  case $1 in
    bootc) printf '%s\n' bootc loader-entries set-options-for-source --source rocmcfg ;;
    rpm-ostree)
      printf '%s\n' rpm-ostree kargs
      for word in $(arguments | sort -u); do printf '%s\n' "--delete-if-present=$word"; done
      printf '%s\n' --unchanged-exit-77
      ;;
    kernelstub) printf '%s\n' kernelstub -d "$(arguments | sort -u | tr '\n' ' ' | sed 's/ $//')" ;;
  esac
}

take_from_keeper() {
  by=$(keeper)
  [ -n "$by" ] && [ -n "$(arguments)" ] || return 0
  command=$(forget "$by")
  shown=$(for word in $command; do printf '%s ' "$(quoted "$word")"; done)
  shown=${shown% }
  runs || stop "$by keeps the arguments, and only the host itself can run it; nothing was changed." \
    "Boot it, and run there: sudo sh $(quoted "${self#"$root"}")   (or: $shown)"
  has "$by" || stop "$by is missing, and it keeps the arguments; nothing was changed. Install it and run again: $again"
  code=0
  # shellcheck disable=SC2086 # a word on each line
  run $command || code=$?
  if [ "$code" != 0 ] && { [ "$by" != rpm-ostree ] || [ "$code" != 77 ]; }; then
    stop "$by failed with exit status $code: $shown" "nothing else was changed. When that is mended, run again: $again"
  fi
  still=$(kept_still "$by")
  [ -z "$still" ] || stop "$by ended well, and still keeps: $still; nothing else was changed. Run it by hand and see: $shown"
}

# Those of our arguments that a boot would still get.
kept_still() { # KEEPER
  case $1 in
    rpm-ostree) line=$(run rpm-ostree kargs 2>/dev/null) || return 0 ;;
    kernelstub) line=$(tr -s '",[:space:]' ' ' <"$(at /etc/kernelstub/configuration)") ;;
    *) return 0 ;;
  esac
  for word in $(arguments | sort -u); do
    case " $(printf '%s' "$line" | tr '\n' ' ') " in *" $word "*) printf '%s ' "$word" ;; esac
  done
}

# A trial whose boot has not come yet: the next boot is not to be it, whatever becomes of the rest.
disarm() {
  for name in grub grub2; do
    grep -qs '^rocmcfg_next=' "$(at "/boot/$name/grubenv")" || continue
    { runs && run "$name-editenv" - unset rocmcfg_next; } ||
      say "the trial stays armed until the boot menu is made again: $name-editenv - unset rocmcfg_next"
  done
  [ -z "$root" ] || return 0 # the firmware is that of the machine that runs; without its entry it does nothing
  for variable in $(glob '/sys/firmware/efi/efivars/LoaderEntryOneShot-*'); do
    if tr -d '\000' <"$variable" | grep -q '_-rocmcfg-trial'; then
      bootctl set-oneshot '' || say 'the next boot was to be the trial; without its entry it is the default one'
    fi
  done
}

# -- what stands in the way ----------------------------------------------------------------------------

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

# Keeps rocmcfg away until this shell ends, where there is a flock(1); fails where rocmcfg is at work. The lock of a host
# from outside is there as long as it is held.
hold() {
  if at_work; then return 1; fi
  command -v flock >/dev/null || return 0
  if [ -z "$root" ]; then
    lock=/run/rocmcfg.lock
  else
    [ -d "$state" ] || return 0
    lock=$state/lock
  fi
  [ ! -L "$lock" ] && { [ -f "$lock" ] || [ ! -e "$lock" ]; } && (umask 077 && : >>"$lock") 2>/dev/null || return 0
  exec 9<>"$lock"
  flock -n 9 2>/dev/null || return 1
  [ -z "$root" ] || trap 'rm -f "$lock_of_ours"' EXIT
  lock_of_ours=$lock
}

interrupted() {
  for journal in $(journals); do
    [ -s "$(at "$journal")" ] || continue
    case $(stands "$journal") in commit | undone) ;; *) return 0 ;; esac
  done
  return 1
}

mounted() { # MOUNT POINT [TYPE]
  point=$(at "$1" | sed 's/\\/\\134/g; s/ /\\040/g; s/	/\\011/g') # proc_pid_mounts(5), fstab(5)
  while IFS=' ' read -r _ path type _; do
    if [ "$path" = "$point" ] && [ "${2:-$type}" = "$type" ]; then return 0; fi
  done 2>/dev/null </proc/self/mounts
  return 1
}

# A partition of the boot loader that is not there hides what is to be taken back.
require_partitions() {
  case $loader in
    grub | grub-mkconfig | proxmox-boot-tool | rpm-ostree | bootc) needed=/boot ;;
    *) needed=$PARTITIONS ;;
  esac
  for place in $needed; do
    grep -qsE "^[^#[:space:]]+[[:space:]]+${place}[[:space:]]" "$(at /etc/fstab)" || continue
    if [ -z "$(ls -A "$(at "$place")/." 2>/dev/null)" ] && ! mounted "$place"; then
      stop "$place is empty and not mounted, and what rocmcfg applied may be there; nothing was changed." \
        "Mount it (mount ${root:+--target-prefix $(quoted "$root") }$place), then run again: $again"
    fi
  done
  case $loader in
    systemd-boot | grub-bls | sdboot-manage | limine | refind) [ -n "$(menus)" ] && return ;;
    uki) [ -n "$(images)" ] && return ;;
    *) return 0 ;;
  esac
  [ -n "$found$edited" ] || return 0
  stop "no boot entry of $loader is to be seen, below ${root:-/}: its partition is not mounted; nothing was changed." \
    "Mount it at /efi, /boot or /boot/efi, then run again: $again"
}

# The program of Limine that holds the checksum of limine.conf: with a changed one it would not boot.
require_unsealed() {
  case $changed in *limine.conf*) ;; *) return 0 ;; esac
  for mounted in $PARTITIONS; do
    for program in $(glob "$mounted/EFI/*/*.[eE][fF][iI]" "$mounted/limine-bios.sys" "$mounted/limine/limine-bios.sys" "$mounted/boot/limine/limine-bios.sys"); do
      sum=$(sed -n 's/.*++CONFIG_B2SUM_SIGNATURE++\([0-9a-f]\{128\}\).*/\1/p' "$(at "$program")" | head -n 1)
      [ -z "$(printf %s "$sum" | tr -d 0)" ] ||
        stop "$program holds the checksum of limine.conf, and would not boot with a changed one; nothing was changed." \
          "Take it out (limine-reset-enroll, or limine enroll-config --reset PROGRAM), then run again: $again"
    done
  done
}

require_writable() { # PATH…
  for file; do
    [ -w "$(at "${file%/*}")" ] ||
      stop "cannot write in ${file%/*}; nothing was changed. Mount it writable, then run again: $again"
  done
}

# -- taking back ---------------------------------------------------------------------------------------

# A free name among the copies.
copy_of() { # PATH
  kept=$(at "/var/backups/rocmcfg${1%/*}")
  mkdir -p "$kept" || stop "cannot make $kept; nothing more was changed"
  copy=$kept/${1##*/} number=0
  while [ -e "$copy" ] || [ -L "$copy" ]; do number=$((number + 1)) && copy=$kept/${1##*/}.~$number~; done
}

move_away() { # PATH
  file=$(named "$1")
  [ -e "$file" ] || [ -L "$file" ] || return 0 # on a partition that is seen at two places
  copy_of "$1"
  mv -f "$file" "$copy" || stop "cannot take $1 away. When that is mended, run again: $again"
}

# The file without our part, whole or not at all, with the owner and mode that it has.
take_out() { # PATH
  copy_of "$1"
  file=$(named "$1") fresh=$(named "$1").rocmcfg-undo
  if { cp -a "$file" "$copy" 2>/dev/null || cp -p "$file" "$copy"; } &&
    { cp -a "$file" "$fresh" 2>/dev/null || cp -p "$file" "$fresh"; } &&
    parts others "$(glued "$1")" <"$file" >"$fresh" &&
    { sync "$fresh" 2>/dev/null || sync; } && mv -f "$fresh" "$file" &&
    # on FAT the name leads to the new content only when that is written once more
    { sync "$file" 2>/dev/null || sync; }; then
    return
  fi
  rm -f "$fresh"
  stop "cannot write $1 (a full disk?); it is as it was. When that is mended, run again: $again"
}

# Directories that rocmcfg made, the deepest first; one that somebody else uses stays.
empty_directories() {
  for journal in $(journals); do
    sed -nE 's/.*"kind":"mkdir".*"path":"([^"]*)".*/\1/p' "$(at "$journal")" 2>/dev/null
  done | sort -ru | while IFS= read -r folder; do rmdir "$(named "$folder")" 2>/dev/null; done
  for folder in $1; do
    case $folder in */rocmcfg | *.extra.d) rmdir "$(named "$folder")" 2>/dev/null ;; esac
  done
}

# Adds to `others` what others than root may change of these paths.
look_at() { # PATH…
  for path; do
    walk "$root" "$path" look
    others=$others$nl$weak
  done
}

# Where this is run by root for a tree, nobody else may be able to change what is read, moved or run there: first what has
# a name of its own, and is read to find the rest.
require_roots_own() {
  [ -n "$root" ] && [ "${user:-0}" = 0 ] || return 0
  walk '' "$root" look
  others=$weak
  for path in $OWNED $EDITED $PARTITIONS; do look_at "${path%%\**}" "/var/backups/rocmcfg${path%%\**}"; done
  look_at /var/lib/rocmcfg/receipt.json /var/lib/rocmcfg/trial.json /var/lib/rocmcfg/undo.unfinished /var/lib/rocmcfg/lock \
    /etc/fstab /etc/machine-id /etc/mkinitcpio.d /boot/grub/grub.cfg /boot/grub2/grub.cfg /boot/grub/grubenv \
    /boot/grub2/grubenv /proc /lib/modules /usr/lib/modules
  # shellcheck disable=SC2086 # one path a line
  if runs; then look_at $PROGRAMS; fi
  require_none
  for path in $(everything); do look_at "$path" "/var/backups/rocmcfg$path"; done
  # shellcheck disable=SC2046 # one path a line
  look_at $(menus) $(images) $(journals)
  require_none
}

require_none() {
  others=$(printf '%s\n' "$others" | grep . | sort -u)
  # shellcheck disable=SC2086 # one path a line
  [ -z "$others" ] || stop 'others than root may change what root would believe here; nothing was changed:' $others \
    '(a tree of your own: run this without sudo. A host: look into it, and give it back to root, chown root:root and' \
    'chmod go-w on each of these; FAT is mounted with umask=0022. A folder on the way to it: mount the host below /mnt)'
}

undo() {
  [ -d "$(at /etc)" ] || stop "there is no host at $root: it has no /etc; nothing was changed. Mount its root file system there"
  [ -n "$root" ] || [ "${user:-0}" = 0 ] || stop "this takes root, and nothing was changed. Run: $again"
  [ ! -L "$state" ] || stop "$state is a symbolic link, which rocmcfg does not make; nothing was changed." \
    "Put the directory in its place, then run again: $again"
  for file in "$state/receipt.json" "$state/trial.json" "$unfinished"; do
    [ ! -e "$file" ] || [ -f "$file" ] || stop "$file is no regular file, and rocmcfg makes one there; nothing was changed." \
      "Look into it, move it away, then run again: $again"
  done
  require_roots_own
  case $self in
    */var/lib/rocmcfg/undo.sh)
      newer=$(find "$state/transactions" -name journal.jsonl -newer "$self" 2>/dev/null | head -n 1)
      [ -z "$newer" ] || stop "rocmcfg was at work on this host after this script was written ($newer)," \
        'so it may not know all of it; nothing was changed. Run: sudo rocmcfg rollback --pristine' \
        '(install the package again if that program is gone)'
      ;;
  esac
  hold || stop "rocmcfg is at work on this host right now; nothing was changed. Run again when it has ended: $again"
  loader=$(sed -n 's/^ *"boot_backend": "\(.*\)",$/\1/p' "$state/receipt.json" 2>/dev/null)
  [ -n "$loader" ] || loader=$(for_loader "$(journals | sort | tail -n 1)")
  found=$(for file in $(whole) $(addons); do printf '%s\n' "$file"; done | sort -u)
  # shellcheck disable=SC2086,SC2046 # one path a line
  edited=$(with_part $EDITED) changed=$(with_part $(menus))
  trial=$(printf '%s' "$found" | grep -F _-rocmcfg-trial)
  changed=$(for file in $changed; do case "$nl$trial$nl" in *"$nl$file$nl"*) ;; *) printf '%s\n' "$file" ;; esac done)
  if has_taken_back; then menu_is_due=yes; fi
  if [ -z "$found$edited$changed$menu_is_due" ] && [ ! -e "$unfinished" ] && ! recorded '"kind":"begin"' ''; then
    echo 'Nothing of rocmcfg is applied to this host.'
    case $self in */var/lib/rocmcfg/undo.sh) rm -rf "$state" ;; esac
    return
  fi
  require_partitions
  # shellcheck disable=SC2086
  if [ -z "$force" ]; then
    others=$(altered $edited)
    [ -z "$others" ] || stop "nothing was changed: somebody altered the lines of rocmcfg in" $others "(take them out by" \
      "hand and run again: $again; or drop them, too, a copy stays in /var/backups/rocmcfg: $again --force)"
  fi
  # shellcheck disable=SC2086
  others=$(torn $edited $changed)
  # shellcheck disable=SC2086
  [ -z "$others" ] || stop "nothing was changed: $BEGIN or $END is missing in" $others "(take out by hand what rocmcfg" \
    "added there, and the mark that is left, then run again: $again)"
  # shellcheck disable=SC2086
  for link in $edited $changed; do
    [ ! -L "$(named "$link")" ] || stop "$link is a symbolic link, which rocmcfg does not make; nothing was changed." \
      "Put the file in its place, then run again: $again"
  done
  require_unsealed
  # shellcheck disable=SC2086
  require_writable $found $edited $changed
  plan_programs

  take_from_keeper
  disarm
  { [ -d "$state" ] || mkdir -p "$state"; } || stop "cannot make $state"
  # Until all is done a purge of the package must not delete the record.
  for file in $found $edited $changed; do printf '%s\n' "$file"; done >>"$unfinished" || stop "cannot write $unfinished"
  for file in $edited $changed; do take_out "$file"; done
  for file in $found; do move_away "$file"; done
  sync
  finish
}

finish() {
  failed=
  if [ -n "$due" ] && ! runs; then
    say "the files are as they were, and the boot menu is not yet. What makes it is due, and needs the host's /proc:"
    for one in $due; do say "  $one"; done
    say "Run this, which does it: for d in dev proc sys; do sudo mount --rbind /\$d $(quoted "$root")/\$d; done; $again"
    exit 1
  fi
  for one in $due; do step "$one" || failed="$failed $one"; done
  [ -z "$failed" ] || stop "failed:$failed. The next boot may keep what rocmcfg applied; its files are in $root/var/backups/rocmcfg." \
    "When that is mended, run again: $again"
  empty_directories "$(sed 's|/[^/]*$||' "$unfinished" | sort -ru)"
  rm -rf "$state"
  echo "Taken back; a reboot puts it into effect. The files are in $root/var/backups/rocmcfg, with what anybody added to them."
}

# -- what packages run ---------------------------------------------------------------------------------

warn() {
  while IFS= read -r line; do echo "rocmcfg: $line"; done >&2
}

removal() {
  said=
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
  elif [ "${ROCMCFG_UNDO-}" = 1 ] && [ -n "$(everything)" ]; then
    (undo) </dev/null && return
    echo 'warning: it could not be taken back, as asked for by ROCMCFG_UNDO=1; see above' | warn
  fi
  if [ -e "$state/trial.json" ]; then
    warn <<'TEXT'
warning: a trial is on record. Without the package nobody confirms it, and its files stay;
if its boot has not come yet, the next one is it. To end it, install the package again and run:
sudo rocmcfg reject
TEXT
  fi
  left=$(everything)
  if [ -n "$left" ]; then
    {
      echo 'warning: what it applied stays in force after the package is gone:'
      for file in $left; do echo "  $file"; done
      echo 'to take it back, install the package again and run: sudo rocmcfg rollback --pristine'
    } | warn
  fi
  [ -n "$left$said" ] || return 0
  if { [ -d "$state" ] || mkdir -m 711 "$state"; } 2>/dev/null &&
    cat "$self" 2>/dev/null >"$state/undo.sh.new" && mv -f "$state/undo.sh.new" "$state/undo.sh" 2>/dev/null; then
    echo 'or, without it: sudo sh /var/lib/rocmcfg/undo.sh' | warn
    return 0
  fi
  rm -f "$state/undo.sh.new" 2>/dev/null
  [ -z "$left" ] || echo 'or delete these files, then run what makes the boot menu and the initramfs' | warn
}

case $mode in
  left)
    left=$(everything)
    [ -n "$left" ] || exit 1
    printf '%s\n' "$left"
    ;;
  removal) (removal) || exit 0 ;;
  installed) rm -f "$state/undo.sh" "$unfinished" ;;
  *) undo ;;
esac
