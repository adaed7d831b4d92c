#!/bin/sh
# Lets the standby of compose.yml connect: run once, when PostgreSQL creates its data directory.
set -eu
echo 'host replication svc samenet scram-sha-256' >> "$PGDATA/pg_hba.conf"
