#!/bin/sh
# Fetch packages with all that they need besides what is installed into /srv/packages/FOLDER, and install none.
# mmdebstrap runs this with the root's path, the folder, the suite and the names; it names its own apt.conf in the
# environment (mmdebstrap(1), HOOKS).
set -eu
root=$1 folder=$root/srv/packages/$2 suite=$3
shift 3
mkdir -p "$folder/partial"
APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get --yes --quiet --download-only --no-install-recommends \
    -o "Dir::Cache::Archives=$folder/" --target-release "$suite" install "$@"
rm -rf "$folder/partial" "$folder/lock"
