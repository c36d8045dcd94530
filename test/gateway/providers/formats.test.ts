import { expect, test } from "bun:test";
import { wireFormats } from "../../../src/gateway/providers/registry.ts";
import { providerContract } from "../../contracts/provider.ts";

const spoken = Object.entries(wireFormats);

/** The sandbox speaks another provider's format, with fields of its own that it refuses: the contract tests each once, under its first name. */
const codecOf = ([, { format }]: (typeof spoken)[number]): unknown => format.streamDecoder;
const once = spoken.filter((one, index) => spoken.findIndex((other) => codecOf(other) === codecOf(one)) === index);

for (const [name, { format }] of once) providerContract(name, format);

test("every registered format was tested against the contract", () => {
  expect(new Set(once.map(codecOf))).toEqual(new Set(spoken.map(codecOf)));
});
