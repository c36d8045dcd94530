/** Limits of the security platform and its tools API. Each value has its row in docs/limits.md. */

// Quotas: what a workspace stores
export const ticketsPerHourMax = 200;
/** Acknowledgements: tickets whose type is confirmed by mail. */
export const mailsPerHourMax = 60;
/** Files that no ticket has come for yet, together. */
export const attachmentUnusedBytesMax = 512 * 1024 * 1024;
/** Files of tickets and those that wait for theirs, together. */
export const attachmentStoredBytesMax = 10 * 1024 * 1024 * 1024;
export const productsPerWorkspaceMax = 10_000;
export const projectsPerWorkspaceMax = 10_000;
/** New documents; the same one once more is none. */
export const sbomsPerHourMax = 3_000;
export const sbomsPerWorkspaceMax = 100_000;
/** Characters of all rows of a workspace's documents; nearly as many bytes. */
export const sbomRowCharactersMax = 20 * 1024 * 1024 * 1024;

// Quotas: calls of a tools key
/** Calls that a document counts as which was read apart and refused, or not read in time. */
export const sbomFailedReadCalls = 60;
/** Calls that run at once in a process, and of one key; others wait in turn. */
export const toolsCallsRunningMax = 6;
export const toolsCallsRunningPerKeyMax = 3;
export const toolsCallsWaitingMax = 2_000;
export const toolsCallsWaitingPerKeyMax = 200;
export const toolsCallWaitMs = 10_000;
/** A turn of the event loop that takes longer makes calls wait for twice that time, at most for `loopRestMsMax`, one after the other. */
export const loopBusyMs = 2;
export const loopRestMsMax = 25;
/** The same of calls that take longer: uploads, imports, moves of projects; by workspace. */
export const longCallsRunningMax = 8;
export const longCallsRunningPerWorkspaceMax = 2;
export const longCallsWaitingMax = 200;
export const longCallsWaitingPerWorkspaceMax = 50;
export const longCallWaitMs = 60_000;

// Quotas: bodies in transfer
export const toolsBodiesBytesMax = 128 * 1024 * 1024;
export const toolsBodiesPerWorkspaceBytesMax = 48 * 1024 * 1024;
export const toolsBodiesPerKeyBytesMax = 24 * 1024 * 1024;
/** Documents and attachments on their way, which wait in files. */
export const documentsSpooledBytesMax = 2 * 1024 * 1024 * 1024;
export const documentsSpooledPerWorkspaceBytesMax = 512 * 1024 * 1024;
export const documentsSpooledPerKeyBytesMax = 256 * 1024 * 1024;

// Tools API, from the specification
export const ticketTextCharactersMax = 8_000;
export const ticketContextCharactersMax = 500;
export const toolNameCharactersMax = 120;
export const attachmentPathCharactersMax = 4_096;
export const attachmentBytesMax = 50 * 1024 * 1024;
export const feedbackRatingMax = 5;

// Tools API
/** Of a call, without the document that it may bring: more would hold the thread while it is parsed. */
export const toolsBodyBytesMax = 1024 * 1024;
export const toolsBodyMs = 60_000;
export const toolsDeadlineMs = 10_000;
export const ticketRowsDefault = 25;
export const projectRowsDefault = 20;
export const productRowsDefault = 50;
/** Components, vulnerabilities and unknown matches that a project shows of itself. */
export const projectItemsMax = 200;
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

// Versions of packages, connectors
export const versionCharactersMax = 1_024;
/** A longer package URL is kept as it is written, and matched with nothing. */
export const purlCharactersMax = 4_096;

// Advisories
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

// Archives
export const archiveEntriesMax = 2_000_000;
export const archiveBytesMax = 64 * 1024 * 1024 * 1024;
/** Text becomes a tenth or a thirtieth; bombs a thousandth. */
export const archiveRatioMax = 200;
/** Below so many unpacked bytes the ratio does not matter. */
export const archiveRatioFromBytes = 16 * 1024 * 1024;
export const archiveNameCharactersMax = 1_024;
export const tarHeaderBytesMax = 64 * 1024;

// SBOMs
export const sbomBytesMax = 50 * 1024 * 1024;
/** Of a call that brings one: as a text it grows by its escapes. The server takes no more. */
export const sbomCallBytesMax = 64 * 1024 * 1024;
/** Levels of JSON or XML: a component within a component takes two. */
export const sbomDepthMax = 256;
/** JSON values, XML elements or lines: above this number a document of the largest size would take long and much memory. */
export const sbomValuesMax = 5_000_000;
/** Fields of one JSON object, attributes of one XML element. */
export const sbomFieldsMax = 1_000;
export const sbomKeyBytesMax = 1_024;
export const sbomComponentsMax = 300_000;
/** Different versions of one package. */
export const sbomVersionsMax = 1_000;
export const sbomEdgesMax = 1_000_000;
/** Of one text that is kept, such as a name; texts that are not read may be longer. */
export const sbomTextCharactersMax = 65_536;
/** Where a document has more problems, the search ends. */
export const sbomProblemsMax = 100;
export const sbomProblemsShownMax = 20;
/** Components or dependencies that one statement stores. */
export const sbomRowsPerStatement = 1_000;
export const sbomFilenameCharactersMax = 1_024;
/** Storing 300,000 components and a million dependencies. */
export const sbomStoreMs = 120_000;
/** Moving a project to another product with hundreds of thousands of findings, in one statement and its lists. */
export const projectMoveMs = 60_000;
/** Larger documents are read in a process of their own: 32 KiB hold the thread for some 3 ms. */
export const sbomReadHereBytesMax = 32 * 1024;
/** Such processes at once, and never more than leave one core to chats; each needs up to a gigabyte for the largest documents. */
export const sbomReadersMax = 2;
export const sbomReadersPerWorkspaceMax = 1;
/** Documents that wait for one, of all and of one workspace, and for how long. */
export const sbomReadersWaitingMax = 32;
export const sbomReadersWaitingPerWorkspaceMax = 8;
export const sbomReaderWaitMs = 60_000;
/** From the start of such a process to its whole answer; 50 MiB of XML take 13 s. */
export const sbomReadMs = 40_000;
/** New packages that one statement takes. */
export const packagesPerStatement = 1_000;

// Scans, findings
/** How often a scanner looks for projects of which it was not told. */
export const scanPollMs = 5_000;
/** A scan that is not heard of for so long has died, and another takes its project up. */
export const scanLeaseMs = 60_000;
/** How long a scan waits for an import that has its project; shorter than the lease. */
export const scanWaitMs = 30_000;
/** Attempts at a scan, those included that ended with their process. */
export const scanAttemptsMax = 6;
/** Before the second attempt; doubled from attempt to attempt. */
export const scanRetryMs = 1_000;
/** After so long a scan lets others have their turn, and goes on when it is its own again. */
export const scanSliceMs = 2_000;
/** Of what a workspace had of scanners' time, a third is left after so long when it is compared with others. */
export const scanShareFadesMs = 30_000;
/** Workspaces that are looked through for a project that no other scanner holds. */
export const scanWorkspacesTried = 16;
/** How often it is looked for projects with more former documents than are kept. */
export const formerSbomsEveryMs = 60_000;
/** Between two steps of removing them. */
export const formerSbomsPauseMs = 50;
/** Rows of one former document that are removed in a step. */
export const formerSbomRowsMax = 1_000;
/** Former documents of one project, and projects, that are marked at a time. */
export const formerSbomsMarkedMax = 100;
/** Packages whose records are read at a time. */
export const scanPackagesMax = 100;
/** Components of those packages that are read at a time; not more than findings of one transaction, for an issue may affect all. */
export const scanComponentsMax = 250;
/** Places of a document that are searched at a time for packages that records speak of. */
export const scanPositionsMax = 20_000;
/** Findings that are written in one transaction, whatever they are about. */
export const scanFindingsMax = 250;
/** Findings that are looked through at a time for those that the scan has not seen. */
export const scanLookedThroughMax = 5_000;
/** Findings that a scan writes for one project; what it finds beyond them is counted and not written. */
export const projectFindingsMax = 250_000;
/** Likewise issues that versions cannot be held against; beyond them one for each version. */
export const projectUnknownsMax = 100_000;
/** A longer version is kept as its beginning and a digest. */
export const versionKeyBytesMax = 1_024;
/** Sources that evidence names beside the first. */
export const evidenceSourcesMax = 20;
/** Of a range in the record's own words. */
export const evidenceRangeCharactersMax = 200;
/** How long a decision about a finding waits for a scan or an import that has its project; shorter than the call may take. */
export const decisionWaitMs = 8_000;
/** What a person notes with a decision. */
export const findingNoteCharactersMax = 2_000;
/** Steps of a way from a project's root to a component. */
export const pathStepsMax = 64;
/** The components of a remediation as JSON. */
export const remediationComponentsBytesMax = 400_000;
export const findingEventRowsDefault = 25;

// Lists of findings and vulnerabilities
export const findingRowsDefault = 50;
export const vulnerabilityRowsDefault = 25;
/** Rows as JSON, so that the whole answer stays under 125,000 bytes, and of vulnerabilities under 96,000. */
export const findingPageBytesMax = 124_000;
export const vulnerabilityPageBytesMax = 95_000;
/** SBOMs that the row of a finding names. */
export const findingSbomsShownMax = 2;

// Lock files and repositories
export const lockFileBytesMax = 32 * 1024 * 1024;
/** Levels of JSON, YAML, TOML or XML. */
export const lockFileDepthMax = 128;
/** JSON values, XML elements. */
export const lockFileValuesMax = 2_000_000;
/** Of one object: lock files keep all their packages in one. */
export const lockFileFieldsMax = 200_000;
export const lockFilePackagesMax = 100_000;
/** Dependencies between its packages. */
export const lockFileNeedsMax = 500_000;
/** Of one package of PyPI, each for other platforms. */
export const lockFileVersionsMax = 1_000;
/** What is named and not pinned, for one file. */
export const lockFileSkippedMax = 1_000;
/** How deep npm may have nested packages, in folders. */
export const lockFileFoldersMax = 64;
/** Of a name or a version. */
export const lockFileTextCharactersMax = 1_024;

// The store of advisories
/** Of an issue, in lists. */
export const issueDescriptionCharactersMax = 160;
/** Records of one transaction; in embedded mode everything else waits for its end. */
export const advisoryBatchMax = 200;
/** Above so many bytes a batch takes no further record. */
export const advisoryBatchBytesMax = 128 * 1024;
/** From the start of such a process to its whole answer. */
export const advisoryReadMs = 30_000;
/** Of a record's summary and details, for the description of its issue. */
export const issueTextCharactersMax = 4_000;
/** Storing a batch, what follows for findings included. */
export const advisoryBatchMs = 45_000;
/** Of a batch that the database ended for a deadlock. */
export const advisoryBatchAttemptsMax = 3;
/** Of bad records, in the result of an import. */
export const advisoryFailuresShownMax = 1_000;

// What get_vulnerability lists; it counts the rest
export const vulnerabilityDescriptionCharactersMax = 16_000;
export const vulnerabilityReferencesMax = 100;
export const vulnerabilityAliasesMax = 100;
/** Records, the weightiest first. */
export const vulnerabilitySourcesMax = 20;
/** Packages. */
export const vulnerabilityAffectedMax = 50;
/** Of each package: ranges, fixing versions, and versions that are named one by one. */
export const vulnerabilityRangesMax = 20;
export const vulnerabilityOccurrencesMax = 100;

// Repositories
/** Lock files of one repository, and all of them together. */
export const repositoryFilesMax = 500;
export const repositoryBytesMax = 64 * 1024 * 1024;
/** Files that are told as not taken. */
export const repositorySkippedMax = 200;
/** Of a folder on the caller's machine. */
export const repositoryFoldersMax = 200_000;
export const repositoryArchiveEntriesMax = 500_000;
export const repositoryArchiveUnpackedBytesMax = 4 * 1024 * 1024 * 1024;
/** The whole import of a repository by its address: less than the minute that clients wait as a rule. */
export const repositoryImportMs = 50_000;
/** Of it, until the platform has given everything. */
export const repositoryFetchMs = 35_000;
/** One call of a platform's API. */
export const repositoryCallMs = 15_000;
/** The longest that a platform's rate limit is waited for, and how often a call is tried. */
export const repositoryWaitMsMax = 8_000;
export const repositoryTriesMax = 3;
export const repositoryRetryMs = 1_000;
export const repositoryRedirectsMax = 3;
/** GitHub cuts the list of a whole repository off at 7 MB or 100,000 entries. */
export const repositoryTreeBytesMax = 16 * 1024 * 1024;
/** Calls that list files: pages at GitLab; folders at GitHub, where the whole list was cut off. */
export const repositoryListingsMax = 400;
/** Of files, at the same time. */
export const repositoryFetchesAtOnce = 6;
export const repositoryAddressCharactersMax = 1_024;
/** Packages without a version that an answer names. */
export const repositoryNotPinnedShownMax = 20;
