# shellcheck shell=sh
# Prints what the role has to know of a host, one KEY=VALUE a line. Changes nothing.
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
# What would be found before the package's own program, or by another name than the one asked for.
foreign=
for path in /usr/local/bin/rocmcfg /usr/local/sbin/rocmcfg; do
    if [ -e "$path" ] || [ -L "$path" ]; then foreign=$path; target=$(readlink -f "$path"); fi
done
systemd=no
command -v systemctl >/dev/null && systemd=yes
printf '%s\n' "system=$system" "machine=$machine" "version=$version" "installer=$installer" \
    "foreign=$foreign" "target=$target" "systemd=$systemd"
