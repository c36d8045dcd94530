/** The layers in order: a layer imports only itself and layers before it. A new folder is one line here. */

export interface Layer {
  name: string;
  /** Files, folders by a slash at the end, or the files directly in a folder by `/*`. A file belongs to the first layer that holds it. */
  holds: string[];
}

const folder = (name: string): Layer => ({ name, holds: [`src/${name}/`] });

/** The files directly in a folder, without those of its inner folders. */
const filesOf = (name: string): Layer => ({ name, holds: [`src/${name}/*`] });

/** The folders of a wing, in order. */
const wing = (name: string, folders: string[]): Layer[] => folders.map((inner) => folder(`${name}/${inner}`));

export const layers: Layer[] = [
  folder("kernel"),
  folder("process"),
  { name: "config", holds: ["src/config.ts"] },
  folder("http"),
  folder("backing"),
  filesOf("accounts"),
  folder("accounts/audit"),
  { name: "accounts/sessions/store", holds: ["src/accounts/sessions/store.ts"] },
  { name: "accounts/workspaces", holds: ["src/accounts/workspaces/", "src/accounts/members/"] },
  ...wing("accounts", ["quotas", "secrets", "keys", "sessions", "second-factor", "oidc", "mails", "alerts"]),

  filesOf("connectors"),
  folder("connectors/catalog/files"),
  ...wing("connectors", ["catalog", "pages", "connections"]),

  filesOf("gateway"),
  ...wing("gateway", [
    "credit",
    "top-ups",
    "models",
    "providers",
    "own-keys",
    "journal",
    "usage",
    "generations",
    "prompts",
    "admission",
    "metering",
    "statements",
  ]),
  ...wing("gateway/api", ["answer", "request", "call"]),
  filesOf("gateway/api"),

  {
    name: "security/what all share",
    holds: ["limits", "subprocess", "resource", "resource-store"].map((name) => `src/security/${name}.ts`),
  },
  ...wing("security", ["versions", "archives", "scans", "advisories", "sboms", "lockfiles"]),
  { name: "security/operation", holds: ["src/security/operation.ts", "src/security/fields.ts"] },
  folder("security/tickets"),
  filesOf("security/findings"),
  ...wing("security", ["findings/scan", "vulnerabilities", "findings/lists", "findings/details", "findings/triage"]),
  ...wing("security", ["projects", "repositories"]),
  { name: "security/reader-process", holds: ["src/security/reader-process.ts"] },
  folder("security/api"),

  { name: "workers", holds: ["workers/"] },
  folder("control-api"),
  folder("console/look"),
  folder("console"),
  { name: "server", holds: ["src/"] },
];

/** Imports that the order allows but that are forbidden, as prefixes of paths. */
export const forbiddenImports: { from: string; to: string; why: string }[] = [
  { from: "src/gateway/", to: "src/security/", why: "the two products are independent" },
  { from: "src/security/", to: "src/gateway/", why: "the two products are independent" },
  { from: "src/gateway/", to: "workers/", why: "the gateway calls workers over the bus" },
  { from: "src/control-api/", to: "workers/", why: "the control API calls workers over the bus" },
  { from: "src/security/", to: "workers/", why: "the API notifies workers over the bus" },
  { from: "src/control-api/", to: "src/security/api/", why: "the two APIs are independent" },
  ...["nats", "redis", "postgres"].flatMap((engine) => [
    { from: "src/backing/embedded/", to: `src/backing/${engine}/`, why: "the two modes share only their interface" },
    { from: `src/backing/${engine}/`, to: "src/backing/embedded/", why: "the two modes share only their interface" },
  ]),
];

/** The files in src and workers that may import each npm package. Types of `postgres` may be imported anywhere. */
export const packageHomes: Record<string, string[]> = {
  "@sinclair/typebox": ["src/"],
  "openid-client": ["src/accounts/oidc/"],
  uqr: ["src/console/sign-in/second-factor-forms.ts"],
  pino: ["src/kernel/log.ts"],
  "prom-client": ["src/kernel/metrics.ts", "src/kernel/tallied-histogram.ts"],
  saxes: ["src/security/sboms/", "src/security/lockfiles/syntax.ts"],
  "smol-toml": ["src/security/lockfiles/syntax.ts"],
  "spdx-license-ids": ["src/security/sboms/"],
  "lru-cache": ["src/gateway/admission/", "src/gateway/prompts/", "src/control-api/authenticate.ts"],
  elysia: ["src/http/router.ts", "src/server/app.ts", "src/process/health.ts"],
  postgres: ["src/backing/embedded/", "src/backing/postgres/"],
  "@electric-sql/pglite": ["src/backing/embedded/"],
  "js-yaml": ["src/security/advisories/document.ts", "src/security/lockfiles/syntax.ts"],
  "ae-cvss-calculator": ["src/security/advisories/cvss.ts"],
  nats: ["src/backing/nats/"],
  ...Object.fromEntries(
    ["api", "exporter-metrics-otlp-http", "exporter-trace-otlp-http", "resources", "sdk-metrics", "sdk-trace"].map((name) => [
      `@opentelemetry/${name}`,
      ["src/process/telemetry/"],
    ]),
  ),
  redis: ["src/backing/redis/package-client.ts"],
  "@modelcontextprotocol/server": ["src/security/api/"],
  stripe: ["src/gateway/top-ups/stripe-client.ts"],
  nodemailer: ["src/accounts/mails/smtp.ts"],
  "@nats-io/jetstream": ["src/backing/nats/"],
};

/** The files that may use `Bun.`. All others run on any runtime with web standards and Node's modules. */
export const bunFiles = ["src/backing/redis/bun-client.ts", "src/process/leave-port.ts", "src/accounts/sessions/passwords.ts"];

/** @returns the index of a file's layer, or -1 */
export function layerOf(path: string): number {
  return layers.findIndex(({ holds }) => holds.some((held) => isHeld(path, held)));
}

function isHeld(path: string, held: string): boolean {
  if (held.endsWith("/*")) return path.slice(0, path.lastIndexOf("/")) === held.slice(0, -"/*".length);
  return path === held || (held.endsWith("/") && path.startsWith(held));
}
