/**
 * Documents that other tools made are read as those tools mean them: without a refusal, with the packages that the package managers
 * themselves list, and with the findings that OSV's rules give. `make.ts` makes them.
 */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/kernel/clock.ts";
import { EventLoopYielder } from "../../../src/process/event-loop-yielder.ts";
import { matchComponent, type PackageIssue } from "../../../src/security/findings/scan/match.ts";
import { matchStatements } from "../../../src/security/findings/vex/match-statements.ts";
import { readVex } from "../../../src/security/findings/vex/read-vex.ts";
import type { Candidate } from "../../../src/security/findings/vex/vex-store.ts";
import { lockFormatOf } from "../../../src/security/lockfiles/formats.ts";
import { readLockFiles } from "../../../src/security/lockfiles/read-lock-files.ts";
import { repositoryBom } from "../../../src/security/lockfiles/repository-bom.ts";
import type { SbomComponent, SbomDocument } from "../../../src/security/sboms/document.ts";
import { readSbom } from "../../../src/security/sboms/read-sbom.ts";
import { packageIdentity, packageNameOf, type PackageName } from "../../../src/security/versions/ecosystem.ts";
import { readAffected } from "../../../src/security/versions/osv-range.ts";
import type { Recipe } from "./recipe.ts";
import { recipes } from "./recipes.ts";
import { affected, records } from "./records.ts";
import { vexRecipes } from "./vex-recipes.ts";

const folder = join(import.meta.dir, "documents");

/** `make.ts` wrote these files. */
const listings = JSON.parse(readFileSync(join(import.meta.dir, "listings.json"), "utf8")) as Record<
  string,
  { packages: string[] }
>;
const made = JSON.parse(readFileSync(join(import.meta.dir, "documents.json"), "utf8")) as Record<string, { version: string }>;

const everyDocument = recipes.filter(({ name }) => Object.hasOwn(made, name));
const documents = everyDocument.filter(({ refusal }) => refusal === undefined);

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

test.each(everyDocument.filter(({ refusal }) => refusal !== undefined))("$name is refused with what it is", (recipe) => {
  expect(() => documentOf(recipe)).toThrow(recipe.refusal);
});

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

/** `osv-scanner.ts` wrote it. A text says why osv-scanner read nothing. */
const scanned = JSON.parse(readFileSync(join(import.meta.dir, "osv-scanner.json"), "utf8")) as Record<string, string[] | string>;

/** What osv-scanner finds elsewhere, and why Weir's findings stand. */
const differences: Record<string, { osvScanner: string[]; because: string }> = {
  "uv-requirement-files": {
    osvScanner: ["OWN-5 PyPI jinja2@2.11.2", "OWN-6 PyPI urllib3@1.21", "OWN-7 PyPI idna@0.0.0"],
    because: "it takes a lower bound for the version and no bound for 0.0.0, where the constraints file names the versions",
  },
  "powershell-freeze": { osvScanner: [], because: "it reads no UTF-16 and says nothing" },
  "pipenv-requirements": {
    osvScanner: [],
    because: "it takes a pin with a marker for a name, where PEP 508 has the marker after ;",
  },
};

const compared = documents.filter(({ name }) => Array.isArray(scanned[name]));

test.each(compared.filter(({ name }) => !Object.hasOwn(differences, name)))("$name has the findings of osv-scanner", (recipe) => {
  expect(findingsIn(documentOf(recipe))).toEqual([...(scanned[recipe.name] ?? [])]);
});

const different = Object.entries(differences).map(([name, difference]) => ({ name, ...difference }));
test.each(different)("osv-scanner finds something else in $name, as $because", ({ name, osvScanner }) => {
  expect(scanned[name]).toEqual(osvScanner);
});

test("osv-scanner reads most documents, and names of the others the format or the encoding", () => {
  const unread = Object.values(scanned).filter((found) => typeof found === "string");
  expect(unread.length).toBeLessThan(documents.length / 5);
  expect(
    unread.filter((reason) => !/could not determine extractor|No package sources found|encoding "ISO-8859-1"/.test(reason)),
  ).toEqual([]);
});

const open = { status: "open", falsePositive: false, note: null, justification: null } as const;

/** Findings that a scan of the project makes. */
function candidatesOf(recipe: Recipe): Candidate[] {
  return expectedOf(recipe).flatMap((one) => {
    const record = records.findIndex(({ id }) => id === affected[one]);
    const [, ecosystem, name, version] = /^(npm|Go) (.+)@(.+)$/.exec(one) ?? [];
    if (record < 0 || name === undefined || version === undefined) return [];
    const purl = ecosystem === "npm" ? `pkg:npm/${name}@${version}` : `pkg:golang/${name}@${version}`;
    const named = { ecosystem: ecosystem === "npm" ? ("npm" as const) : ("Go" as const), key: name };
    return [{ id: one, issue: BigInt(record), package: BigInt(record), ...named, version, purl, ...open }];
  });
}

test.each(vexRecipes.filter(({ name }) => Object.hasOwn(made, name)))("$name decides what its writer means", async (recipe) => {
  const yielder = new EventLoopYielder(systemClock);
  const statements = await readVex(filesOf(recipe.name)[0]?.bytes ?? new Uint8Array(), yielder);
  const issues = new Map(records.map(({ id }, index) => [id, [BigInt(index)]]));
  const sbom = { serial: null, rootRef: null, root: null, rootByName: null, rootVersion: null, refs: new Map<string, never>() };
  const { decisions, unmatched } = await matchStatements(statements, { candidates: candidatesOf(recipe), issues, sbom }, yielder);
  const decided = [...decisions].map(([{ id }, { statement }]) =>
    [id, statement.decided.status, statement.decided.justification].filter((word) => word !== null).join(" "),
  );
  expect([...decided, ...unmatched.map(({ reason }) => reason)].toSorted()).toEqual(recipe.decides.toSorted());
});

test("the corpus has every document that was made, and names no folder of a machine", () => {
  const names = Object.keys(made);
  expect(names.toSorted()).toEqual(readdirSync(folder).toSorted());
  const texts = names.flatMap((name) => filesOf(name).map(({ bytes }) => new TextDecoder().decode(bytes)));
  expect(new Set(texts).size).toBeGreaterThanOrEqual(120);
  texts.push(JSON.stringify([made, listings, scanned]));
  expect(texts.filter((text) => /\/(?:tmp|root|home)\/|mirror/.test(text))).toEqual([]);
});
