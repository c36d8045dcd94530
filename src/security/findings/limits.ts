/** The limits of findings: how long names and lists are, and how large a VEX document, a batch of exploits or an alert may be. */

// Lists and projects
/** Length of a component's name. */
export const nameShownCharactersMax = 1_024;
/** Licenses of a component. */
export const licensesShownMax = 20;
/** Findings that one statement counts for the figures of a project. */
export const findingsCountedPerPage = 10_000;

// Triage
/** Findings that one decision about several changes, with the other versions that follow. */
export const findingsFollowingMax = 1_000;

// VEX
/** A VEX document. */
export const vexBytesMax = 2 * 1024 * 1024;
/** Levels of a VEX document. */
export const vexDepthMax = 32;
/** JSON values of a VEX document. */
export const vexValuesMax = 120_000;
/** Statements of a document, and findings that they are about. */
export const vexStatementsMax = 5_000;
/** Findings that one transaction decides about, and other versions of a package that follow in it. */
export const vexTriagedMax = 100;
/** After a transaction the next one waits as long as it took, at most this long, so that the database serves others. */
export const vexRestMsMax = 500;
/** Statements about no finding that an import names. */
export const vexUnmatchedShownMax = 100;
/** Findings of an exported document. */
export const vexFindingsMax = 20_000;
/** Findings of which one statement reads the keys, and the rows: between two the database serves others. */
export const vexKeysPerPage = 2_000;
/** Findings that one statement of an export reads. */
export const vexRowsPerPage = 500;
/** Exports of all workspaces; a person and a workspace have one. */
export const vexExportsAtOnceMax = 2;
/** Exports that wait, of which a person has one, and for how long. */
export const vexExportsWaitingMax = 32;
/** How long they wait. */
export const vexExportWaitMs = 30_000;
/** How long an export may take, with its wait. */
export const vexExportMs = 60_000;

// Alerts
/** New findings that an alert names; it counts all. */
export const freshFindingsNamedMax = 20;

// Exploits
/** Rows of a batch. */
export const exploitRowsMax = 5_000;
/** A file of EPSS or CISA, unpacked. */
export const exploitFileBytesMax = 64 * 1024 * 1024;
/** Its rows. */
export const exploitFileRowsMax = 1_000_000;
