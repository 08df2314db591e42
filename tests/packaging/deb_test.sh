#!/bin/sh
# Builds the Debian package and looks into it: is what the systemd unit starts there, and does it run?
# deb_test.sh BUILD_FOLDER
set -eu

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cpack --config "$1/CPackConfig.cmake" -G DEB -B "$folder" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  exit 1
}
dpkg-deb -x "$folder"/*.deb "$folder/root"
dpkg-deb -e "$folder"/*.deb "$folder/control"

program=$(sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$folder/root/lib/systemd/system/ringway.service")
"$folder/root$program" --version
for file in $(cat "$folder/control/conffiles"); do
  test -s "$folder/root$file" || { echo "$file is named a configuration file and is not there"; exit 1; }
done
for script in postinst prerm postrm; do
  sh -n "$folder/control/$script"
done
