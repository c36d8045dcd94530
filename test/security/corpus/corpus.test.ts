/**
 * Documents that other tools made are read as those tools mean them: without a refusal, with the packages that the package managers
 * themselves list, and with the findings that OSV's rules give. `make.ts` makes them.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { matchComponent, type PackageIssue } from "../../../src/security/findings/scan/match.ts";
import { lockFormatOf } from "../../../src/security/lockfiles/formats.ts";
import { readLockFiles } from "../../../src/security/lockfiles/read-lock-files.ts";
import { repositoryBom } from "../../../src/security/lockfiles/repository-bom.ts";
import type { SbomComponent, SbomDocument } from "../../../src/security/sboms/document.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import { type Ecosystem, packageIdentity, packageNameOf, type PackageName } from "../../../src/security/versions/ecosystem.ts";
import { readAffected, type OsvAffected } from "../../../src/security/versions/osv-range.ts";
import { recipes, type Recipe } from "./recipes.ts";

const folder = join(import.meta.dir, "documents");

/** `make.ts` wrote these files. */
const listings = JSON.parse(readFileSync(join(import.meta.dir, "listings.json"), "utf8")) as Record<
  string,
  { packages: string[] }
>;
const made = JSON.parse(readFileSync(join(import.meta.dir, "documents.json"), "utf8")) as Record<string, { version: string }>;

const documents = recipes.filter(({ name }) => Object.hasOwn(made, name));

function filesOf(name: string): { path: string; bytes: Uint8Array }[] {
  const paths = readdirSync(join(folder, name), { recursive: true, encoding: "utf8", withFileTypes: true });
  return paths
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: path.slice(join(folder, name).length + 1), bytes: new Uint8Array(readFileSync(path)) }));
}

/** With Weir's own readers, as an import and an upload do. */
function documentOf({ name }: Recipe): SbomDocument {
  const files = filesOf(name);
  if (!files.some(({ path }) => lockFormatOf(path) !== null)) return readSbom(files[0]?.bytes ?? new Uint8Array());
  const { read, failed } = readLockFiles(files);
  expect(failed).toEqual([]);
  return repositoryBom({ name, files: read, notRead: [] }).document;
}

interface Installed extends PackageName {
  component: SbomComponent;
}

/** The projects' own packages are no dependencies. */
const own =
  /^(?:npm (?:@web\/\w+|web|shop)|PyPI shop|crates\.io (?:shop|one|two)|Go example\.com\/shop|Maven com\.example:shop)$/;

function packagesIn({ components }: SbomDocument): Installed[] {
  return components.flatMap((component) => {
    const shown = component.group === null ? component.name : `${component.group}/${component.name}`;
    const named = component.purl.parsed === null ? null : packageNameOf(component.purl.parsed, shown);
    return named === null || own.test(packageIdentity(named)) ? [] : { ...named, component };
  });
}

const textOf = ({ component, ...named }: Installed): string => `${packageIdentity(named)}@${component.version ?? ""}`;

function expectedOf({ project, listing = project, more = [], without = [] }: Recipe): string[] {
  const listed = listings[listing]?.packages ?? [];
  expect(listed).not.toEqual([]);
  return [...new Set([...listed.filter((one) => !without.includes(one)), ...more])].toSorted();
}

test.each(documents.map((recipe) => ({ ...recipe, title: `${recipe.name} of ${made[recipe.name]?.version}` })))(
  "$title has the packages that its project's package manager lists",
  (recipe) => {
    expect([...new Set(packagesIn(documentOf(recipe)).map(textOf))].toSorted()).toEqual(expectedOf(recipe));
  },
);

interface OwnRecord extends OsvAffected {
  id: string;
  package: { ecosystem: Ecosystem; name: string };
}

const before = (fixed: string, type = "ECOSYSTEM", introduced = "0") => ({ type, events: [{ introduced }, { fixed }] });
const upTo = (last: string) => ({ type: "SEMVER", events: [{ introduced: "0" }, { last_affected: last }] });

/** In the form of https://ossf.github.io/osv-schema/#affected-fields */
const records: OwnRecord[] = [
  {
    id: "OWN-1",
    package: { ecosystem: "npm", name: "minimist" },
    ranges: [before("0.2.1", "SEMVER"), before("1.2.6", "SEMVER", "1.0.0")],
  },
  { id: "OWN-2", package: { ecosystem: "npm", name: "ms" }, ranges: [upTo("2.0.0")] },
  { id: "OWN-3", package: { ecosystem: "npm", name: "left-pad" }, versions: ["1.3.0"] },
  { id: "OWN-4", package: { ecosystem: "npm", name: "debug" }, ranges: [before("2.6.8", "SEMVER")] },
  { id: "OWN-5", package: { ecosystem: "PyPI", name: "Jinja2" }, ranges: [before("2.11.3")] },
  {
    id: "OWN-6",
    package: { ecosystem: "PyPI", name: "urllib3" },
    ranges: [before("1.26.19"), before("2.2.2", "ECOSYSTEM", "2.0.0")],
  },
  { id: "OWN-7", package: { ecosystem: "PyPI", name: "idna" }, ranges: [upTo("2.6")] },
  { id: "OWN-8", package: { ecosystem: "crates.io", name: "smallvec" }, ranges: [before("0.6.14", "SEMVER", "0.6.3")] },
  { id: "OWN-9", package: { ecosystem: "crates.io", name: "itoa" }, ranges: [before("1.0.0", "SEMVER")] },
  { id: "OWN-10", package: { ecosystem: "Go", name: "golang.org/x/text" }, ranges: [before("0.3.8", "SEMVER")] },
  {
    id: "OWN-11",
    package: { ecosystem: "Maven", name: "org.apache.logging.log4j:log4j-core" },
    ranges: [before("2.15.0", "ECOSYSTEM", "2.0-beta9")],
  },
  {
    id: "OWN-12",
    package: { ecosystem: "Maven", name: "org.apache.commons:commons-text" },
    ranges: [before("1.10.0", "ECOSYSTEM", "1.5")],
  },
];

/** By hand, from the records and OSV's rules: https://ossf.github.io/osv-schema/#evaluation */
const affected: Record<string, string> = {
  "npm minimist@0.0.8": "OWN-1",
  "npm minimist@1.2.5": "OWN-1",
  "npm ms@2.0.0": "OWN-2",
  "npm left-pad@1.3.0": "OWN-3",
  "PyPI jinja2@2.11.2": "OWN-5",
  "PyPI urllib3@1.26.18": "OWN-6",
  "crates.io smallvec@0.6.13": "OWN-8",
  "crates.io itoa@0.4.8": "OWN-9",
  "Go golang.org/x/text@v0.3.7": "OWN-10",
  "Maven org.apache.logging.log4j:log4j-core@2.14.1": "OWN-11",
  "Maven org.apache.commons:commons-text@1.9": "OWN-12",
};

/** The issues of each package, as a scan reads them. */
const issues = new Map<string, PackageIssue[]>();
for (const [index, { id, package: named, ...entry }] of records.entries()) {
  const read = { source: id, entry, affected: readAffected({ ecosystem: named.ecosystem, entry }), customRanges: null };
  const known = issues.get(packageIdentity(named)) ?? [];
  issues.set(packageIdentity(named), [...known, { vulnerability: BigInt(index), rank: 0, entries: [read] }]);
}

function findingsIn(document: SbomDocument): string[] {
  const found = packagesIn(document).flatMap((installed) => {
    const { ecosystem, component } = installed;
    const compared = { package: 0n, ecosystem, name: component.name, version: component.version, purl: component.purl.written };
    const { matches, unknowns } = matchComponent(compared, issues.get(packageIdentity(installed)) ?? []);
    expect(unknowns).toEqual([]);
    return matches.map(({ vulnerability }) => `${records[Number(vulnerability)]?.id} ${textOf(installed)}`);
  });
  return [...new Set(found)].toSorted();
}

test.each(documents)("$name has the findings that OSV's rules give", (recipe) => {
  const expected = expectedOf(recipe).flatMap((one) => (affected[one] === undefined ? [] : `${affected[one]} ${one}`));
  expect(findingsIn(documentOf(recipe))).toEqual(expected.toSorted());
});

test("the corpus has every document that was made, and names no folder of a machine", () => {
  expect(documents.length).toBeGreaterThanOrEqual(55);
  const texts = documents.flatMap(({ name }) => filesOf(name).map(({ bytes }) => new TextDecoder().decode(bytes)));
  expect(texts.filter((text) => /\/(?:tmp|root|home)\/|mirror/.test(text))).toEqual([]);
});
