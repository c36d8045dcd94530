/** Own keys in the messages between gateways and workers: however many a workspace has, no message is longer than the bus takes. */
import { describe, expect, test } from "bun:test";
import type { OwnKey } from "../../../src/accounts/keys/record.ts";
import { busPayloadBytesMax } from "../../../src/backing/limits.ts";
import { decodeReplies, encodeRequest, encodeRequests, recordOnBus } from "../../../src/gateway/admission/message.ts";
import {
  admissionBatchMax,
  modelIdCharactersMax,
  ownKeyCharactersMax,
  ownKeysPerWorkspaceMax,
  routingCandidatesBytesMax,
} from "../../../src/gateway/limits.ts";
import { requirePlace } from "../../../src/gateway/own-keys/own-keys.ts";
import type { OwnKeyRow } from "../../../src/gateway/own-keys/store.ts";
import { newOwnKeyId, newWorkspaceId } from "../../../src/kernel/ids.ts";
import { AdmissionWorker } from "../../support/gateway/admission-worker.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { keyRecord } from "../../support/gateway/key-records.ts";
import { caller, requestFacts, ScriptedAdmission } from "../../support/gateway/scripted-admission.ts";

const nowMs = Date.UTC(2026, 10, 20, 12);

/** As many and as long keys as a workspace can have, each with a launch check of every model of a large catalog. */
function longestKeys(): OwnKey[] {
  const workspace = newWorkspaceId(nowMs);
  return Array.from({ length: ownKeysPerWorkspaceMax }, (_, index) =>
    ownKey({
      id: newOwnKeyId(nowMs),
      workspace,
      provider: `provider-${index}`.padEnd(64, "p"),
      sealed: "s".repeat(Math.ceil(((ownKeyCharactersMax + 37) * 4) / 3)),
      dataKey: "d".repeat(96),
      checks: Array.from({ length: 400 }, (_, check) => String(check).padStart(12, "0")),
    }),
  );
}

describe("a workspace with as many own keys as it can have", () => {
  test("gets no further one", () => {
    const rows = longestKeys().map((key) => ({ id: key.id, provider: key.provider, state: "disabled" }) as OwnKeyRow);
    expect(() => requirePlace(rows, "another")).toThrow("A workspace has at most 16 own provider keys: delete one");
  });

  test("sends a request to admission of at most 4 KiB, for the longest candidates and any id of a model", async () => {
    const admission = new ScriptedAdmission();
    const record = recordOnBus(keyRecord({ ownKeys: longestKeys() }));
    const candidates = [["m".repeat(routingCandidatesBytesMax - 13), "acme"]] as const;
    expect(JSON.stringify(candidates).length).toBe(routingCandidatesBytesMax);
    // JSON takes six bytes for each.
    const model = "\u0001".repeat(modelIdCharactersMax);
    await admission.client.admit({ ...caller, record }, { ...requestFacts, model, candidates, inputTokens: 2 ** 53 - 1 });
    const [sent] = admission.received("admit");
    if (sent === undefined) throw new Error("No request was sent");
    expect(sent.ownKeys).toHaveLength(ownKeysPerWorkspaceMax);
    expect(encodeRequest(sent).bytes).toBeWithin(2_048, 4_097);
  });

  test("does not make a worker's reply longer than the bus takes, and every key's record comes", async () => {
    const worker = new AdmissionWorker();
    const ownKeys = longestKeys();
    let waiting = Array.from({ length: admissionBatchMax }, (_, index) => worker.addKey(`key-${index}`, { ownKeys }));
    for (let messages = 0; waiting.length > 0; messages++) {
      expect(messages).toBeLessThan(admissionBatchMax);
      const requests = waiting.map((hash) => encodeRequest({ kind: "authenticate", hash }));
      const reply = await worker.service.reply(encodeRequests(requests));
      expect(reply.length).toBeLessThan(busPayloadBytesMax);
      const { answers } = decodeReplies(reply);
      const left = waiting.filter((_, index) => answers[index]?.kind !== "record");
      expect(left.length).toBeLessThan(waiting.length);
      waiting = left;
    }
  });
});
