import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { environmentFor, sharedVariables } from "../../scripts/role-environment.ts";
import { knownVariables } from "../../src/process/environment/known-variables.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { readClientConfig, readConfig, readMcpConfig } from "../../src/config.ts";

const roles = ["gateway", "admission", "metering", "prober", "mailer", "scanner", "background"];
const urls = {
  DATABASE_URL: "postgres://weir:database-password@db/weir?sslmode=verify-full",
  NATS_URL: "tls://weir:nats-password@bus:4222",
  REDIS_URL: "rediss://:redis-p@ssword@counters:6379",
};
const environment = {
  ...urls,
  PATH: "/bin",
  NODE_EXTRA_CA_CERTS: "/etc/authority.pem",
  SECRETS_KEY: "sealing-key",
  OPERATOR_TOKEN: "operator-token",
  SMTP_URL: "smtp://mail:smtp-password@mail.example:587",
  MAIL_FROM: "weir@example.com",
  ACME_API_KEY: "sk-acme",
  WEIR_TOKEN: "weir-token",
  npm_config__authToken: "npm-token",
  LOG_LEVEL: "",
};

/** The roles that get each secret in full. */
const holders: [string, string[]][] = [
  ["sealing-key", ["gateway", "prober", "background"]],
  ["operator-token", ["gateway"]],
  ["database-password", roles],
  ["nats-password", roles],
  ["redis-p@ssword", ["admission", "metering"]],
  ["smtp-password", ["mailer", "background"]],
  ["sk-acme", ["gateway", "prober", "background"]],
  ["weir-token", []],
];

describe("the environment of a fleet's processes", () => {
  test.each(holders)("%s is in the environment of %j and of no other role", (secret, those) => {
    const holding = roles.filter((role) => JSON.stringify(environmentFor(role, environment)).includes(secret));
    expect(holding).toEqual(those);
  });

  test("each role still gets what it needs", () => {
    for (const role of roles) {
      expect(environmentFor(role, environment)).toMatchObject({ PATH: "/bin", NODE_EXTRA_CA_CERTS: "/etc/authority.pem" });
    }
    expect(environmentFor("scanner", environment)["REDIS_URL"]).toBe("rediss://counters:6379");
    const nodes = { REDIS_URL: "rediss://:redis-p@ssword@one:6379,rediss://:redis-p@ssword@two:6379" };
    expect(environmentFor("scanner", nodes)["REDIS_URL"]).toBe("rediss://one:6379,rediss://two:6379");
    expect(environmentFor("gateway", environment)["SMTP_URL"]).toBe("smtp://mail.example:587");
  });

  test("admission learns which providers have a key, but not the key", () => {
    expect(environmentFor("admission", environment)["ACME_API_KEY"]).toBe("set");
    expect(environmentFor("metering", environment)).not.toHaveProperty("ACME_API_KEY");
  });
});

test("a role gets the file of a secret that it uses, and the address in it where it needs no password", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "redis-url");
  await writeFile(path, urls.REDIS_URL, { mode: 0o600 });
  const given = { REDIS_URL_FILE: path, SECRETS_KEY_FILE: "/run/secrets/key", ACME_API_KEY_FILE: "/run/secrets/acme" };
  expect(environmentFor("metering", given)).toEqual({ REDIS_URL_FILE: path });
  expect(environmentFor("scanner", given)).toEqual({ REDIS_URL: "rediss://counters:6379" });
  expect(environmentFor("admission", given)).toEqual({ REDIS_URL_FILE: path, ACME_API_KEY: "set" });
  const { REDIS_URL_FILE: _file, ...others } = given;
  expect(environmentFor("gateway", given)).toEqual({ ...others, REDIS_URL: "rediss://counters:6379" });
});

test("role-environment.ts and known-variables.ts list every variable that the configuration reads", () => {
  const readNames = new Set<string>();
  const noticing = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void readNames.add(String(name)) });
  readConfig(noticing);
  readClientConfig(noticing);
  readMcpConfig(noticing);
  expect([...sharedVariables].toSorted()).toEqual([...readNames].toSorted());
  expect([...knownVariables].toSorted()).toEqual([...readNames].toSorted());
});
