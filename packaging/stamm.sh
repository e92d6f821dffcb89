#!/bin/sh
# Runs Stamm with the Node of this release. "stamm serve" serves; "stamm --help" lists the commands.
here=$(dirname "$(readlink -f "$0")")
home=$(dirname "$here")
# Compiled code is kept where nobody else can write; a read-only installation does without.
if [ -z "$NODE_COMPILE_CACHE" ] && [ -w "$home" ]; then
  NODE_COMPILE_CACHE=$home/.cache
  export NODE_COMPILE_CACHE
fi
if ! "$home/runtime/node" --version >/dev/null; then
  echo "The Node of this release does not start here. It needs glibc 2.28, libstdc++ and libatomic: apt-get install libstdc++6 libatomic1" >&2
  exit 1
fi
exec "$home/runtime/node" "$home/server/main.ts" "$@"
