import { describe, expect, test } from "bun:test";
import { pino } from "pino";
import { wrap } from "../../../src/accounts/secrets/data-key.ts";
import { Keyring } from "../../../src/accounts/secrets/keyring.ts";
import { OpenedKeys, sealOwnKey } from "../../../src/gateway/own-keys/sealed-key.ts";
import { SealKey } from "../../../src/kernel/seal-key.ts";
import { Secret } from "../../../src/kernel/secret.ts";
import { ManualClock } from "../../support/clock.ts";
import { ownKey } from "../../support/gateway/own-keys.ts";
import { alarmsRaised } from "../../support/gateway/stored-money.ts";

const base64 = (byte: number) => new Secret(Buffer.alloc(32, byte).toString("base64"));

function sealed(text: string, keyring: Keyring) {
  const dataKey = new SealKey(Buffer.alloc(32, 9));
  const owner = ownKey();
  return ownKey({
    sealed: Buffer.from(sealOwnKey(new Secret(text), owner, dataKey)).toString("base64"),
    dataKey: Buffer.from(wrap(owner.workspace, dataKey, keyring).wrapped).toString("base64"),
  });
}

function opener(keyring: Keyring) {
  const clock = new ManualClock();
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(line) });
  return { clock, lines, keys: new OpenedKeys({ keyring, clock, log }) };
}

describe("own keys in a gateway", () => {
  const keyring = new Keyring([base64(1)]);

  test("are in the clear for at most 30 s", () => {
    const { clock, keys } = opener(keyring);
    const [first, second] = [sealed("sk-first", keyring), sealed("sk-second", keyring)];
    const opened = keys.open(first);
    expect(opened.reveal()).toBe("sk-first");
    clock.advance(29_000);
    expect(keys.open(first)).toBe(opened);
    const later = keys.open(second);
    clock.advance(1_000);
    // The timer has dropped both: they are opened again.
    expect(clock.pending).toBe(0);
    expect(keys.open(first)).not.toBe(opened);
    expect(keys.open(second)).not.toBe(later);
    expect(keys.open(second).reveal()).toBe("sk-second");
  });

  test("are 503 model_unavailable with an alarm where SECRETS_KEY was lost, the data key is missing or the bytes belong to another", async () => {
    const { keys, lines } = opener(keyring);
    const good = sealed("sk-canary-of-a-workspace", keyring);
    const before = await alarmsRaised("own_key.unreadable");
    const lost = sealed("sk-canary-of-a-workspace", new Keyring([base64(2)]));
    const stolen = [{ id: "own-2" }, { workspace: "ws-2" }, { provider: "other" }].map((owner) => ({ ...good, ...owner }));
    for (const unreadable of [lost, { ...good, dataKey: null }, ...stolen]) {
      expect(() => keys.open(unreadable)).toThrow(
        expect.objectContaining({ code: "model_unavailable", status: 503, headers: { "x-should-retry": "false" } }),
      );
    }
    expect(await alarmsRaised("own_key.unreadable")).toBe(before + 5);
    expect(lines).toHaveLength(5);
    expect(lines.join("")).not.toContain("canary");
  });
});
