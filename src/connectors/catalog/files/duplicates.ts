/** Finds connectors that are the same, or that readers could confuse. */
import type { Connector } from "./schema.ts";
import type { Finding } from "./rules.ts";

/** Words that distinguish a company from its products but not two systems from each other. */
const idle = new Set([
  "inc",
  "ltd",
  "llc",
  "gmbh",
  "corp",
  "corporation",
  "company",
  "the",
  "by",
  "for",
  "com",
  "io",
  "ai",
  "app",
]);

/** What a connector shares with earlier ones in the catalog. */
export function duplicatesIn(connectors: readonly Connector[]): { connector: Connector; finding: Finding }[] {
  const ids = new Map<string, Connector>();
  const names = new Map<string, Connector>();
  /** "Duo" of "Cisco Duo" may be the whole name of another system; but "Cloud" is not a name, since many products use it. */
  const products = new Map<string, Connector>();
  return connectors.flatMap((connector) => {
    const found: Finding[] = [];
    const clash = (field: string, other: Connector | undefined): void => {
      if (!other || other === connector) return;
      found.push([field, `is a name of ${other.slug} too: keep one of the two, the other name as its aka`]);
    };
    const sameId = ids.get(connector.id);
    if (sameId) found.push(["id", `"${connector.id}" is the id of ${sameId.slug} too: an id is never given twice, make another`]);
    const product = productOf(connector);
    for (const [field, name] of namesOf(connector)) clash(field, names.get(name) ?? products.get(name));
    clash("name", names.get(product));
    ids.set(connector.id, connector);
    products.set(product, connector);
    for (const [, name] of namesOf(connector)) names.set(name, connector);
    return found.map((finding) => ({ connector, finding }));
  });
}

function namesOf({ name, aka = [] }: Connector): [field: string, name: string][] {
  const others = aka.map((other, index): [string, string] => [`aka[${index}]`, wordsOf(other).join("")]);
  return [["name", wordsOf(name).join("")], ...others];
}

/** The name without its vendor's. */
function productOf({ name, vendor }: Connector): string {
  const vendorWords = wordsOf(vendor);
  return wordsOf(name)
    .filter((word) => !vendorWords.includes(word))
    .join("");
}

function wordsOf(name: string): string[] {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replaceAll("&", " and ");
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const telling = words.filter((word) => !idle.has(word));
  return telling.length > 0 ? telling : words;
}
