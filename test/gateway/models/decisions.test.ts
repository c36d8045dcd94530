import { describe, expect, test } from "bun:test";
import { pino } from "pino";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import {
  decidedCatalog,
  sealServiceKey,
  ServiceKeys,
  type KeySource,
  type ProviderDecision,
} from "../../../src/gateway/models/decisions.ts";
import type { Catalog } from "../../../src/gateway/models/model.ts";
import { silentLog } from "../../../src/kernel/log.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { aModel } from "../../support/providers/models.ts";
import { secretsKeyNamed } from "../../support/secrets-key.ts";

const ring = (name: string) => new Keyring([new Secret(secretsKeyNamed(name))]);
const undecided = { sealed: null, termsChecked: null, subprocessorListed: null, disabled: false, refused: false };

function catalogOf(...ids: string[]): Catalog {
  const models = ids.map((id) =>
    aModel({ id: `${id}/model`, routes: [{ provider: id, upstream_model: "m" }] }, { name: id, terms_checked: false }),
  );
  const providers = models.flatMap(({ routes }) => routes.map(({ provider }) => [provider.id, provider] as const));
  return { version: "1", models: new Map(models.map((model) => [model.id, model])), providers: new Map(providers) };
}

describe("decided catalogs", () => {
  const catalog = catalogOf("a", "b");

  test("a decision changes its provider and its models' routes alone; what it leaves open stays as in the files", () => {
    const decision: ProviderDecision = { ...undecided, provider: "a", termsChecked: true, disabled: true };
    const decided = decidedCatalog(catalog, new Map([["a", decision]]));
    expect(decided.providers.get("a")).toMatchObject({ termsChecked: true, subprocessorListed: true, disabled: true });
    expect(decided.models.get("a/model")?.routes[0]?.provider).toBe(decided.providers.get("a") as never);
    expect(decided.models.get("a/model")?.routes[0]?.entry).toBe(catalog.models.get("a/model")?.routes[0]?.entry as never);
    expect(decided.models.get("b/model")).toBe(catalog.models.get("b/model") as never);
    expect(catalog.providers.get("a")?.termsChecked).toBe(false);
  });

  test("a decision about a provider that the catalog has dropped changes nothing", () => {
    const decided = decidedCatalog(catalog, new Map([["gone", { ...undecided, provider: "gone", disabled: true }]]));
    expect(decided).toBe(catalog);
  });
});

describe("the service's keys", () => {
  const provider = { id: "a", keyEnv: "A_KEY" };
  const sealedFor = (id: string, key: string) =>
    Buffer.from(sealServiceKey({ provider: id, key: new Secret(key) }, ring("one"))).toString("base64");
  const stored = { ...undecided, provider: "a", sealed: sealedFor("a", "stored") };

  function keysWith(source: Partial<KeySource>): ServiceKeys {
    const environmentKey = (name: string) => (name === "A_KEY" ? new Secret("environment's") : null);
    return new ServiceKeys({ environmentKey, keyring: ring("one"), log: silentLog, ...source });
  }

  test("the stored key stands over the environment's, and a replaced one counts at once", () => {
    const keys = keysWith({});
    expect(keys.of(provider, undefined)?.reveal()).toBe("environment's");
    expect(keys.of(provider, { ...undecided, provider: "a" })?.reveal()).toBe("environment's");
    expect(keys.of(provider, stored)?.reveal()).toBe("stored");
    expect(keys.of(provider, { ...stored, sealed: sealedFor("a", "replaced") })?.reveal()).toBe("replaced");
    expect(keys.of(provider, undefined)?.reveal()).toBe("environment's");
    expect(keys.of({ id: "a", keyEnv: null }, stored)).toBeNull();
  });

  test("a key that cannot be opened is none: one alarm, and the environment's does not take its place", () => {
    const logged: string[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(line) });
    for (const [keyring, sealed] of [
      [ring("other"), stored.sealed],
      [null, stored.sealed],
      [ring("one"), sealedFor("b", "moved")],
    ] as const) {
      const keys = keysWith({ keyring, log });
      expect(keys.of(provider, { ...stored, sealed })).toBeNull();
      expect(keys.has(provider, { ...stored, sealed })).toBe(false);
    }
    expect(logged.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(Array(3).fill("service_key.unreadable"));
    expect(logged.join()).not.toContain("moved");
  });

  test("a worker that decides admissions knows that a key exists, and cannot read it", () => {
    const keys = keysWith({ keyring: "unused" });
    expect(keys.has(provider, stored)).toBe(true);
    expect(keys.of(provider, stored)).toBeNull();
    expect(keysWith({ keyring: "unused", environmentKey: () => null }).has(provider, undefined)).toBe(false);
  });
});
