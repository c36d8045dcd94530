/** How a search compares and ranks, on a few connectors. */
import { describe, expect, test } from "bun:test";
import type { Connector } from "../../../src/connectors/catalog/files/schema.ts";
import { nothingKnown, searchTermsOf, type SearchKnowledge } from "../../../src/connectors/catalog/search-terms.ts";
import { search, type Found } from "../../../src/connectors/catalog/search.ts";
import { bareConnector } from "./sample.ts";

const known: SearchKnowledge = {
  aka: new Map([["brevo", ["Sendinblue"]]]),
  words: {
    ...nothingKnown.words,
    connectors: [{ connector: "amazon-web-services", words: ["aws"], source: "https://aws.amazon.com/what-is-aws/" }],
    categories: [{ category: "HRIS", words: ["payroll", "human resources"] }],
    popular: ["slack"],
  },
};

function searchIn(connectors: readonly Connector[], q: string): Found<Connector> {
  const sorted = connectors.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  return search(q, searchTermsOf(sorted, known));
}

const crm = { category: "CRM" };
const connectors = [
  bareConnector("Amazon Web Services", { vendor: "Amazon", ...crm }),
  bareConnector("AWS Security Hub", { vendor: "Amazon Web Services", ...crm }),
  bareConnector("BambooHR"),
  bareConnector("Brevo", crm),
  bareConnector("Cisco Duo", { vendor: "Cisco", ...crm }),
  bareConnector("Duolingo", crm),
  bareConnector("Endpoint Central", crm),
  bareConnector("Entra", { vendor: "Microsoft", ...crm }),
  bareConnector("Slab", crm),
  bareConnector("Slack", crm),
  bareConnector("Élan Vital", crm),
];
const namesFor = (q: string): string[] => searchIn(connectors, q).connectors.map(({ name }) => name);

test("without words the search finds everything, sorted by id", () => {
  expect(searchIn(connectors, " ").connectors.map(({ id }) => id)).toEqual(connectors.map(({ id }) => id).toSorted());
});

test.each([
  ["a synonym is above a name that begins so", "aws", ["Amazon Web Services", "AWS Security Hub"]],
  ["the beginning of a word is found, and its middle is not if anything begins so", "entra", ["Entra"]],
  ["the middle of a word is found if nothing begins so", "entral", ["Endpoint Central"]],
  ["a product's whole name is above a name that begins so", "duo", ["Cisco Duo", "Duolingo"]],
  ["a part of a name in mixed case is a word", "hr", ["BambooHR"]],
  ["blanks, case and accents do not matter", "ELANVITAL", ["Élan Vital"]],
  ["a former name finds its connector", "sendinblue", ["Brevo"]],
  ["every word must be found", "microsoft entra", ["Entra"]],
  ["words that no connector has together find nothing", "microsoft slack", []],
  ["a category's words find its connectors", "human resources", ["BambooHR"]],
  ["a later word of a category's phrase is not enough", "resources", []],
  ["idle words need not be found", "the aws, inc.", ["Amazon Web Services", "AWS Security Hub"]],
  ["punctuation alone finds nothing", "?!", []],
])("%s", (_, q, names) => {
  expect(namesFor(q)).toEqual(names);
});

describe("one typo in a word is forgiven", () => {
  test.each([
    ["slakc", "slack", "Slack"],
    ["slck", "slack", "Slack"],
    ["slaack", "slack", "Slack"],
    ["brexo", "brevo", "Brevo"],
    ["mircosoft entar", "microsoft entra", "Entra"],
  ])("%s is searched as %s", (typed, corrected, name) => {
    const { connectors: found, didYouMean } = searchIn(connectors, typed);
    expect([didYouMean, found[0]?.name]).toEqual([corrected, name]);
  });

  test("between two equally near words the one of the better known connector is taken", () => {
    expect(searchIn(connectors, "slaq").didYouMean).toBe("slab");
    expect(searchIn(connectors, "slak").didYouMean).toBe("slack");
  });

  test("two typos and words of three letters are not forgiven", () => {
    expect([searchIn(connectors, "slkac"), searchIn(connectors, "dou")]).toEqual([
      { connectors: [], didYouMean: null },
      { connectors: [], didYouMean: null },
    ]);
  });

  test("words that find something are not corrected", () => {
    expect(searchIn(connectors, "slab").didYouMean).toBeNull();
  });
});
