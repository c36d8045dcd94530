import { expect, test } from "bun:test";
import { SessionSlots } from "../../src/control-api/session-slots.ts";
import {
  controlBodyBytesMax,
  sessionCallsPerPersonMax,
  sessionFilesPerPersonMax,
  sessionFilesWaitingPerPersonMax,
} from "../../src/control-api/limits.ts";
import type { Principal } from "../../src/accounts/members/principal.ts";
import { ManualClock } from "../support/clock.ts";
import { failureOf } from "../support/failure-of.ts";

const personOf = (email: string): Principal => ({ kind: "person", email, carriedBy: "session", provedAt: new Date(0) });
const call = { bodyBytesMax: controlBodyBytesMax, completes: false };
const file = { bodyBytesMax: controlBodyBytesMax + 1, completes: false };

/** How many of so many calls run at once. */
async function running(slots: SessionSlots, principal: Principal, { times, of }: { times: number; of: typeof call }) {
  let count = 0;
  for (let index = 0; index < times; index++) {
    void slots.acquire(principal, of).then(
      () => count++,
      () => {},
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  return count;
}

test("a person's sessions run a few calls and fewer files at once, and leave the slots of others free", async () => {
  const slots = new SessionSlots(new ManualClock());
  const [one, other] = [personOf("one@acme"), personOf("other@acme")];
  expect(await running(slots, one, { times: 40, of: call })).toBe(sessionCallsPerPersonMax);
  expect(await running(slots, one, { times: 1 + sessionFilesWaitingPerPersonMax, of: file })).toBe(sessionFilesPerPersonMax);
  expect(await failureOf(slots.acquire(one, file))).toHaveProperty("status", 429);
  expect(await running(slots, other, { times: 1, of: file })).toBe(1);
  expect(await running(slots, other, { times: 1, of: call })).toBe(1);
});

test("the operator token and chats have no such bound, and a slot that is given back is free", async () => {
  const slots = new SessionSlots(new ManualClock());
  expect(await running(slots, { kind: "operator" }, { times: 100, of: file })).toBe(100);
  expect(await running(slots, personOf("one@acme"), { times: 100, of: { ...file, completes: true } })).toBe(100);
  const first = await slots.acquire(personOf("one@acme"), file);
  first[Symbol.dispose]();
  expect(await running(slots, personOf("one@acme"), { times: 1, of: file })).toBe(1);
});
