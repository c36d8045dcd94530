# sync-connectors.sh, with curl and jq: keeps all rows, and their version, in STATE_DIR
set -eu
url=${WEIR_URL:-http://127.0.0.1:8080}
cd "${STATE_DIR:-.}"
if [ ! -s version ]; then
  version=$(curl -fsSI "$url/api/connector-exports/latest.ndjson" | tr -d '\r' | sed -n 's/^x-catalog-version: //Ip')
  curl -fsS --compressed "$url/api/connector-exports/$version.ndjson" -o connectors.ndjson
  echo "$version" > version
else
  curl -fsS --compressed "$url/api/connector-changes?since=$(cat version)" -o changes.ndjson
  if [ -s changes.ndjson ]; then
    jq -nc --slurpfile rows connectors.ndjson --slurpfile changes changes.ndjson '
      reduce $changes[] as $change ($rows | map({(.id): .}) | add;
        if $change.row then .[$change.id] = $change.row else del(.[$change.id]) end)
      | .[]' > connectors.new
    mv connectors.new connectors.ndjson
    tail -n 1 changes.ndjson | jq -r .version > version
  fi
fi
