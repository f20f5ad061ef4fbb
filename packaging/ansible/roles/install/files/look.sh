# shellcheck shell=sh
# Prints what the role has to know about a host, one KEY=VALUE per line. Changes nothing. $1: the prefix for wheels.
prefix=$1
machine=$(uname -m)
system=none
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    system=deb machine=$(dpkg --print-architecture)
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Version}' rocmcfg 2>/dev/null)
    case $installed in
        "installed "*) version=${installed#* } ;;
    esac
elif command -v rpm >/dev/null; then
    system=rpm
    version=$(rpm -q --qf '%{VERSION}-%{RELEASE}' rocmcfg 2>/dev/null) || version=
    for tool in dnf zypper; do command -v $tool >/dev/null && installer=$tool && break; done
fi
# What this role installed from wheels: its link, which may dangle, and the directory with its stamp.
link=no foreign=
for path in /usr/local/bin/rocmcfg /usr/local/sbin/rocmcfg; do
    if [ "$path" = /usr/local/bin/rocmcfg ] && [ "$(readlink "$path" | tr -s /)" = "$prefix/bin/rocmcfg" ]; then
        link=yes
    elif [ -e "$path" ] || [ -L "$path" ]; then
        # would be found before the package's own program, or under another path than the requested one
        foreign=$path; target=$(readlink -f "$path")
    fi
done
place=foreign runs=no
if [ -L "$prefix" ]; then :
elif [ ! -e "$prefix" ]; then place=absent
elif [ -d "$prefix" ] && grep -q '^Made by the role rocmcfg[.]amdgpu[.]install' "$prefix/installed" 2>/dev/null; then
    place=ours stamp=$(sed -n 2p "$prefix/installed")
    "$prefix/bin/rocmcfg" --version >/dev/null 2>&1 </dev/null && runs=yes
elif [ -d "$prefix" ] && [ -z "$(ls -A "$prefix")" ]; then place=empty
# `rm -rf PREFIX/*` leaves the file that venv writes since Python 3.13; the link tells whose it was
elif [ -d "$prefix" ] && [ "$link" = yes ] && [ "$(ls -A "$prefix")" = .gitignore ]; then place=empty
fi
# A host that runs from an image: dnf is missing, or refuses, or adds packages only to the next deployment.
image=no
[ -e /run/ostree-booted ] && image=yes
record=no
[ -n "$(ls -A /var/lib/rocmcfg/transactions 2>/dev/null)" ] && record=yes
systemd=no
command -v systemctl >/dev/null && systemd=yes
printf '%s\n' "system=$system" "machine=$machine" "version=$version" "installer=$installer" \
    "foreign=$foreign" "target=$target" "systemd=$systemd" "link=$link" "place=$place" "stamp=$stamp" \
    "runs=$runs" "record=$record" "image=$image"
