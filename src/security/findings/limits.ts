/** The limits of findings: how long names and lists are, and how large a VEX document, a batch of exploits or an alert may be. */

// Lists and projects
/** Length of a component's name. */
export const nameShownCharactersMax = 1_024;
/** Licenses of a component. */
export const licensesShownMax = 20;
/** Findings that one statement counts for a project's figures. */
export const findingsCountedPerPage = 10_000;

/** Findings that are grouped by package or vulnerability, the most severe ones. */
export const findingsGroupedMax = 5_000;

// Triage
/** Findings that one bulk decision changes, including other versions. */
export const findingsFollowingMax = 1_000;

/** Projects, and decisions of one project, whose accepted risk one round ends; the next round continues. */
export const acceptancesEndedMax = 100;

// VEX
export const vexBytesMax = 2 * 1024 * 1024;
export const vexDepthMax = 32;
/** JSON values of a VEX document. */
export const vexValuesMax = 120_000;
/** Statements of a document, and findings that they are about. */
export const vexStatementsMax = 5_000;
/** Other ids of a vulnerability in a document. */
export const vexAliasesMax = 100;
/** Products of a CSAF document, and how often one vulnerability names them. */
export const vexProductsMax = 10_000;
/** Comparisons of versions with the rules of statements. */
export const vexComparisonsMax = 500_000;
/** Other ids of a vulnerability that an export names. */
export const vexAliasesShownMax = 20;
/** Findings that one transaction decides, including other versions of a package. */
export const vexTriagedMax = 100;
/** After a transaction, the next one waits as long as the last took, up to this, so that the database can serve others. */
export const vexRestMsMax = 500;
/** Unmatched statements that an import names. */
export const vexUnmatchedShownMax = 100;
/** Findings of an exported document. */
export const vexFindingsMax = 20_000;
/** Findings whose keys one statement reads; the database serves others between two statements. */
export const vexKeysPerPage = 2_000;
/** Findings whose rows one statement reads for an export. */
export const vexRowsPerPage = 500;
/** Concurrent exports in a process; each person and each workspace has one at most. */
export const vexExportsAtOnceMax = 2;
/** Waiting exports; each person has one at most. */
export const vexExportsWaitingMax = 32;
/** How long an export waits. */
export const vexExportWaitMs = 30_000;
/** How long an export may take, including its wait. */
export const vexExportMs = 60_000;

// Alerts
/** New findings, or findings whose accepted risk has ended, that an alert names; it counts all. */
export const findingsNamedMax = 20;
/** A line of its mail: names come from untrusted documents and may be long. */
export const alertLineCharactersMax = 300;

// Exploits
/** Rows in a batch. */
export const exploitRowsMax = 5_000;
/** A file of EPSS or CISA, unpacked. */
export const exploitFileBytesMax = 64 * 1024 * 1024;
/** Rows of such a file. */
export const exploitFileRowsMax = 1_000_000;
/** For the download of such a file. */
export const exploitDownloadMs = 120_000;
/** Redirects that a download follows. */
export const exploitRedirectsMax = 3;
