/**
 * The scripts of package.json that run on Bun.
 *
 * - `file`: the file that Bun runs, relative to the root.
 * - `packages`: "production" leaves development packages out, "all" needs them.
 * - `service`: the first signal makes it stop in order; other scripts die by a signal like any command.
 */
export const scripts = {
  start: { file: "src/main.ts", packages: "production", service: true, env: { NODE_ENV: "production" } },
  test: { file: "scripts/test.ts", packages: "all", service: true },
  ok: { file: "scripts/ok.ts", packages: "all", service: true },
  cluster: { file: "scripts/cluster.ts", packages: "production", service: true },
  weir: { file: "scripts/weir.ts", packages: "production", service: false },
  hostile: { file: "test/hostile/main.ts", packages: "all", service: true },
  frameworks: { file: "test/frameworks/main.ts", packages: "all", service: true },
  mcp: { file: "scripts/mcp.ts", packages: "production", service: false },
  bench: { file: "bench/main.ts", packages: "all", service: true },
  chaos: { file: "scripts/chaos.ts", packages: "all", service: true },
  screenshots: { file: "test/browser/screenshots/main.ts", packages: "all", service: true },
  simulate: { file: "scripts/simulate.ts", packages: "all", service: false },
  alerts: { file: "scripts/alerts.ts", packages: "production", service: false },
  "check-deploy": { file: "scripts/check-deploy.ts", packages: "all", service: false },
  mutations: { file: "scripts/mutations.ts", packages: "all", service: false },
};
