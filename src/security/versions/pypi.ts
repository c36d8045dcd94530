/**
 * PyPI: all of PEP 440, including epochs, local versions and all spellings (https://peps.python.org/pep-0440/#appendix-b).
 *
 * Any other version is a legacy version and precedes all of PEP 440. The order is that of `LegacyVersion` in packaging 20, PyPI's own tool,
 * as setuptools had documented it: https://packaging.pypa.io/en/20.9/version.html#packaging.version.LegacyVersion
 */
import { numberAtom, withoutLeadingZeros, wordAtom, type Atom, type ParsedVersion, type VersionOrder } from "./version-order.ts";

const epochRank = 1;
const releaseRanks = { end: 0, number: 1 };
/** A development release of the final version precedes its first alpha. */
const preRanks = { development: 0, alpha: 1, beta: 2, candidate: 3, final: 4 };
const postRanks = { none: 0, number: 1 };
const developmentRanks = { number: 0, none: 1 };
/** A version without a local part precedes any with one; numbers follow words. */
const localRanks = { end: 0, word: 1, number: 2 };

export const pypiOrder: VersionOrder = { read: readPypi, padding: wordAtom(localRanks.end) };

const pattern = new RegExp(
  [
    /^v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)/,
    /(?:[-_.]?(?<pre>alpha|beta|preview|pre|rc|a|b|c)[-_.]?(?<preCount>\d+)?)?/,
    /(?:-(?<bare>\d+)|[-_.]?(?<post>post|rev|r)[-_.]?(?<postCount>\d+)?)?/,
    /(?:[-_.]?(?<development>dev)[-_.]?(?<developmentCount>\d+)?)?/,
    /(?:\+(?<local>[\da-z]+(?:[-_.][\da-z]+)*))?$/,
  ]
    .map(({ source }) => source)
    .join(""),
);

const preSpellings: Partial<Record<string, number>> = {
  a: preRanks.alpha,
  alpha: preRanks.alpha,
  b: preRanks.beta,
  beta: preRanks.beta,
};

/** Precedes the epoch with which a PEP 440 version begins. */
const legacyRank = 0;
const ranks = { word: 1, number: 2 };
const spellings: Partial<Record<string, string>> = { pre: "c", preview: "c", rc: "c", "-": "final-", dev: "@" };
const final = "final";

type Groups = Partial<Record<string, string>>;

function readPypi(text: string): ParsedVersion | null {
  const version = text.trim().toLowerCase();
  const groups: Groups | undefined = pattern.exec(version)?.groups;
  if (groups === undefined) return readLegacy(version);
  const numbers = (groups["release"] ?? "").split(".").map(withoutLeadingZeros);
  const publicAtoms = [
    numberAtom(epochRank, groups["epoch"] ?? "0"),
    ...releaseAtoms(numbers),
    preAtom(groups),
    postAtom(groups),
    developmentAtom(groups),
  ];
  const local = localAtoms(groups["local"]);
  return {
    atoms: [...publicAtoms, ...local],
    numbers,
    prerelease: groups["pre"] !== undefined || groups["development"] !== undefined,
    ...(local.length > 0 && { publicAtoms }),
  };
}

/**
 * A text without a digit, or with characters of a range, a path or a placeholder, is not a version.
 * @param version in lower case, and invalid in PEP 440
 */
function readLegacy(version: string): ParsedVersion | null {
  if (!/^[\da-z.!+_:~-]+$/.test(version) || !/\d/.test(version)) return null;
  const parts = version.match(/\d+|[a-z]+|-|[!+_:~]+/g) ?? [];
  const atoms: Atom[] = [wordAtom(legacyRank)];
  for (const part of [...parts, final]) push(atoms, part);
  const numbers = parts.filter((part) => /\d/.test(part)).map(withoutLeadingZeros);
  return { atoms, numbers, prerelease: parts.some((part) => /^(?:a|alpha|b|beta|c|rc|pre|preview|dev)$/.test(part)) };
}

/** A word before the final version removes dashes, and any word removes the zeros before it: `1.0-rc1` is `1c1`. */
function push(atoms: Atom[], part: string): void {
  if (/^\d/.test(part)) {
    atoms.push(numberAtom(ranks.number, part));
    return;
  }
  const word = spellings[part] ?? part;
  if (word < final) while (atoms.at(-1)?.text === "final-") atoms.pop();
  while (isZero(atoms.at(-1))) atoms.pop();
  atoms.push(wordAtom(ranks.word, word));
}

function isZero(atom: Atom | undefined): boolean {
  return atom?.numeric === true && atom.text === "0";
}

/** Trailing zeros are ignored: `1.0` is `1`. */
function releaseAtoms(numbers: string[]): Atom[] {
  const counting = numbers.slice(0, numbers.findLastIndex((digits) => digits !== "0") + 1);
  return [...counting.map((digits) => numberAtom(releaseRanks.number, digits)), wordAtom(releaseRanks.end)];
}

function preAtom({ pre, preCount, post, bare, development }: Groups): Atom {
  if (pre !== undefined) return numberAtom(preSpellings[pre] ?? preRanks.candidate, preCount ?? "0");
  const final = post !== undefined || bare !== undefined || development === undefined;
  return wordAtom(final ? preRanks.final : preRanks.development);
}

function postAtom({ post, bare, postCount }: Groups): Atom {
  if (post === undefined && bare === undefined) return wordAtom(postRanks.none);
  return numberAtom(postRanks.number, bare ?? postCount ?? "0");
}

function developmentAtom({ development, developmentCount }: Groups): Atom {
  if (development === undefined) return wordAtom(developmentRanks.none);
  return numberAtom(developmentRanks.number, developmentCount ?? "0");
}

function localAtoms(local: string | undefined): Atom[] {
  return (local?.split(/[-_.]/) ?? []).map((segment) =>
    /^\d+$/.test(segment) ? numberAtom(localRanks.number, segment) : wordAtom(localRanks.word, segment),
  );
}
