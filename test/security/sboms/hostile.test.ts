/**
 * "Entity bombs and oversized documents refused quickly": every excess ends at a limit, in time and memory proportional to the
 * bytes.
 */
import { describe, expect, test } from "bun:test";
import { parseSbomField } from "../../../src/security/sboms/sbom-field.ts";
import { sbomValuesMax } from "../../../src/security/limits.ts";
import { bomJson, bomXml, bytesOf, read, refusalOf, spdxTagValue } from "../../support/security/sbom-documents.ts";
import { threadMs } from "../../support/processes/thread-time.ts";

const mebibyte = 1024 * 1024;
const head = '{"bomFormat":"CycloneDX","specVersion":"1.6","components":';
const namespace = 'xmlns="http://cyclonedx.org/schema/bom/1.6"';
const filled = (byte: string, bytes = 50 * mebibyte) => new Uint8Array(bytes).fill(byte.charCodeAt(0));

/** Far above the time of a refusal (a tenth of a second for 50 MiB), far below that of the excess. */
const refusalMsMax = 3_000;

const excesses: [string, () => unknown, string, string][] = [
  ["more than 50 MiB", () => filled(" ", 50 * mebibyte + 1), "too_large", "larger than 50 MiB"],
  ["50 MiB of brackets", () => filled("["), "too_large", "deeper than 256 levels"],
  ["objects in objects", () => '{"a":'.repeat(mebibyte), "too_large", "deeper than 256 levels"],
  ["nested components", () => `${head}[${'{"components":['.repeat(200)}`, "too_large", "deeper than 256 levels"],
  ["millions of tiny values", () => `[${"0,".repeat(sbomValuesMax)}0]`, "too_large", "more than 5000000 JSON values"],
  ["millions of empty lists", () => `[${"[],".repeat(sbomValuesMax)}0]`, "too_large", "more than 5000000 JSON values"],
  [
    "an object of many fields",
    () => `{${Array.from({ length: 2_000 }, (_, index) => `"k${index}":0`).join()}}`,
    "too_large",
    "1000 fields",
  ],
  ["a key of a mebibyte", () => `{"${"k".repeat(mebibyte)}":0}`, "too_large", "key longer than 1024 bytes"],
  ["a key of escapes", () => `{"${"\\u0061".repeat(mebibyte)}":0}`, "too_large", "key longer than 1024 bytes"],
  [
    "a name of 20 MiB",
    () => `${head}[{"type":"library","name":"${"x".repeat(20 * mebibyte)}"}]}`,
    "invalid",
    "at most 65536 characters",
  ],
  ["50 MiB of blanks", () => filled("\n"), "empty", "is empty"],
  ["50 MiB of <", () => filled("<"), "malformed", "not well-formed"],
  ["elements in elements", () => "<a>".repeat(mebibyte), "too_large", "deeper than 256 levels"],
  [
    "elements in elements that nobody reads",
    () => `<bom ${namespace}>${'<x xmlns="y">'.repeat(1_000)}`,
    "too_large",
    "deeper than 256",
  ],
  [
    "an element of many attributes",
    () => `<bom ${Array.from({ length: 2_000 }, (_, index) => `a${index}=""`).join(" ")}/>`,
    "too_large",
    "1000 attributes",
  ],
  ["a comment without an end", () => `<!--${"y".repeat(20 * mebibyte)}`, "truncated", "upload the whole file"],
  ["a line without an end", () => `SPDXVersion: SPDX-2.3\n${"a".repeat(20 * mebibyte)}`, "malformed", "line 2"],
  ["millions of comments", () => `${"#\n".repeat(4 * mebibyte)}a`, "not_an_sbom", "text of an unknown kind"],
  ["millions of lines", () => `SPDXVersion: SPDX-2.3\n${"#\n".repeat(sbomValuesMax)}`, "too_large", "5000000 lines"],
  [
    "components beyond the bound",
    () => `${head}[${'{"type":"file","name":"a"},'.repeat(300_000)}{"type":"file","name":"a"}]}`,
    "too_large",
    "300001 components",
  ],
];

describe("is refused quickly", () => {
  test.each(excesses)("%s", (_, make, code, sentence) => {
    const made = make();
    const document = made instanceof Uint8Array ? made : bytesOf(made);
    const refuse = () => {
      const refusal = refusalOf(document);
      expect(refusal.message).toContain(sentence);
      expect(String(refusal.code)).toBe(code);
    };
    expect(threadMs(refuse, refusalMsMax)).toBeLessThan(refusalMsMax);
  });
});

test("a document of more than 1,000 versions of one package is refused by the name of the package", () => {
  const components = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ type: "library", name: "lodash", purl: `pkg:npm/lodash@1.0.${index}` }));
  const take = (count: number) =>
    parseSbomField({ bytes: bytesOf({ bomFormat: "CycloneDX", specVersion: "1.6", components: components(count) }), path: null })
      .sbom;
  expect(take(1_000)?.refused).toBeNull();
  expect(take(1_001)?.refused).toBe(
    'The document has more than 1000 versions of the package "lodash"; split it into several projects',
  );
});

describe("a DTD is refused before it is read", () => {
  const bomb = Array.from({ length: 9 }, (_, index) => `<!ENTITY e${index + 1} "${`&e${index};`.repeat(10)}">`).join("");
  const dtds: [string, string][] = [
    ["an entity bomb", `<!DOCTYPE bom [<!ENTITY e0 "x">${bomb}]><bom ${namespace}>&e9;</bom>`],
    ["an external entity", `<!DOCTYPE bom [<!ENTITY x SYSTEM "file:///etc/passwd">]><bom ${namespace}>&x;</bom>`],
    ["an external DTD", `<!DOCTYPE bom SYSTEM "http://127.0.0.1:1/x.dtd"><bom ${namespace}/>`],
    ["one after comments and instructions", `<?xml version="1.0"?><!-- a --><?x y?>\n<!DOCTYPE bom><bom ${namespace}/>`],
    ["one of 20 MiB", `<!DOCTYPE bom [${"<!ENTITY x 'y'>".repeat(1_400_000)}]><bom/>`],
  ];

  test.each(dtds)("%s", (_, document) => {
    const refuse = () => expect(refusalOf(document).message).toContain("has a DTD");
    expect(threadMs(refuse, refusalMsMax)).toBeLessThan(refusalMsMax);
  });

  test("and an entity that XML itself does not know is not well-formed", () => {
    expect(refusalOf(bomXml("1.6").replace("&lt;", "&nbsp;")).message).toContain("undefined entity");
  });

  test("the word in a comment or in text is no DTD", () => {
    const harmless = bomXml("1.6").replace("a comment before", "<!DOCTYPE").replace("<![CDATA[&>]]>", "<![CDATA[<!DOCTYPE]]>");
    expect(read(harmless).components).toHaveLength(3);
  });
});

describe("keys that two readers would read differently", () => {
  test("stand once: a second one is refused, however it is written, in small objects and in large ones", () => {
    expect(refusalOf('{"bomFormat":"CycloneDX","bomFormat":"x"}').message).toContain('the key "bomFormat" twice');
    expect(refusalOf('{"a":1,"\\u0061":2}').message).toContain('the key "a" twice');
    expect(refusalOf(`{${Array.from({ length: 100 }, (_, index) => `"k${index}":0`).join()},"k7":1}`).message).toContain(
      '"k7" twice',
    );
  });

  test("may occur in different objects, as text, and with keys of the same hash", () => {
    // Both have the same hash (FNV-1a, 32 bits).
    const document = { ...bomJson("1.3"), costarring: '"a":1,"a":2', liquid: { a: 1, b: { a: [{ a: 1 }, { a: 2 }] } } };
    expect(read(document).components).toHaveLength(3);
  });

  test("`__proto__` is refused", () => {
    expect(refusalOf('{"__proto__":{"bomFormat":"CycloneDX"}}').message).toContain('the key "__proto__"');
    expect(refusalOf('{"\\u005f_proto__":{}}').message).toContain('the key "__proto__"');
  });

  test("names that objects inherit are no fields of a document", () => {
    expect(refusalOf({ ...bomJson("1.6"), constructor: 1 }).message).toStartWith("constructor: is not a field");
    expect(refusalOf({ ...bomJson("1.6"), hasOwnProperty: 1, toString: 1 }).code).toBe("invalid");
    const component = { type: "toString", name: "x" };
    expect(refusalOf({ ...bomJson("1.6"), components: [component] }).message).toStartWith("components[0].type");
    expect(read(spdxTagValue("2.3").replace("DocumentComment", "constructor")).components).toHaveLength(2);
  });
});

test("a cycle of 50,000 components ends, with a way to each", () => {
  const refs = Array.from({ length: 50_000 }, (_, index) => `r${index}`);
  const components = refs.map((ref) => ({ type: "library", name: "x", "bom-ref": ref }));
  const dependencies = refs.map((ref, index) => ({ ref, dependsOn: [refs[(index + 1) % refs.length]] }));
  const document = read({ ...bomJson("1.6"), components, dependencies: [{ ref: "app", dependsOn: ["r0"] }, ...dependencies] });
  expect(Math.max(...document.components.map(({ distance }) => distance ?? 0))).toBe(50_000);
});
