/** The data of the lists part, with realistic distributions of advisories and findings. The seed determines every number. */

export const seed = 20_261_120;

/** A workspace with a million findings. */
export interface Inventory {
  workspace: string;
  /** The name within the ids of its products. */
  name: string;
  issues: { first: number; count: number };
}

export const scored: Inventory = { workspace: "ws-lists", name: "lists", issues: { first: 1, count: 300_000 } };
/** Issues without a severity, like the records of Go and most of those of PyPI. */
export const unscored: Inventory = { workspace: "ws-unscored", name: "unscored", issues: { first: 300_001, count: 100_000 } };
export const inventories = [scored, unscored] as const;
/** The ranks of issues without a severity, each for a month of publication. A third of these issues has none. */
export const publicationRanks = { first: 241, count: 90 };
export const findings = 1_000_000;
export const packages = 40_000;
export const products = 20;
/** The number of findings of the largest documents. */
export const sbomFindingsMax = 20_000;
/** The number of findings that one statement of the preparation writes. */
export const statementFindings = 5_000;
/** The number of findings that a scan writes at once. Their ids have the same millisecond. */
export const scanFindings = 500;

/** An id of the tools API: 26 characters of a-z and 2-7 after the kind. */
export function listId(kind: "prd" | "prj" | "sbom", name: string, number: number): string {
  const digits = String(number).padStart(26 - name.length, "0");
  return `${kind}_${name}${digits.replace(/[0189]/g, (digit) => "wxyz"["0189".indexOf(digit)] ?? "")}`;
}

/** The frequencies of ranks: a quarter of all issues has no score, and few scores cover most of the rest. */
export const rankWeights: readonly [rank: number, weight: number][] = [
  [0, 250],
  [4098, 90],
  [4091, 22],
  [4096, 9],
  [4100, 14],
  [4093, 8],
  [3088, 68],
  [3075, 120],
  [3078, 40],
  [3081, 24],
  [3086, 10],
  [3072, 18],
  [3070, 12],
  [3083, 6],
  [2061, 72],
  [2065, 40],
  [2055, 36],
  [2053, 42],
  [2054, 30],
  [2059, 18],
  [2043, 16],
  [2048, 14],
  [2068, 8],
  [2040, 5],
  [1037, 12],
  [1033, 9],
  [1025, 4],
  [1031, 3],
];

export const ecosystemWeights: readonly [ecosystem: string, weight: number][] = [
  ["npm", 45],
  ["Maven", 20],
  ["PyPI", 12],
  ["Go", 10],
  ["crates.io", 5],
  ["NuGet", 4],
  ["RubyGems", 4],
];

export interface ProjectOfInventory {
  number: number;
  inventory: Inventory;
}

export interface PlannedProject extends ProjectOfInventory {
  findings: number;
}

/** The projects of both inventories: one with a long history, ten with the largest documents, and smaller ones, with a million findings in all. */
export function plannedProjects(): PlannedProject[] {
  const sizes = projectSizes();
  return inventories.flatMap((inventory, place) =>
    sizes.map((size, index) => ({ number: place * sizes.length + index, inventory, findings: size })),
  );
}

function projectSizes(): number[] {
  const sizes = [sbomFindingsMax * 5, ...Array.from({ length: 10 }, () => sbomFindingsMax)];
  for (let left = findings - sizes.reduce((sum, size) => sum + size, 0), n = 1; left > 0; n++) {
    const size = Math.min(left, Math.max(150, Math.round(sbomFindingsMax / n ** 0.6)));
    sizes.push(size);
    left -= size;
  }
  return sizes;
}
