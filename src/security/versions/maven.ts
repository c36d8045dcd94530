/**
 * Maven: the version order of the POM reference, https://maven.apache.org/pom.html#version-order-specification, as Maven up to 3.8.6 and
 * OSV's tools read it: `.qualifier` < `-qualifier` < `-number` < `.number` at the same position.
 *
 * That rule alone is circular (`1.foo` < `1-alpha` < `1` < `1.foo`). Here a version's qualifiers first decide whether it comes before or
 * after the version that ends at that position, then the rule decides. So `2.9.0.RC1` comes before `2.9.0` and therefore before `2.9.0-1`,
 * as since Maven 3.8.7 and 3.9.0: https://issues.apache.org/jira/browse/MNG-7644. The other half of that change, `.qualifier` =
 * `-qualifier`, is not adopted: ranges of advisories are written and read with the older order.
 *
 * Three of the 14,752 pairs of real versions in osv-scalibr (semantic/testdata/maven-versions-generated.txt) are therefore ordered
 * differently: `2.9.0-1` and `2.9.0.RC1`, `1.1.0-01-glassfish` and `1.1.0.Beta1`, `1.0.0-gradle-rework-beta3` and `1.0.0.RC7-3`. Adopting
 * the whole newer edition would reorder 17.
 */
import { numberAtom, withoutLeadingZeros, wordAtom, type Atom, type ParsedVersion, type VersionOrder } from "./version-order.ts";

/** The empty qualifier is the release. Those before it precede the release; `sp` and all others follow it. */
const qualifiers = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
const abbreviations: Partial<Record<string, string>> = { a: "alpha", b: "beta", m: "milestone" };
const synonyms: Partial<Record<string, string>> = { cr: "rc", ga: "", final: "", release: "" };
const endRank = 50;
const dashedRank = 10;
const numberRanks = { "-": 20, ".": 21 };
export const mavenOrder: VersionOrder = { read: readMaven, padding: wordAtom(endRank) };

/** Placeholders that a build leaves for an unknown version, and characters that no repository can store. */
const noVersion = /^(?:latest|release|unspecified)?$|[\s\\/:"<>|?*[\](){},$]/;

function readMaven(text: string): ParsedVersion | null {
  const version = text.trim().toLowerCase();
  if (noVersion.test(version)) return null;
  const tokens = trimmed(tokensOf(version));
  const lastNumber = tokens.findIndex(({ numeric }) => !numeric);
  return {
    atoms: atomsOf(tokens),
    numbers: tokens.slice(0, lastNumber === -1 ? tokens.length : lastNumber).map(({ text: digits }) => digits),
    prerelease: tokens.some(({ numeric, text: word }) => !numeric && isBeforeRelease(word)),
  };
}

interface Token {
  separator: "." | "-";
  text: string;
  numeric: boolean;
}

/** Removes null tokens at the end and before each hyphen: `1.0.0-foo.0.0` is `1-foo`. The first token stays. */
function trimmed([first, ...rest]: Token[]): Token[] {
  const kept: Token[] = [];
  let trimming = true;
  for (const token of rest.toReversed()) {
    if (trimming && isNull(token)) continue;
    kept.push(token);
    trimming = token.separator === "-";
  }
  return first === undefined ? [] : [first, ...kept.toReversed()];
}

function isNull({ text, numeric }: Token): boolean {
  return numeric ? text === "0" : text === "";
}

/** Splits at dots, at hyphens, and at digit boundaries, which count as hyphens; an empty token is zero. */
function tokensOf(version: string): Token[] {
  const tokens: Token[] = [];
  let separator: Token["separator"] = ".";
  let empty = true;
  for (const [piece] of version.matchAll(/[.-]|\d+|[^\d.-]+/g)) {
    const isSeparator = piece === "." || piece === "-";
    if (!isSeparator) {
      const numeric = /\d/.test(piece);
      const before = tokens.at(-1);
      if (numeric && !empty && before !== undefined) before.text = abbreviations[before.text] ?? before.text;
      tokens.push({ separator: empty ? separator : "-", text: numeric ? withoutLeadingZeros(piece) : piece, numeric });
    } else {
      if (empty) tokens.push({ separator, text: "0", numeric: true });
      separator = piece;
    }
    empty = isSeparator;
  }
  if (empty) tokens.push({ separator, text: "0", numeric: true });
  return tokens.map((token) => ({ ...token, text: synonyms[token.text] ?? token.text }));
}

/** Starts at the end, since the token after a null in the middle decides whether that null is before or after the release. */
function atomsOf(tokens: Token[]): Atom[] {
  const atoms: Atom[] = [];
  let after = true;
  for (const [index, token] of [...tokens.entries()].toReversed()) {
    if (index === 0 || !isNull(token)) after = token.numeric || !isBeforeRelease(token.text);
    atoms.push(atomOf({ token, offset: after ? endRank + 1 : 0 }));
  }
  return atoms.toReversed();
}

function isBeforeRelease(word: string): boolean {
  const known = qualifiers.indexOf(word);
  return known !== -1 && known < qualifiers.indexOf("");
}

/** @param offset places the atom before or after the end of a shorter version */
function atomOf({ token, offset }: { token: Token; offset: number }): Atom {
  if (token.numeric) return numberAtom(offset + numberRanks[token.separator], token.text);
  const known = qualifiers.indexOf(token.text);
  const dashed = token.separator === "-" ? dashedRank : 0;
  return known === -1 ? wordAtom(offset + dashed + qualifiers.length, token.text) : wordAtom(offset + dashed + known);
}
