/**
 * One small product (an app that needs `left`, which needs `right`, which holds `inner`) in every format that is read: a file of each is in
 * test/fixtures/sboms.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import type { SbomDocument } from "../../../src/security/sboms/document.ts";
import { SbomRefusal } from "../../../src/security/sboms/refusal.ts";
import bom from "../../fixtures/sboms/bom.json";
import spdx from "../../fixtures/sboms/spdx.json";
import spdx3 from "../../fixtures/sboms/spdx3.json";

export const cyclonedxVersions = ["1.2", "1.3", "1.4", "1.5", "1.6", "1.7"];

const textOf = (file: string): string => readFileSync(join(import.meta.dir, "../../fixtures/sboms", file), "utf8");

export const bomJson = (specVersion: string) => ({ ...structuredClone(bom), specVersion });

export const bomXml = (specVersion: string): string => textOf("bom.xml").trimEnd().replace("bom/1.6", `bom/${specVersion}`);

export const spdxJson = (version: "2.2" | "2.3") => ({ ...structuredClone(spdx), spdxVersion: `SPDX-${version}` });

export const spdxTagValue = (version: "2.2" | "2.3"): string => textOf("spdx.spdx").replace("SPDX-2.3", `SPDX-${version}`);

export const spdx3Json = () => structuredClone(spdx3);

export function bytesOf(document: unknown): Uint8Array {
  return new TextEncoder().encode(typeof document === "string" ? document : JSON.stringify(document));
}

export const read = (document: unknown): SbomDocument => readSbom(bytesOf(document));

/** What a document says, without how it was written. */
export function contentOf({ encoding: _, sha256: __, ...content }: SbomDocument) {
  return content;
}

/** @returns the refusal; fails where the document is read, or where anything else is thrown */
export function refusalOf(document: unknown): SbomRefusal {
  try {
    readSbom(document instanceof Uint8Array ? document : bytesOf(document));
  } catch (error) {
    if (error instanceof SbomRefusal) return error;
    throw error;
  }
  throw new Error("the document was read");
}

/** This many components of npm, each of which needs the next. */
export function largeBom(count: number) {
  const components = Array.from({ length: count }, (_, index) => ({
    type: "library",
    "bom-ref": `part-${index}`,
    name: `part\u2028${index}`,
    version: `${index}.0.0`,
    purl: `pkg:npm/part-${index}@${index}.0.0`,
    licenses: [{ license: { name: 'with "quotes", \\ and é' } }],
  }));
  const dependencies = components.slice(1).map(({ "bom-ref": ref }, index) => ({ ref: `part-${index}`, dependsOn: [ref] }));
  return { ...bomJson("1.6"), components, dependencies };
}
