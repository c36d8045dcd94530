/** Bounds and waits of the tools API, of what it knows, and of connectors; docs/limits.md says what each is for. */

// The specification's: tools API
export const ticketTextCharactersMax = 8_000;
export const ticketContextCharactersMax = 500;
export const toolNameCharactersMax = 120;
export const attachmentPathCharactersMax = 4_096;
export const attachmentBytesMax = 50 * 1024 * 1024;
export const feedbackRatingMax = 5;
export const listRowsMax = 200;

// Ours: tools API
export const toolsBodyBytesMax = 50 * 1024 * 1024;
export const toolsBodyMs = 60_000;
export const toolsDeadlineMs = 10_000;
/** How often the last use of a tools key is noted. */
export const toolsKeyUseMs = 60_000;
export const ticketRowsDefault = 25;
/** The same ticket of the same person within this time is one ticket: agents try again. */
export const ticketRepeatMs = 600_000;
/** A file that no ticket came for is removed after this time. */
export const attachmentUnusedMs = 3_600_000;
export const attachmentsUnusedMax = 10;
export const mailPollMs = 5_000;
/** Of a mail that its server refused for now; doubled from attempt to attempt. */
export const mailRetryMs = 60_000;
export const mailRetryMsMax = 21_600_000;
export const mailAttemptsMax = 10;
/** Between tries to reach a mail server that is away. */
export const mailServerRetryMs = 1_000;
export const mailServerRetryMsMax = 60_000;
/** Connecting to a mail server, its greeting, and each of its answers. */
export const mailServerMs = 30_000;

// Ours: versions of packages, connectors
export const versionCharactersMax = 1_024;
export const connectorsDeadlineMs = 5_000;
export const connectorDocumentsKeptMax = 24;

// Ours: advisories
/** One record, as text. */
export const advisoryBytesMax = 8 * 1024 * 1024;
export const advisoryYamlBytesMax = 2 * 1024 * 1024;
export const advisoryIdCharactersMax = 128;
/** Aliases, related ids, severities, credits. */
export const advisoryNamesMax = 1_000;
export const advisoryPackagesMax = 10_000;
export const advisoryRangesMax = 10_000;
export const advisoryEventsMax = 10_000;
export const advisoryVersionsMax = 100_000;
/** Of a package or an ecosystem. */
export const advisoryNameCharactersMax = 1_024;
export const advisoryReferencesMax = 10_000;
export const cvssVectorCharactersMax = 512;
export const folderDepthMax = 32;

// Ours: archives
export const archiveEntriesMax = 2_000_000;
export const archiveBytesMax = 64 * 1024 * 1024 * 1024;
/** Text becomes a tenth or a thirtieth; bombs a thousandth. */
export const archiveRatioMax = 200;
/** Below so many unpacked bytes the ratio does not matter. */
export const archiveRatioFromBytes = 16 * 1024 * 1024;
export const archiveNameCharactersMax = 1_024;
export const tarHeaderBytesMax = 64 * 1024;

// Ours: SBOMs
export const sbomBytesMax = 50 * 1024 * 1024;
/** Levels of JSON or XML: a component within a component takes two. */
export const sbomDepthMax = 256;
/** JSON values, XML elements or lines: above this number a document of the largest size would take long and much memory. */
export const sbomValuesMax = 5_000_000;
/** Fields of one JSON object, attributes of one XML element. */
export const sbomFieldsMax = 1_000;
export const sbomKeyBytesMax = 1_024;
export const sbomComponentsMax = 300_000;
export const sbomEdgesMax = 1_000_000;
/** Of one text that is kept, such as a name; texts that are not read may be longer. */
export const sbomTextCharactersMax = 65_536;
/** Where a document has more problems, the search ends. */
export const sbomProblemsMax = 100;
export const sbomProblemsShownMax = 20;

// Ours: connections
export const connectionsPerWorkspaceMax = 2_000;
/** Of a field of one line. */
export const credentialCharactersMax = 4_096;
/** Of a field of several lines, such as a key file. */
export const credentialTextCharactersMax = 32_768;
/** One call at a vendor, from the look-up of its name to the end of its answer. */
export const probeCallMs = 8_000;
/** A whole test, of at most a token and a call. */
export const connectionTestMs = 20_000;
export const probeAnswerBytesMax = 1024 * 1024;
