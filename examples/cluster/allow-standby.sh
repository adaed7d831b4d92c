#!/bin/sh
# Lets the standby of compose.yml connect, and answers wait for it: run once, when PostgreSQL creates its data directory.
set -eu
echo 'host replication svc samenet scram-sha-256' >> "$PGDATA/pg_hba.conf"
# A setting of ALTER SYSTEM, so that it changes without a restart when the standby is away.
echo "synchronous_standby_names = 'standby'" >> "$PGDATA/postgresql.auto.conf"
