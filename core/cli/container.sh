#!/bin/sh
# Runs `svc` in the image: switches from root to PUID and PGID, then starts the server or a command. Another user, as
# set by `docker run --user`, is kept.
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
# Process 1 must adopt orphans, and it gets only signals that it handles, even while it starts.
set -- node /svc/core/svc.js "$@"
if [ $$ = 1 ]; then set -- tini -- "$@"; fi

if [ "$uid" = 0 ]; then
  uid=${PUID:-1000}
  gid=${PGID:-1000}
  # A new volume belongs to root. A used one belongs to this user, unless PUID has changed. Links are not followed.
  if [ "$(stat -c %u:%g "$SVC_DATA_DIR")" != "$uid:$gid" ]; then
    chown -Rh "$uid:$gid" "$SVC_DATA_DIR" || fail "$SVC_DATA_DIR cannot be given to $uid:$gid; run chown -R $uid:$gid on it, or allow CAP_CHOWN and CAP_DAC_READ_SEARCH"
  fi
  set -- setpriv --reuid="$uid" --regid="$gid" --clear-groups --no-new-privs -- "$@"
fi

# Other users cannot use root's home. npm's cache there may be lost.
export HOME=/tmp
# initdb of PostgreSQL needs a user with a name, and /etc is read-only.
if ! getent passwd "$uid" > /dev/null; then
  names=/tmp/svc-passwd-$uid
  [ -e "$names" ] || echo "svc:x:$uid:$gid::/tmp:/bin/sh" > "$names" || fail '/tmp cannot be written; mount a tmpfs there'
  export LD_PRELOAD=libnss_wrapper.so NSS_WRAPPER_PASSWD="$names" NSS_WRAPPER_GROUP=/etc/group
fi
exec "$@"
