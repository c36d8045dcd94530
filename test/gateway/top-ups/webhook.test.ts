import { expect, test } from "bun:test";
import { signatureProblem } from "../../../src/gateway/top-ups/webhook.ts";
import { Secret } from "../../../src/kernel/secret.ts";

const bytes = new TextEncoder().encode('{"id":"evt_1"}');
const right = "c89214b5b5da833daed6f0b8c5bb6bd58cea9022bd80ccc78230f3942d632925";
const at = { secrets: [new Secret("whsec_test")], nowMs: 1_700_000_000_000 };

const problem = (header: string, around: Partial<typeof at> = {}) => signatureProblem({ header, bytes }, { ...at, ...around });

test("a signature of the endpoint's secret is accepted, beside others and with either of two secrets", () => {
  expect(problem(`t=1700000000,v1=${right}`)).toBeNull();
  expect(problem(`t=1700000000,v1=${"0".repeat(64)},v1=${right},v0=${"1".repeat(64)}`)).toBeNull();
  expect(problem(`t=1700000000,v1=${right}`, { secrets: [new Secret("whsec_next"), new Secret("whsec_test")] })).toBeNull();
});

test("a signature is refused that is wrong, of another time, of another scheme, or malformed", () => {
  for (const header of [
    `t=1700000001,v1=${right}`,
    `t=1700000000,v1=${"0".repeat(64)}`,
    `t=1700000000,v0=${right}`,
    `t=1700000000,v1=${right.slice(2)}`,
    `v1=${right}`,
    "t=1700000000",
    ",,==",
  ])
    expect(problem(header), header).toBe("signature");
  expect(signatureProblem({ header: `t=1700000000,v1=${right}`, bytes: bytes.slice(1) }, at)).toBe("signature");
});

test("a signature counts for five minutes before and after its time", () => {
  const header = `t=1700000000,v1=${right}`;
  for (const ms of [300_000, -300_000]) expect(problem(header, { nowMs: at.nowMs + ms })).toBeNull();
  for (const ms of [301_000, -301_000]) expect(problem(header, { nowMs: at.nowMs + ms })).toBe("time");
});
