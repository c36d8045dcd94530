import { expect, test } from "bun:test";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { providerContract } from "../../contracts/provider.ts";

const spoken = Object.entries(wireFormats);

/** The sandbox uses another provider's format: the contract tests each format once, under its first registered name. */
const once = spoken.filter(([, one], index) => spoken.findIndex(([, other]) => other.format === one.format) === index);

for (const [name, { format }] of once) providerContract(name, format);

test("every registered format was tested against the contract", () => {
  expect(new Set(once.map(([, one]) => one.format))).toEqual(new Set(spoken.map(([, one]) => one.format)));
});
