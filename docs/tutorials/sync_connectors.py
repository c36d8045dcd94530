# sync_connectors.py, without packages: keeps all rows, and their version, in STATE_FILE
import gzip, json, os, urllib.request

url = os.environ.get("WEIR_URL", "http://127.0.0.1:8080")
file = os.environ.get("STATE_FILE", "connectors-state.json")


def get(path):
    request = urllib.request.Request(url + path, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=60) as response:
        body = response.read()
        if response.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        return [json.loads(line) for line in body.split(b"\n") if line], response.headers["X-Catalog-Version"]


if os.path.exists(file):
    with open(file, encoding="utf-8") as kept:
        state = json.load(kept)
    changes, _ = get("/api/connector-changes?since=" + state["version"])
    for change in changes:
        if change["row"] is None:
            state["rows"].pop(change["id"], None)
        else:
            state["rows"][change["id"]] = change["row"]
        state["version"] = change["version"]
    print(f"{len(changes)} changes")
else:
    rows, version = get("/api/connector-exports/latest.ndjson")
    state = {"version": version, "rows": {row["id"]: row for row in rows}}

with open(file + ".new", "w", encoding="utf-8") as new:
    json.dump(state, new)
os.replace(file + ".new", file)
print(f"{len(state['rows'])} connectors of version {state['version']}")
