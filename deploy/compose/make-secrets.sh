#!/bin/sh
# Makes the secrets of fleet.yaml in ./secrets, once: passwords of the three servers, the sealing key and the operator token.
# Keep a copy of secrets/secrets-key elsewhere: only it opens what the service sealed.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo "The folder secrets exists already: nothing was changed" >&2
  exit 1
fi
umask 077
mkdir secrets.new
random() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }
postgres=$(random) redis=$(random)

put() { printf '%s\n' "$2" > "secrets.new/$1"; }
put postgres-password "$postgres"
put database-url "postgres://weir:$postgres@postgres:5432/weir"
put redis-url "redis://:$redis@redis:6379"
put secrets-key "$(head -c 32 /dev/urandom | base64)"
put operator-token "$(random)"
put redis.conf "requirepass $redis
appendonly yes
maxmemory-policy noeviction
lazyfree-lazy-expire yes
dir /data"
# A user for each kind of process, and the variables of ../nats/accounts.conf.
for user in gateway admission metering worker; do
  password="w$(random)"
  put "nats-url-$user" "nats://weir-$user:$password@nats:4222"
  printf 'WEIR_NATS_%s_PASSWORD=%s\n' "$(echo "$user" | tr a-z A-Z)" "$password" >> secrets.new/nats.env
done

# Containers read the files as members of this group (SECRETS_GID).
chmod 0440 secrets.new/*
printf 'SECRETS_GID=%s\n' "$(id -g)" > .env
mv secrets.new secrets
echo "Made secrets/ and .env"
