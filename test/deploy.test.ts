/** The files in deploy/ name what the code has: variables, roles, secrets of each role, versions. Their own tools check the rest. */
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { environmentFor, knownVariables } from "../scripts/cluster/role-environment.ts";
import { fleetRoles } from "../src/backing/fleet-state.ts";
import { secretVariables } from "../src/process/environment/secret-variables.ts";
import { version } from "../src/process/service-state.ts";

const read = (path: string): string => readFileSync(new URL(`../deploy/${path}`, import.meta.url), "utf8");

/** Variables of the runtime and of the balancer. */
const otherVariables = new Set([
  "NODE_ENV",
  "HOME",
  "BUN_RUNTIME_TRANSPILER_CACHE_PATH",
  "NODE_EXTRA_CA_CERTS",
  "GATEWAY_1",
  "GATEWAY_2",
]);
const ofServers = /^(MIMALLOC_|POSTGRES_)/;

function unknownIn(names: Iterable<string>): string[] {
  return [...names].filter((name) => !knownVariables.has(name) && !otherVariables.has(name) && !ofServers.test(name));
}

/** The secrets that a role of a fleet cannot do without, and no other. */
const fleetSecrets = ["DATABASE_URL", "NATS_URL", "REDIS_URL", "SECRETS_KEY", "OPERATOR_TOKEN"];
const whole = Object.fromEntries(fleetSecrets.map((name) => [name, "scheme://user:password@host"]));

function secretsOf(role: string): string[] {
  const given = environmentFor(role, whole);
  return fleetSecrets.filter((name) => given[name]?.includes("password"));
}

function filesIn(names: Iterable<string>): string[] {
  const given = new Set(names);
  return fleetSecrets.filter((name) => given.has(`${name}_FILE`));
}

interface Service {
  command?: string[];
  environment?: Record<string, string>;
  secrets?: string[];
}

describe("compose files", () => {
  const compose = (name: string) =>
    Bun.YAML.parse(read(`compose/${name}`)) as { services: Record<string, Service>; secrets?: Record<string, unknown> };

  test("set variables that exist", () => {
    const names = ["one-process.yaml", "fleet.yaml"].flatMap((file) =>
      Object.values(compose(file).services).flatMap(({ environment = {} }) => Object.keys(environment)),
    );
    expect(names.length).toBeGreaterThan(20);
    expect(unknownIn(names)).toEqual([]);
  });

  test("start every role of a fleet with the secrets that it uses, and no other", () => {
    const { services, secrets = {} } = compose("fleet.yaml");
    const roleOf = (name: string, { command }: Service): string => command?.[2] ?? name.replace(/-\d$/, "");
    const members = Object.entries(services).map(([name, service]) => ({ role: roleOf(name, service), service }));
    const ours = members.filter(({ role }) => (fleetRoles as readonly string[]).includes(role));
    expect(new Set(ours.map(({ role }) => role))).toEqual(new Set(fleetRoles));
    for (const { role, service } of ours) {
      const { environment = {} } = service;
      expect([role, filesIn(Object.keys(environment))]).toEqual([role, secretsOf(role)]);
      const files = Object.values(environment).flatMap((value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? []);
      expect([role, new Set(service.secrets)]).toEqual([role, new Set(files)]);
    }
    expect(members.flatMap(({ service }) => service.secrets ?? []).filter((name) => !(name in secrets))).toEqual([]);
  });
});

describe("systemd units", () => {
  const units = readdirSync(new URL("../deploy/systemd", import.meta.url)).filter((name) => name.endsWith(".service"));
  const variablesOf = (text: string) =>
    [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = ""]) => line.match(/[A-Z_\d]+(?==)/g) ?? []);

  test("set variables that exist", () => {
    const texts = ["weir-.service.d/common.conf", ...units].map((name) => read(`systemd/${name}`));
    expect(unknownIn(texts.flatMap(variablesOf))).toEqual([]);
  });

  test("start every role of a fleet with the secrets that it uses, and no other", () => {
    const roles = units.map((name) => ({ role: /^weir-(\w+)@?\.service$/.exec(name)?.[1] ?? "", text: read(`systemd/${name}`) }));
    const ours = roles.filter(({ role }) => (fleetRoles as readonly string[]).includes(role));
    expect(ours.map(({ role }) => role).toSorted()).toEqual([...fleetRoles].toSorted());
    for (const { role, text } of ours) {
      const credentials = [...text.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, name]) => name ?? "");
      const used = [...text.matchAll(/%d\/([\w-]+)/g)].map(([, name]) => name ?? "");
      expect(new Set(used)).toEqual(new Set(credentials));
      // Without its password the address of Redis is no secret.
      const files = filesIn(variablesOf(text)).filter((name) => name !== "REDIS_URL" || used.includes("redis-url"));
      expect([role, files]).toEqual([role, secretsOf(role)]);
    }
  });
});

describe("the chart", () => {
  test("has the version of the service", () => {
    expect(Bun.YAML.parse(read("helm/weir/Chart.yaml"))).toMatchObject({ version, appVersion: version });
  });

  test("sets variables that exist", () => {
    const helpers = read("helm/weir/templates/_helpers.tpl");
    const set = [...helpers.matchAll(/^- name: ([A-Z_]+)$/gm)].map(([, name]) => name ?? "");
    const secrets = [...helpers.matchAll(/^([A-Z_]+)=[a-z-]+$/gm)].map(([, name]) => name ?? "");
    expect(unknownIn(set)).toEqual([]);
    expect(secrets.filter((name) => !(secretVariables as readonly string[]).includes(name))).toEqual([]);
    expect(set.length * secrets.length).toBeGreaterThan(100);
  });

  test("has every kind of worker", () => {
    const { workers } = Bun.YAML.parse(read("helm/weir/values.yaml")) as { workers: Record<string, unknown> };
    expect(Object.keys(workers).toSorted()).toEqual(fleetRoles.filter((role) => role !== "gateway").toSorted());
  });
});

test("the image sets variables that exist, and keeps first keys out of the output", () => {
  const [, block = ""] = /^ENV ((?:.*\\\n)*.*)$/m.exec(read("Dockerfile")) ?? [];
  const names = block.match(/[A-Z_]+(?==)/g) ?? [];
  expect(unknownIn(names)).toEqual([]);
  expect(block).toContain("FIRST_KEYS=file");
});
