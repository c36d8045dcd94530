/** Which routes serve a workspace with own keys, and what is reserved for them. */
import { describe, expect, test } from "bun:test";
import { availabilityOf, type AvailabilityFacts } from "../../../src/gateway/models/availability.ts";
import { ownCheck, reservedCandidates, withNamedKeys } from "../../../src/gateway/models/candidate.ts";
import { maximumCost } from "../../../src/gateway/models/price.ts";
import { RouteCoolDown } from "../../../src/gateway/models/route-health.ts";
import { ManualClock } from "../../support/clock.ts";
import { admitRequest, AdmissionWorker, reservedAmount } from "../../support/gateway/admission-worker.ts";
import { hashOf } from "../../support/gateway/key-records.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { aModel } from "../../support/providers/models.ts";

const prices_per_1m_usd = { input: "1.00", output: "2.00" };
const model = aModel({ routes: ["a", "b", "c"].map((provider) => ({ provider, upstream_model: "m", prices_per_1m_usd })) });
const checks = new Map(model.routes.map(({ entry }) => [entry, { passed: true }]));
const facts: AvailabilityFacts = { providerKey: () => "key", checks, zeroDataRetention: false, earlyAccess: [] };
const own = ownKey({ provider: "b" });

function serving(changed: Partial<AvailabilityFacts>): string[] {
  return availabilityOf(model, { ...facts, ...changed }).routes.map(
    ({ provider, ownKey: key }) => provider.id + (key ? " own" : ""),
  );
}

describe("the routes of a workspace with own keys", () => {
  test("are those of the catalog, the same objects, where no own key is for one of them", () => {
    for (const ownKeys of [undefined, null, [], [ownKey({ provider: "other" })]]) {
      expect(availabilityOf(model, { ...facts, ownKeys, ownKeyFallback: false }).routes).toEqual(model.routes);
      expect(availabilityOf(model, { ...facts, ownKeys }).routes[0]).toBe(model.routes[0]);
    }
  });

  test("are those with own keys alone, or first where the workspace lets other providers serve on credit", () => {
    expect(serving({ ownKeys: [own] })).toEqual(["b own"]);
    expect(serving({ ownKeys: [own], ownKeyFallback: true })).toEqual(["b own", "a", "c"]);
    expect(serving({ ownKeys: [own, ownKey({ id: "own-2", provider: "a" })] })).toEqual(["a own", "b own"]);
  });

  test("need no key of the service and no launch check with it, but checked terms and a launch check with either key", () => {
    const unconfigured = { providerKey: () => null, checks: new Map() };
    const reason = (changed: Partial<AvailabilityFacts>, which = model) => availabilityOf(which, { ...facts, ...changed }).reason;
    expect(reason({ ...unconfigured, ownKeys: [own] })).toBe("launch_check_missing");
    const passed = { ...own, checks: model.routes.map((route) => ownCheck(route, own)) };
    expect(serving({ ...unconfigured, ownKeys: [passed] })).toEqual(["b own"]);
    expect(serving({ ...unconfigured, ownKeys: [{ ...passed, id: "own-of-another" }] })).toEqual([]);
    expect(serving({ providerKey: () => null, ownKeys: [own] })).toEqual(["b own"]);
    const failed = new Map(model.routes.map(({ entry }) => [entry, { passed: false }]));
    expect(reason({ checks: failed, ownKeys: [own] })).toBe("launch_check_failed");
    expect(serving({ checks: failed, ownKeys: [passed] })).toEqual(["b own"]);
    const unread = aModel({ routes: [{ provider: "b", upstream_model: "m", prices_per_1m_usd }] }, { terms_checked: false });
    expect(reason({ ownKeys: [passed] }, unread)).toBe("terms_not_checked");
  });

  test("follow the record's own statement about zero data retention, and not the catalog's about the service's account", () => {
    expect(serving({ zeroDataRetention: true, ownKeys: [own] })).toEqual([]);
    expect(serving({ zeroDataRetention: true, ownKeys: [{ ...own, zeroDataRetention: true }] })).toEqual(["b own"]);
    const kept = aModel({ routes: [{ provider: "b", upstream_model: "m", prices_per_1m_usd }] }, { zero_data_retention: true });
    const keptFacts = { ...facts, checks: new Map(kept.routes.map(({ entry }) => [entry, { passed: true }])) };
    expect(availabilityOf(kept, { ...keptFacts, zeroDataRetention: true, ownKeys: [own] }).reason).toBe(
      "zero_data_retention_required",
    );
  });

  test("have no own key for a provider that takes none", () => {
    const keyless = aModel({ routes: [{ provider: "b", upstream_model: "m", prices_per_1m_usd }] }, { key_env: null });
    const keylessFacts = { ...facts, checks: new Map(keyless.routes.map(({ entry }) => [entry, { passed: true }])) };
    expect(availabilityOf(keyless, { ...keylessFacts, ownKeys: [own] }).routes).toEqual(keyless.routes);
  });

  test("stay first while a route cools down after a charge above another workspace's reservation", () => {
    const coolDown = new RouteCoolDown(new ManualClock());
    const { routes } = availabilityOf(model, { ...facts, ownKeys: [own], ownKeyFallback: true });
    for (const route of routes) coolDown.begin(route);
    const candidates = routes.map((route) => ({ model, route }));
    expect(coolDown.preferred(candidates).map(({ route: { provider } }) => provider.id)).toEqual(["b", "a", "c"]);
  });
});

describe("the reservation", () => {
  const request = { model, inputTokens: 36, maxTokens: 50, tools: false };

  test("is zero for own keys, and otherwise that of the dearest route on credit", () => {
    const routes = (ownKeyFallback: boolean) => availabilityOf(model, { ...facts, ownKeys: [own], ownKeyFallback }).routes;
    expect(maximumCost({ ...request, routes: routes(false) })).toMatchObject({ amount: 0n, maxOutputTokens: 50 });
    expect(maximumCost({ ...request, routes: routes(true) }).amount).toBe(200_000n);
  });

  test("leaves out routes on credit that it does not cover", () => {
    const { routes } = availabilityOf(model, { ...facts, ownKeys: [own], ownKeyFallback: true });
    const candidates = routes.map((route) => ({ model, route }));
    const covered = (amount: bigint) =>
      reservedCandidates(candidates, { ...request, amount }).map(({ route: { provider } }) => provider.id);
    expect(covered(0n)).toEqual(["b"]);
    expect(covered(199_999n)).toEqual(["b"]);
    expect(covered(200_000n)).toEqual(["b", "a", "c"]);
  });

  test("counts only those own keys that the gateway named, which calls with no other", () => {
    const record = { zeroDataRetention: false, ownKeys: [own], ownKeyFallback: false };
    expect(withNamedKeys(record, ["own-0", own.id]).ownKeys).toEqual([own]);
    expect(withNamedKeys(record, ["own-0"]).ownKeys).toEqual([]);
    expect(withNamedKeys(record, undefined).ownKeys).toEqual([]);
    expect(withNamedKeys({ ownKeys: null }, ["own-1"])).toEqual({ ownKeys: null });
  });

  test("is made by a worker for the service's key until the gateway knows the own key", async () => {
    const worker = new AdmissionWorker();
    const key = ownKey({ provider: worker.models.find("acme/one")?.routes[0]?.provider.id ?? "" });
    const hash = worker.addKey("keyed", { ownKeys: [key] });
    worker.models.usableRoutes = (found, { ownKeys }) => ({
      routes: found.routes.map((route) => (ownKeys?.length ? { ...route, ownKey: key } : route)),
      reason: null,
    });
    await worker.replies({ kind: "position", workspace: "ws-1", key: "key-keyed" });
    const replies = await worker.replies(admitRequest({ hash }), admitRequest({ hash, ownKeys: [key.id] }));
    expect(replies).toMatchObject([
      { kind: "admitted", amount: reservedAmount.toString() },
      { kind: "admitted", amount: "0" },
    ]);
  });

  test("is not held up by other workspaces whose own keys do not fit into one reply of a worker", async () => {
    const worker = new AdmissionWorker();
    const large = Array.from({ length: 16 }, (_, n) => ownKey({ id: `own-${n}`, sealed: "s".repeat(800) }));
    const hashes = Array.from({ length: 40 }, (_, n) => worker.addKey(`large${n}`, { ownKeys: large }));
    const asked = [...hashes, hashOf("key")].map((hash) => ({ kind: "authenticate" as const, hash }));
    const replies = await worker.replies(...asked);
    const kinds = replies.map((reply) => (reply.kind === "refused" ? reply.code : reply.kind));
    expect(kinds.at(-1)).toBe("record");
    expect(new Set(kinds)).toEqual(new Set(["record", "auth_unavailable"]));
    expect(JSON.stringify(replies).length).toBeLessThan(1024 * 1024);
    const [late] = await worker.replies({ kind: "authenticate", hash: hashes.at(-1) ?? "" });
    expect(late).toMatchObject({ kind: "record", record: { ownKeys: large } });
  });
});
