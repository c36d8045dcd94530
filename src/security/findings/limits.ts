/** Limits of what is made of findings: VEX documents, exploits and alerts. Each value has its row in docs/internals/limits.md. */

// VEX
export const vexBytesMax = 2 * 1024 * 1024;
export const vexDepthMax = 32;
/** JSON values of a document. */
export const vexValuesMax = 200_000;
/** Of a document, and findings that it is about. */
export const vexStatementsMax = 5_000;
/** Decided in one transaction, so that the database serves others between two. */
export const vexTriagedMax = 25;
export const vexUnmatchedShownMax = 100;
/** Of an exported document. */
export const vexFindingsMax = 20_000;

// Alerts
/** New findings that an alert names; it counts all. */
export const freshFindingsToldMax = 20;

// Exploits
/** Rows of a batch. */
export const exploitRowsMax = 5_000;
/** A file of EPSS or CISA, unpacked. */
export const exploitFileBytesMax = 64 * 1024 * 1024;
export const exploitFileRowsMax = 1_000_000;
