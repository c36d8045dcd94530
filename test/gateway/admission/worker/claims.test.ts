import { describe, expect, test } from "bun:test";
import { requestsPerMinuteDefault } from "../../../../src/accounts/limits.ts";
import { RequestBatcher } from "../../../../src/gateway/admission/batcher.ts";
import { recordOnBus, type AdmitGeneration } from "../../../../src/gateway/admission/message.ts";
import { decodeSettlements, type Settlement } from "../../../../src/gateway/journal/settlement.ts";
import { claimLooksPerRequest, idempotencyMs, recordLookupMs, spentClaimKnownMs } from "../../../../src/gateway/limits.ts";
import { settle } from "../../../../src/gateway/metering/settle.ts";
import { newGenerationId } from "../../../../src/kernel/ids.ts";
import { admitRequest, AdmissionWorker, forwardTo, reservedAmount } from "../../../support/gateway/admission-worker.ts";
import { hashOf, keyRecord } from "../../../support/gateway/key-records.ts";
import { settlement } from "../../../support/gateway/settlements.ts";
import { temporaryFolder } from "../../../support/temporary-folder.ts";
import { TestGateway } from "../../../support/test-gateway.ts";
import { until } from "../../../support/until.ts";

const claim = { id: "claim-1", body: "body-1" };

function keyed(worker: AdmissionWorker, fields: Partial<AdmitGeneration> = {}): AdmitGeneration {
  return admitRequest({ generation: newGenerationId(worker.clock.now()), claim, ...fields });
}

function endOf(
  worker: AdmissionWorker,
  { generation }: Pick<AdmitGeneration, "generation">,
  fields: Partial<typeof failed> = {},
): Settlement {
  const reserved = String(reservedAmount);
  return settlement({ workspace: "ws-1", key: "key-1", generation, admittedAt: worker.clock.now(), reserved, claim, ...fields });
}

const failed = {
  usage: { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 },
  status: 502,
  code: "upstream_error" as const,
};

describe("requests with an idempotency key", () => {
  test("a second one is told to wait while the first runs, also in the same message", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.outcomes(keyed(worker), keyed(worker), admitRequest())).toEqual([
      "admitted",
      "idempotency_in_progress",
      "admitted",
    ]);
    const [reply] = await worker.replies(keyed(worker));
    expect(reply).toEqual({ kind: "refused", code: "idempotency_in_progress", retryAfterMs: 1_000 });
    expect(await worker.outcomes(keyed(worker, { claim: { ...claim, id: "claim-2" } }))).toEqual(["admitted"]);
  });

  test("a second one learns which generation left something, for a day, from any worker", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    await settle([endOf(worker, first)], { store, counters });
    const spent = [{ kind: "refused", code: "idempotency_spent", generation: first.generation }] as const;
    expect(await worker.replies(keyed(worker))).toEqual([...spent]);
    expect(await worker.outcomes(keyed(worker, { claim: { ...claim, body: "body-2" } }))).toEqual(["idempotency_mismatch"]);
    worker.wipe();
    expect((await worker.message([keyed(worker)], worker.worker())).answers).toEqual([...spent]);
    worker.clock.advance(idempotencyMs - 1);
    expect(await worker.replies(keyed(worker))).toEqual([...spent]);
    worker.clock.advance(1);
    expect(await worker.outcomes(keyed(worker))).toEqual(["admitted"]);
  });

  test("a second one runs at once where the first left nothing, with any body", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    await settle([endOf(worker, first, failed)], { store, counters });
    const other = { ...claim, body: "body-2" };
    expect(await worker.outcomes(keyed(worker, { claim: other }), keyed(worker))).toEqual([
      "admitted",
      "idempotency_in_progress",
    ]);
  });

  test("a refused request takes no key", async () => {
    const worker = new AdmissionWorker();
    expect(await worker.outcomes(keyed(worker, { model: "acme/none" }))).toEqual(["model_not_found"]);
    expect(await worker.outcomes(keyed(worker))).toEqual(["admitted"]);
  });

  test("a first one that ends between the look at the ledger and the decision is found by a second look", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    let ends = 0;
    worker.counters = {
      ...forwardTo(() => counters),
      async admitMany(batch) {
        if (ends++ === 0) await settle([endOf(worker, first)], { store, counters });
        return counters.admitMany(batch);
      },
    };
    expect(await worker.replies(keyed(worker))).toEqual([
      { kind: "refused", code: "idempotency_spent", generation: first.generation },
    ]);
  });

  test("counters that are loaded while a request waits teach it of a first one that has ended meanwhile", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    worker.wipe();
    const { ledger: store, counters } = worker;
    const looked = store.claims.bind(store);
    let looks = 0;
    store.claims = async (...asked) => {
      const found = await looked(...asked);
      if (looks++ === 0) await settle([endOf(worker, first)], { store, counters });
      return found;
    };
    expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_spent"]);
    expect(looks).toBeGreaterThan(1);
  });

  test("without the ledger it is not decided, and others are", async () => {
    const worker = new AdmissionWorker();
    await worker.outcomes(admitRequest());
    worker.ledger.claims = () => Promise.reject(new Error("the database is down"));
    expect(await worker.outcomes(keyed(worker), admitRequest())).toEqual(["billing_unavailable", "admitted"]);
  });

  test("while the ledger hangs, requests without a key are answered at once", async () => {
    const worker = new AdmissionWorker();
    await worker.outcomes(admitRequest());
    worker.ledger.claims = () => new Promise(() => {});
    worker.bus.widthNow = 2;
    await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
    const { bus, clock } = worker;
    const batcher = new RequestBatcher({ bus, clock, onCountersTime: () => {}, recordIntents: () => {} });
    const sent = [keyed(worker), keyed(worker, { claim: { ...claim, id: "claim-2" } })].map((one) => batcher.send(one));
    expect((await batcher.send(admitRequest())).reply.kind).toBe("admitted");
    sent.push(batcher.send(keyed(worker, { claim: { ...claim, id: "claim-3" } })));
    expect((await batcher.send(admitRequest())).reply.kind).toBe("admitted");
    expect(bus.requests.length).toBe(3);
    await clock.advance(recordLookupMs);
    await until(() => bus.requests.length === 4);
    await clock.advance(recordLookupMs);
    const refused = { kind: "refused", code: "billing_unavailable" } as const;
    expect((await Promise.all(sent)).map(({ reply }) => reply)).toEqual([refused, refused, refused]);
  });

  test("a spent key that is sent again and again is looked up once a minute, and only unspent ones beside it", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    await settle([endOf(worker, first)], { store, counters });
    const looked = store.claims.bind(store);
    const asked: (readonly string[])[] = [];
    store.claims = (claims, since) => {
      asked.push(claims);
      return looked(claims, since);
    };
    for (let count = 0; count < 5; count++) expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_spent"]);
    expect(await worker.outcomes(keyed(worker, { claim: { ...claim, body: "body-2" } }))).toEqual(["idempotency_mismatch"]);
    expect(asked).toEqual([[claim.id]]);
    const other = { ...claim, id: "claim-2" };
    expect(await worker.outcomes(keyed(worker), keyed(worker, { claim: other }))).toEqual(["idempotency_spent", "admitted"]);
    expect(asked).toEqual([[claim.id], [other.id]]);
    await worker.clock.advance(spentClaimKnownMs);
    expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_spent"]);
    expect(asked.length).toBe(3);
  });

  test("an API key brings only so many new keys to the ledger in a minute, and others are looked up all the same", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    await settle([endOf(worker, first)], { store, counters });
    expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_spent"]);
    const asked: string[] = [];
    store.claims = async (claims) => {
      asked.push(...claims);
      return [];
    };
    let count = 0;
    const flood = (hash = hashOf("key")) =>
      worker.outcomes(...Array.from({ length: 100 }, () => keyed(worker, { hash, claim: { ...claim, id: `new-${count++}` } })));
    const bound = claimLooksPerRequest * (keyRecord().requestsPerMinute ?? requestsPerMinuteDefault);
    while (count < bound) await flood();
    const [over, other] = [await flood(), await flood(worker.addKey("other"))];
    expect(over).toEqual(Array.from({ length: 100 }, () => "rate_limited"));
    expect(other).not.toContain("rate_limited");
    // Two were asked for above.
    expect(asked.filter((id) => Number(id.slice("new-".length)) < count - 100)).toHaveLength(bound - 2);
    // What is known to be spent asks nothing.
    expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_spent"]);
    const [reply] = await worker.replies(keyed(worker, { claim: { ...claim, id: "one-more" } }));
    expect(reply).toMatchObject({ kind: "refused", code: "rate_limited", retryAfterMs: 60_000 });
    await worker.clock.advance(60_000);
    expect(await flood()).not.toContain("rate_limited");
  });

  test("a load that crosses the end of the first one leaves the key taken for a decision whose look was before", async () => {
    await using folder = await temporaryFolder();
    const worker = new AdmissionWorker();
    await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
    using gateway = new TestGateway({ bus: worker.bus, clock: worker.clock, folder: folder.path });
    const facts = { model: "acme/one", inputTokens: 36, maxTokens: 50, tools: false, claim };
    const caller = { hash: hashOf("key"), record: recordOnBus(keyRecord()) };
    const { reservation, fingerprint } = await gateway.admission.admit(caller, facts);
    await gateway.journal.begin(reservation, { fingerprint, model: "acme/one", streamed: false });
    const [lost, { ledger: store }] = [worker.counters, worker];
    worker.wipe();
    const read = store.account.bind(store);
    let reads = 0;
    store.account = async (...asked) => {
      // What it resolves is lost with the old counters.
      if (reads++ === 0) await settle([endOf(worker, reservation)], { store, counters: lost });
      return read(...asked);
    };
    const { counters } = worker;
    let decisions = 0;
    worker.counters = {
      ...forwardTo(() => counters),
      async admitMany(batch) {
        if (decisions++ === 0) await worker.message([admitRequest()], worker.worker());
        return counters.admitMany(batch);
      },
    };
    expect(await worker.replies(keyed(worker))).toEqual([
      { kind: "refused", code: "idempotency_spent", generation: reservation.generation },
    ]);
    expect(reads).toBe(1);
  });

  test("a worker that was just started counts the day by the counters' clock, not by its own, which may be ahead", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const { ledger: store, counters } = worker;
    await settle([endOf(worker, first)], { store, counters });
    const now = await counters.now();
    await worker.clock.advance(2 * idempotencyMs);
    let tells = async (): Promise<number> => now;
    worker.counters = { ...forwardTo(() => counters), now: () => tells() };
    const ask = async () => (await worker.message([keyed(worker)], worker.worker())).answers;
    expect(await ask()).toEqual([{ kind: "refused", code: "idempotency_spent", generation: first.generation }]);
    tells = () => Promise.reject(new Error("the counters are down"));
    expect(await ask()).toEqual([{ kind: "refused", code: "billing_unavailable" }]);
  });

  test("all looks of a message at the ledger have one deadline", async () => {
    const worker = new AdmissionWorker();
    const first = keyed(worker);
    await worker.outcomes(first);
    const looked = Promise.withResolvers<[]>();
    let looks = 0;
    worker.ledger.claims = () => (looks++ === 0 ? looked.promise : new Promise(() => {}));
    let isAnswered = false;
    const outcome = worker.outcomes(keyed(worker)).finally(() => (isAnswered = true));
    await until(() => looks === 1);
    await worker.clock.advance(recordLookupMs - 100);
    looked.resolve([]);
    await until(() => looks === 2);
    await worker.clock.advance(99);
    expect(isAnswered).toBe(false);
    await worker.clock.advance(1);
    expect(await outcome).toEqual(["billing_unavailable"]);
  });

  test("counters that were emptied know the keys of requests that run, also those of a gateway that was started again", async () => {
    await using folder = await temporaryFolder();
    const worker = new AdmissionWorker();
    await worker.bus.serve("admission", (payload) => worker.service.reply(payload));
    const record = keyRecord();
    const start = (): TestGateway => new TestGateway({ bus: worker.bus, clock: worker.clock, folder: folder.path });
    const before = start();
    const facts = { model: "acme/one", inputTokens: 36, maxTokens: 50, tools: false, claim };
    const { reservation, fingerprint } = await before.admission.admit(
      { hash: hashOf("key"), record: recordOnBus(record) },
      facts,
    );
    expect(reservation.claim).toEqual(claim);
    await before.journal.begin(reservation, { fingerprint, model: "acme/one", streamed: false });
    worker.wipe();
    expect(await worker.outcomes(keyed(worker))).toEqual(["idempotency_in_progress"]);
    before[Symbol.dispose]();
    using after = start();
    after.journal.recover();
    worker.wipe();
    expect(await worker.outcomes(keyed(worker), keyed(worker, { claim: { ...claim, id: "claim-2" } }))).toEqual([
      "idempotency_in_progress",
      "admitted",
    ]);
    worker.clock.advance(1_000);
    await until(() => worker.bus.stored.length > 0);
    const published = worker.bus.stored.flatMap(({ payload }) => decodeSettlements(payload).settlements);
    expect(published).toMatchObject([{ generation: reservation.generation, outcome: "unknown", claim }]);
  });
});
