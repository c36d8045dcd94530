import { posix } from "node:path";

/**
 * The layers in order: a layer imports only itself and layers before it. Each row is a folder of `src` and layers in it: `a/` holds all
 * of a folder, `*` the files directly there, and `a,b` is one layer of both. A file belongs to the first layer that holds it.
 */
export const layers = rowsOf(`
  .: kernel/ process/ config.ts http/ backing/
  accounts: * audit/ sessions/store.ts workspaces/,members/ quotas/ secrets/ keys/ sessions/ second-factor/ oidc/ mails/ alerts/
  connectors: * catalog/files/ catalog/ pages/ connections/
  gateway: * credit/ top-ups/ models/ providers/ own-keys/ service-keys/ journal/ usage/ generations/ refusals/ prompts/ admission/ metering/ statements/
  gateway/api: answer/ request/ call/ messages/ responses/ *
  security: limits.ts,subprocess.ts,resource.ts,resource-store.ts versions/ archives/ scans/ advisories/ sboms/ lockfiles/
  security: operation.ts,fields.ts tickets/ findings/* findings/scan/ vulnerabilities/ findings/lists/ findings/details/
  security: findings/triage/ findings/vex/ projects/ repositories/ reader-process.ts api/
  .: ../workers/ control-api/ console/look/ console/ ./`).flatMap(([[folder = ""] = [], all = []]) =>
  all.map((layer) => layer.split(",").map((held) => posix.join("src", folder, held))),
);

/** @returns the index of a file's layer, or -1 */
export function layerOf(path: string): number {
  const directly = `${posix.dirname(path)}/*`;
  return layers.findIndex((layer) => layer.some((held) => held === directly || path.startsWith(held)));
}

/** Imports that the order allows but that are forbidden, as prefixes of paths: what imports, what it imports, and why not. */
export const forbiddenImports = rowsOf(`
  src/gateway/: src/security/: the two products are independent
  src/security/: src/gateway/: the two products are independent
  src/control-api/: src/security/api/: the two APIs are independent
  src/gateway/ src/control-api/ src/security/: workers/: workers are called over the bus
  src/backing/embedded/: src/backing/nats/ src/backing/redis/ src/backing/postgres/: the two modes share only their interface
  src/backing/nats/ src/backing/redis/ src/backing/postgres/: src/backing/embedded/: the two modes share only their interface
`).flatMap(([from = [], to = [], why = []]) =>
  from.flatMap((one) => to.map((other) => ({ from: one, to: other, why: why.join(" ") }))),
);

/** The places in src and workers that may import each npm package or use `Bun.`. Types of `postgres` may be imported anywhere. */
export const packageHomes: Readonly<Record<string, string[]>> = Object.fromEntries(
  rowsOf(`
  bun: src/backing/redis/bun-client.ts src/backing/nats/nats-transport.ts src/process/c-library.ts src/process/leave-port.ts src/accounts/sessions/passwords.ts
  @sinclair/typebox: src/
  @fontsource-variable/inter: src/http/font.ts
  openid-client: src/accounts/oidc/
  nodemailer: src/accounts/mails/smtp.ts
  uqr: src/console/sign-in/second-factor-forms.ts
  pino: src/kernel/log.ts
  prom-client: src/kernel/metrics.ts src/kernel/tallied-histogram.ts
  elysia: src/http/router.ts src/server/app.ts src/process/health.ts
  lru-cache: src/gateway/admission/ src/gateway/prompts/ src/control-api/authenticate.ts
  stripe: src/gateway/top-ups/stripe-client.ts
  saxes: src/security/sboms/ src/security/lockfiles/syntax.ts
  smol-toml: src/security/lockfiles/syntax.ts
  js-yaml: src/security/advisories/document.ts src/security/lockfiles/syntax.ts
  ae-cvss-calculator: src/security/advisories/cvss.ts
  spdx-license-ids: src/security/sboms/
  @modelcontextprotocol/server: src/security/api/
  postgres: src/backing/embedded/ src/backing/postgres/
  @electric-sql/pglite: src/backing/embedded/
  redis: src/backing/redis/package-client.ts
  nats @nats-io/jetstream @nats-io/nats-core: src/backing/nats/
  @opentelemetry/api @opentelemetry/resources @opentelemetry/sdk-metrics @opentelemetry/sdk-trace: src/process/telemetry/
  @opentelemetry/exporter-metrics-otlp-http @opentelemetry/exporter-trace-otlp-http: src/process/telemetry/
`).flatMap(([names = [], homes = []]) => names.map((name) => [name, homes])),
);

/** The rows of a table, as the words of their cells. */
function rowsOf(table: string): string[][][] {
  const rows = table.trim().split("\n");
  return rows.map((row) => row.split(": ").map((cell) => cell.trim().split(" ")));
}
