# shellcheck shell=sh
# Prints the documents of this host, one after the other. sudo's PATH may lack /usr/local/bin.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin
export PATH LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
if ! command -v rocmcfg >/dev/null; then
    echo 'rocmcfg is not installed' >&2
    exit 127
fi
for command in verify status doctor; do
    rocmcfg "$command" --json
done
# their exit codes are in the documents
exit 0
