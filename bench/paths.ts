/** The folders of the bench. All except the sources may be deleted at any time. */
import { dirname, join } from "node:path";

export const root = dirname(import.meta.dir);
/** Data of the servers, prepared data, and logs of the last run. */
export const dataFolder = join(root, "bench/.data");
export const resultsFolder = join(root, "bench/results");
/** The folder where other gateways are installed. */
export const peersFolder = join(root, "bench/.peers");
export const docsFolder = join(root, "docs");
