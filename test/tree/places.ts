/** Who may import whom: a place imports only itself and places before it. Adding a noun is one line here. */

export interface Place {
  name: string;
  /** Files, or folders with a slash at the end. The first place that holds a file is its place. */
  holds: string[];
}

const noun = (name: string): Place => ({ name, holds: [`src/${name}/`] });

export const places: Place[] = [
  noun("kernel"),
  { name: "constants", holds: ["src/limits/"] },
  { name: "process", holds: ["src/config.ts", "src/process/"] },
  { name: "backing", holds: ["src/backing/"] },
  noun("archives"),
  noun("audit"),
  noun("workspaces"),
  noun("quotas"),
  noun("secrets"),
  noun("connectors"),
  noun("connections"),
  noun("keys"),
  noun("versions"),
  noun("scans"),
  noun("advisories"),
  noun("sboms"),
  noun("lockfiles"),
  noun("credit"),
  noun("models"),
  noun("providers"),
  noun("generations"),
  noun("prompts"),
  noun("admission"),
  noun("metering"),
  noun("operations"),
  noun("mails"),
  noun("tickets"),
  noun("findings"),
  noun("vulnerabilities"),
  noun("products"),
  noun("projects"),
  noun("repositories"),
  noun("scopes"),
  { name: "workers", holds: ["workers/"] },
  noun("inference"),
  noun("tools"),
  noun("console"),
  { name: "app", holds: ["src/"] },
];

/** Further imports that must not be, as beginnings of paths. */
export const strangers: { from: string; to: string; why: string }[] = [
  { from: "src/inference/", to: "workers/", why: "the front asks over the bus" },
  { from: "src/console/", to: "workers/", why: "the control API asks over the bus" },
  { from: "src/tools/", to: "workers/", why: "the front tells over the bus what waits" },
  { from: "src/console/", to: "src/tools/", why: "each plane stands alone" },
  { from: "src/backing/embedded/", to: "src/backing/distributed/", why: "the two modes share their port alone" },
  { from: "src/backing/distributed/", to: "src/backing/embedded/", why: "the two modes share their port alone" },
];

/** Where each npm package may be imported in src and workers; types of `postgres` may be named anywhere. */
export const packageHomes: Record<string, string[]> = {
  "@sinclair/typebox": ["src/"],
  pino: ["src/kernel/log.ts"],
  "prom-client": ["src/kernel/metrics.ts"],
  saxes: ["src/sboms/", "src/lockfiles/parse/xml.ts"],
  "smol-toml": ["src/lockfiles/parse/toml.ts"],
  "spdx-license-ids": ["src/sboms/"],
  "lru-cache": ["src/admission/", "src/prompts/", "src/console/operator-gate.ts"],
  elysia: [
    "src/app.ts",
    "src/health.ts",
    "src/connectors/routes.ts",
    "src/inference/routes.ts",
    "src/tools/routes.ts",
    "src/console/api.ts",
  ],
  postgres: ["src/backing/embedded/", "src/backing/distributed/"],
  "@electric-sql/pglite": ["src/backing/embedded/"],
  "js-yaml": ["src/advisories/reading/", "src/lockfiles/parse/yaml.ts"],
  "ae-cvss-calculator": ["src/advisories/cvss/"],
  nats: ["src/backing/distributed/"],
  "@modelcontextprotocol/server": ["src/tools/"],
  nodemailer: ["src/mails/smtp.ts"],
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
