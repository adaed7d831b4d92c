#!/bin/sh
# `svc` in the image: gives up root's rights for PUID and PGID, then runs the server or a command. Started as anybody
# else, as by `docker run --user`, it stays that user.
set -eu

fail () {
  echo "svc: $1" >&2
  exit 2
}

case "${PUID:-1000}${PGID:-1000}" in *[!0-9]*) fail "PUID='${PUID:-}' and PGID='${PGID:-}' have to be numbers, as id -u and id -g print them" ;; esac
case "${UMASK:-022}" in *[!0-7]*) fail "UMASK='$UMASK' has to be octal, such as 022 or 002" ;; esac
umask "${UMASK:-022}"

uid=$(id -u)
gid=$(id -g)
# Process 1 has to take in orphans and gets no signal that it does not handle, not even while it starts.
set -- node /svc/core/svc.js "$@"
if [ $$ = 1 ]; then set -- tini -- "$@"; fi

if [ "$uid" = 0 ]; then
  uid=${PUID:-1000}
  gid=${PGID:-1000}
  # A new volume is root's; one that was used before was this user's, unless PUID is another now. Links are not followed.
  if [ "$(stat -c %u:%g "$SVC_DATA_DIR")" != "$uid:$gid" ]; then
    chown -Rh "$uid:$gid" "$SVC_DATA_DIR" || fail "$SVC_DATA_DIR cannot be given to $uid:$gid; run chown -R $uid:$gid on it, or allow CAP_CHOWN and CAP_DAC_READ_SEARCH"
  fi
  set -- setpriv --reuid="$uid" --regid="$gid" --clear-groups --no-new-privs -- "$@"
fi

# Root's home is no one else's. What npm caches there may go.
export HOME=/tmp
# PostgreSQL is made by users that have a name only; /etc is read-only.
if ! getent passwd "$uid" > /dev/null; then
  names=/tmp/svc-passwd-$uid
  [ -e "$names" ] || echo "svc:x:$uid:$gid::/tmp:/bin/sh" > "$names" || fail '/tmp cannot be written; mount a tmpfs there'
  export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD="$names" NSS_WRAPPER_GROUP=/etc/group
fi
exec "$@"
