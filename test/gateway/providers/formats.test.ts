import { expect, test } from "bun:test";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { providerContract } from "../../contracts/provider.ts";

const spoken = Object.entries(wireFormats);

/** The sandbox speaks another's format: the contract holds each format once, under the name that was registered first. */
const once = spoken.filter(([, one], index) => spoken.findIndex(([, other]) => other.format === one.format) === index);

for (const [name, { format }] of once) providerContract(name, format);

test("every format that is spoken was held to the contract", () => {
  expect(new Set(once.map(([, one]) => one.format))).toEqual(new Set(spoken.map(([, one]) => one.format)));
});
