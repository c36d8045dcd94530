/** Where the bench keeps its things; all but the sources may be deleted at any time. */
import { dirname, join } from "node:path";

export const root = dirname(import.meta.dir);
/** Servers' data, prepared data, logs of the last run. */
export const dataFolder = join(root, "bench/.data");
export const resultsFolder = join(root, "bench/results");
/** Where peers are installed. */
export const peersFolder = join(root, "bench/.peers");
export const docsFolder = join(root, "docs");
