/** What a document of the corpus is made with: its project, the tool's command, and the package manager's own list to compare it with. */
import type { projects } from "./projects.ts";

type ProjectName = keyof typeof projects;

export interface Recipe {
  /** Of the folder that keeps what it made. */
  name: string;
  project: ProjectName;
  /** Prints the tool's version. */
  version: string;
  /** Commands before the tool's own, such as an installation. */
  setup?: string;
  command: string;
  /** Paths in the project; `-` is what the command prints. */
  keep: readonly string[];
  /** The name of what the command prints. */
  as?: string;
  isUtf16?: true;
  /** The list of packages that it has, if not all of the project. */
  listing?: string;
  /** What it has beyond that list, and what of it it leaves out, as its tool means it. */
  more?: readonly string[];
  without?: readonly string[];
  /** Of a document that is no SBOM: what the refusal says. */
  refusal?: string;
}

export interface Listing {
  name: string;
  project: ProjectName;
  setup?: string;
  command: string;
  /** @returns `ecosystem name@version` of each package */
  packagesIn(printed: string): string[];
}
