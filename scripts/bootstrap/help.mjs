/**
 * What `npm run <script> -- --help` prints, before anything is installed or started. The scripts that are missing here print their own:
 * weir, bench, hostile, frameworks and screenshots.
 */
export const help = {
  start: `npm start

Starts Weir as one process. Its settings are environment variables; docs/reference/variables.md lists all of them.

  PORT=8080                where it listens, on HOST=127.0.0.1
  DATA_DIR=./.weir         where it keeps its data
  CATALOG_DIR=./catalog-data
                           providers, models and connectors
  OPENAI_API_KEY=…         a provider's key: key_env in catalog-data/providers.json names the variable
  SANDBOX=off              without the provider that echoes
  LOG_LEVEL=info           and LOG_FORMAT=auto, text or json

Example: PORT=8090 DATA_DIR=/srv/weir npm start`,

  test: `npm test [-- FILE …]

Runs the checks of "npm run ok" and every suite of tests, which takes minutes; with files only those.

Example: npm test -- test/process/lock.test.ts`,

  ok: `npm run ok

Checks format, lint, types, architecture, catalog and dead code, in seconds. "npm test" does this too.

Example: npm run ok && git commit`,

  cluster: `npm run cluster [-- --gateways N] [--workers N] [--metering N] [--port PORT]

Runs a fleet on this machine under one supervisor. It starts NATS, Redis and PostgreSQL itself unless NATS_URL, REDIS_URL and DATABASE_URL
are set. Other settings are environment variables: docs/reference/variables.md.

  --gateways N   processes that answer HTTP, 1 to 64 (default 2)
  --workers N    admission processes (default 2)
  --metering N   metering processes (default 1)
  --port PORT    in place of PORT

Example: SANDBOX=on npm run cluster -- --gateways 2 --workers 3 --port 8090`,

  mcp: `npm run -s mcp -- [--attach-root DIR]

Serves MCP over stdio, for a client on this machine, with the tools of a running Weir.

  WEIR_TOOLS_KEY      its tools key: npm run -s weir -- key create --kind tools --workspace default --owner owner@localhost
  WEIR_URL            its address (default http://127.0.0.1:$PORT)
  --attach-root DIR   files below it may be attached to tickets (default: this folder)

Example: WEIR_TOOLS_KEY=platform-mcp-… npm run -s mcp`,

  chaos: `npm run chaos -- [--minutes M] [--seed S] [--longest SECONDS] [--rate N] [--faults JSON] [--clusters] [--report FILE]
npm run chaos -- --rolling [--former COMMIT] [--streams N | --connections N [--restarts N]]

Disturbs a fleet of real processes under load and checks every invariant afterwards. Exit code 1: one was broken.

  --minutes M        how long (default 5); --seed S chooses the faults (default 1)
  --longest SECONDS  the longest fault (default 30); --rate N requests a second (default 60)
  --faults JSON      these faults, such as '[[{"kind":"empty-redis"}]]'
  --clusters         on a Redis Cluster, three NATS servers and a PostgreSQL pair
  --rolling          restarts every gateway under --streams N open streams (default 200); --former COMMIT begins with that version
  --connections N    with --rolling: under N short connections, with --restarts N (default 10)
  --report FILE      all facts (default chaos.json); --log-level LEVEL of the processes (default error)

Example: npm run chaos -- --minutes 2 --seed 7`,

  simulate: `npm run simulate -- [--seeds N] [--from S] [--processes P]
npm run simulate -- --seed S

Runs the whole protocol under faults in virtual time, once for each seed. Exit code 1: an invariant was broken.

  --seeds N       how many seeds (default 300), from --from S (default 1)
  --processes P   in so many processes (default 2)
  --seed S        this seed alone; prints its events when it fails

Example: npm run simulate -- --seeds 1000`,

  alerts: `npm run alerts

Checks the alert rules of deploy/prometheus with promtool, and runs their tests.

Example: npm run alerts`,

  mutations: `npm run mutations [-- WORD …]

Applies each known mistake of test/mutations to a copy of the code and prints which test catches it; with words only mistakes whose name
contains one. It takes minutes. Exit code 1: one was not caught.

Example: npm run mutations -- overdraw`,

  "check-deploy": `npm run check-deploy [-- --build-image NAME] [--base-image NAME]

Checks the files in deploy/ by the tools that read them, and says which tools are missing. It builds the image, where podman or docker is
there, from the named base images.

Example: npm run check-deploy`,
};
