/** Who may import whom: a place imports only itself and places before it. Adding a noun is one line here. */

export interface Place {
  name: string;
  /** Files, or folders with a slash at the end. The first place that holds a file is its place. */
  holds: string[];
}

const noun = (name: string): Place => ({ name, holds: [`src/${name}/`] });

/** The rooms of a wing, in their order. */
const wing = (name: string, rooms: string[]): Place[] => rooms.map((room) => noun(`${name}/${room}`));

export const places: Place[] = [
  noun("kernel"),
  { name: "constants", holds: ["src/limits/"] },
  { name: "process", holds: ["src/config.ts", "src/process/"] },
  noun("http"),
  noun("backing"),
  ...wing("accounts", ["audit", "workspaces", "quotas", "secrets", "keys"]),
  ...wing("connectors", ["catalog", "connections"]),
  ...wing("gateway", ["credit", "models", "providers", "generations", "prompts", "admission", "metering", "inference"]),
  ...wing("security", ["versions", "archives", "scans", "advisories", "sboms", "lockfiles", "operations", "mails", "tickets"]),
  ...wing("security", ["findings", "vulnerabilities", "products", "projects", "repositories", "scopes", "api"]),
  { name: "workers", holds: ["workers/"] },
  noun("control-api"),
  { name: "server", holds: ["src/"] },
];

/** Further imports that must not be, as beginnings of paths. */
export const strangers: { from: string; to: string; why: string }[] = [
  { from: "src/gateway/", to: "src/security/", why: "the products stand side by side" },
  { from: "src/security/", to: "src/gateway/", why: "the products stand side by side" },
  { from: "src/gateway/", to: "workers/", why: "the front asks over the bus" },
  { from: "src/control-api/", to: "workers/", why: "the control API asks over the bus" },
  { from: "src/security/", to: "workers/", why: "the front tells over the bus what waits" },
  { from: "src/control-api/", to: "src/security/api/", why: "each plane stands alone" },
  { from: "src/backing/embedded/", to: "src/backing/distributed/", why: "the two modes share their port alone" },
  { from: "src/backing/distributed/", to: "src/backing/embedded/", why: "the two modes share their port alone" },
];

/** Where each npm package may be imported in src and workers; types of `postgres` may be named anywhere. */
export const packageHomes: Record<string, string[]> = {
  "@sinclair/typebox": ["src/"],
  pino: ["src/kernel/log.ts"],
  "prom-client": ["src/kernel/metrics.ts"],
  saxes: ["src/security/sboms/", "src/security/lockfiles/parse/xml.ts"],
  "smol-toml": ["src/security/lockfiles/parse/toml.ts"],
  "spdx-license-ids": ["src/security/sboms/"],
  "lru-cache": ["src/gateway/admission/", "src/gateway/prompts/", "src/control-api/operator-gate.ts"],
  elysia: [
    "src/server/app.ts",
    "src/process/health.ts",
    "src/connectors/catalog/routes.ts",
    "src/gateway/inference/routes.ts",
    "src/security/api/routes.ts",
    "src/control-api/api.ts",
  ],
  postgres: ["src/backing/embedded/", "src/backing/distributed/"],
  "@electric-sql/pglite": ["src/backing/embedded/"],
  "js-yaml": ["src/security/advisories/reading/", "src/security/lockfiles/parse/yaml.ts"],
  "ae-cvss-calculator": ["src/security/advisories/cvss/"],
  nats: ["src/backing/distributed/"],
  "@modelcontextprotocol/server": ["src/security/api/"],
  nodemailer: ["src/security/mails/smtp.ts"],
  "@nats-io/jetstream": ["src/backing/distributed/"],
  "@nats-io/nats-core": ["src/backing/distributed/"],
};

/** Files that may use `Bun.`; all others run on any runtime with web standards and Node's modules. */
export const bunFiles = [
  "src/backing/distributed/counters/link.ts",
  "src/backing/distributed/nats-transport.ts",
  "src/process/leave-port.ts",
];

export function placeOf(path: string): number {
  return places.findIndex(({ holds }) => holds.some((held) => path === held || (held.endsWith("/") && path.startsWith(held))));
}
