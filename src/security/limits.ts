/** The limits of the security platform and its tools API: every bound of the wing with its unit, so that none is in a verb. */

// Quotas: what a workspace stores
/** Tickets of any kind in an hour. */
export const ticketsPerHourMax = 200;
/** Acknowledgements: tickets whose type is confirmed by mail. */
export const mailsPerHourMax = 60;
/** All files of a workspace without a ticket. */
export const attachmentUnusedBytesMax = 512 * 1024 * 1024;
/** All files of a workspace, with and without a ticket. */
export const attachmentStoredBytesMax = 10 * 1024 * 1024 * 1024;
/** Products. */
export const productsPerWorkspaceMax = 10_000;
/** Projects. */
export const projectsPerWorkspaceMax = 10_000;
/** New SBOMs; an upload of a stored one does not count. */
export const sbomsPerHourMax = 3_000;
/** SBOMs, former ones included. */
export const sbomsPerWorkspaceMax = 100_000;
/** Characters of all rows of a workspace's SBOMs; nearly as many bytes. */
export const sbomRowCharactersMax = 20 * 1024 * 1024 * 1024;

// Quotas: calls of a tools key
/** Calls that an SBOM counts as when a subprocess refuses it or reads it too slowly. */
export const sbomFailedReadCalls = 60;
/** Concurrent calls of a process and of one key; others wait in a queue. */
export const toolsCallsRunningMax = 6;
/** The part of one key; its other calls wait, and keys take turns. */
export const toolsCallsRunningPerKeyMax = 3;
/** Calls that wait in a process. */
export const toolsCallsWaitingMax = 2_000;
/** Waiting calls of one key. */
export const toolsCallsWaitingPerKeyMax = 200;
/** How long a call waits. */
export const toolsCallWaitMs = 10_000;
/** After a longer turn of the event loop, each call waits for twice its time, at most for `loopRestMsMax`. */
export const loopBusyMs = 2;
/** The longest such wait between two calls. */
export const loopRestMsMax = 25;
/** The same for long calls (uploads, imports, moves of projects), by workspace. */
export const longCallsRunningMax = 8;
/** The part of one workspace; its other long calls wait, and workspaces take turns. */
export const longCallsRunningPerWorkspaceMax = 2;
/** Long calls that wait in a process. */
export const longCallsWaitingMax = 200;
/** Waiting long calls of one workspace. */
export const longCallsWaitingPerWorkspaceMax = 50;
/** How long one waits. */
export const longCallWaitMs = 60_000;

// Quotas: bodies in transfer
/** Bodies that a process holds in memory. */
export const toolsBodiesBytesMax = 128 * 1024 * 1024;
/** The part of one workspace. */
export const toolsBodiesPerWorkspaceBytesMax = 48 * 1024 * 1024;
/** The part of one key. */
export const toolsBodiesPerKeyBytesMax = 24 * 1024 * 1024;
/** SBOMs and attachments in transfer, which are spooled to files. */
export const documentsSpooledBytesMax = 2 * 1024 * 1024 * 1024;
/** The part of one workspace. */
export const documentsSpooledPerWorkspaceBytesMax = 512 * 1024 * 1024;
/** The part of one key. */
export const documentsSpooledPerKeyBytesMax = 256 * 1024 * 1024;

// Tools API, from the specification
/** The message of a ticket, and each long text of a bug, from the specification. */
export const ticketTextCharactersMax = 8_000;
/** `context`, from the specification. */
export const ticketContextCharactersMax = 500;
/** `tool_name`, from the specification. */
export const toolNameCharactersMax = 120;
/** `attachment_path`, from the specification. */
export const attachmentPathCharactersMax = 4_096;
/** An attached file, from the specification. */
export const attachmentBytesMax = 50 * 1024 * 1024;
/** The best rating, from the specification. */
export const feedbackRatingMax = 5;

// Tools API
/** Size of a call without its SBOM: parsing more would block the event loop. */
export const toolsBodyBytesMax = 1024 * 1024;
/** Time for a body to arrive. */
export const toolsBodyMs = 60_000;
/** Time for one call. */
export const toolsDeadlineMs = 10_000;
/** Tickets in a list by default. */
export const ticketRowsDefault = 25;
/** Projects in a list by default, from the specification. */
export const projectRowsDefault = 20;
/** Products, likewise. */
export const productRowsDefault = 50;
/** Components, vulnerabilities and unknown matches that get_project shows. */
export const projectItemsMax = 200;
/** The same ticket of the same person within this time is one ticket, since agents retry. */
export const ticketRepeatMs = 600_000;
/** A file without a ticket is removed after this time. */
export const attachmentUnusedMs = 3_600_000;
/** Files of one person that wait for their tickets. */
export const attachmentsUnusedMax = 10;

// Versions of packages, connectors
/** Characters of a package's version; a longer one is listed as unknown and compared with none, and an advisory with one is refused. */
export const versionCharactersMax = 1_024;
/** A longer package URL is stored unchanged, and matched with no advisory. */
export const purlCharactersMax = 4_096;

// Advisories
/** Size of one record as text. */
export const advisoryBytesMax = 8 * 1024 * 1024;
/** The same, in YAML. */
export const advisoryYamlBytesMax = 2 * 1024 * 1024;
/** An id, an alias, a related id. */
export const advisoryIdCharactersMax = 128;
/** Number of aliases, related ids, severities and credits, each. */
export const advisoryNamesMax = 1_000;
/** Packages of one record. */
export const advisoryPackagesMax = 10_000;
/** Ranges of one package in a record. */
export const advisoryRangesMax = 10_000;
/** Events of one range. */
export const advisoryEventsMax = 10_000;
/** Versions that a record lists of one package. */
export const advisoryVersionsMax = 100_000;
/** Name of a package or an ecosystem. */
export const advisoryNameCharactersMax = 1_024;
/** References of one record. */
export const advisoryReferencesMax = 10_000;
/** A CVSS vector. */
export const cvssVectorCharactersMax = 512;
/** A published archive of advisories, packed. */
export const advisoryArchiveBytesMax = 4 * 1024 * 1024 * 1024;
/** Its ETag. */
export const advisoryEtagCharactersMax = 256;
/** Folders within each other that are read. */
export const folderDepthMax = 32;

// Archives
/** Entries of one archive; beyond it the rest is refused. */
export const archiveEntriesMax = 2_000_000;
/** What an archive holds when it is decompressed. */
export const archiveBytesMax = 64 * 1024 * 1024 * 1024;
/** Unpacked to packed size: text has a ratio of 10 to 30, a decompression bomb of 1,000. */
export const archiveRatioMax = 200;
/** The ratio counts only above this unpacked size. */
export const archiveRatioFromBytes = 16 * 1024 * 1024;
/** The name of an entry. */
export const archiveNameCharactersMax = 1_024;
/** A header of a tar archive that describes the next one. */
export const tarHeaderBytesMax = 64 * 1024;

// SBOMs
/** A document. */
export const sbomBytesMax = 50 * 1024 * 1024;
/** Size of a call with an SBOM, whose escapes add bytes in a JSON string. The server accepts no larger body. */
export const sbomCallBytesMax = 64 * 1024 * 1024;
/** Levels of JSON or XML: a component within a component takes two. */
export const sbomDepthMax = 256;
/** JSON values, XML elements or lines; more would take too much time and memory. */
export const sbomValuesMax = 5_000_000;
/** Fields of one JSON object, attributes of one XML element. */
export const sbomFieldsMax = 1_000;
/** Bytes of one key of a JSON object. */
export const sbomKeyBytesMax = 1_024;
/** Components. */
export const sbomComponentsMax = 300_000;
/** Different versions of one package. */
export const sbomVersionsMax = 1_000;
/** Dependencies and other relationships. */
export const sbomEdgesMax = 1_000_000;
/** Length of a stored text, such as a name; texts that are not read may be longer. */
export const sbomTextCharactersMax = 65_536;
/** The validation ends after this number of problems. */
export const sbomProblemsMax = 100;
/** Problems that a refusal lists. */
export const sbomProblemsShownMax = 20;
/** Components or dependencies that one statement stores. */
export const sbomRowsPerStatement = 1_000;
/** `filename`. */
export const sbomFilenameCharactersMax = 1_024;
/** Deadline of an upload, which may store 300,000 components and a million dependencies. */
export const sbomStoreMs = 120_000;
/** Deadline of moving a project, which may update hundreds of thousands of findings and their lists. */
export const projectMoveMs = 60_000;
/** A subprocess reads larger SBOMs: 32 KiB block the event loop for some 3 ms. */
export const sbomReadHereBytesMax = 32 * 1024;
/** Concurrent subprocesses, of which one CPU core is always free; each needs up to a gigabyte for the largest SBOMs. */
export const sbomReadersMax = 2;
/** Subprocesses of one workspace. */
export const sbomReadersPerWorkspaceMax = 1;
/** SBOMs that wait for a subprocess, in total and of one workspace, and for how long. */
export const sbomReadersWaitingMax = 32;
/** Waiting SBOMs of one workspace; beyond it 429. */
export const sbomReadersWaitingPerWorkspaceMax = 8;
/** How long a document waits; then 503. */
export const sbomReaderWaitMs = 60_000;
/** From the start of a subprocess to its whole output; 50 MiB of XML take 13 s. */
export const sbomReadMs = 40_000;
/** Packages that one statement stores. */
export const packagesPerStatement = 1_000;

// Scans, findings
/** How often a scanner looks for projects without a notification. */
export const scanPollMs = 5_000;
/** After this time without a transaction of the scan, another scanner takes its project. */
export const scanLeaseMs = 60_000;
/** How long a scan waits for an import that locks its project; shorter than the lease. */
export const scanWaitMs = 30_000;
/** Attempts at a scan, including those that ended with their process. */
export const scanAttemptsMax = 6;
/** Pause before the second attempt; doubled with each attempt. */
export const scanRetryMs = 1_000;
/** The time slice of a scan: after it, other scans run before this one resumes. */
export const scanSliceMs = 2_000;
/** The counted scanner time of a workspace decays to a third within this time. */
export const scanShareFadesMs = 30_000;
/** Workspaces that a scanner searches for a project without a lease. */
export const scanWorkspacesTried = 16;
/** How often the worker looks for projects with more former SBOMs than are kept. */
export const formerSbomsEveryMs = 60_000;
/** Pause between two steps of the removal. */
export const formerSbomsPauseMs = 50;
/** Rows of one former SBOM that a step removes. */
export const formerSbomRowsMax = 1_000;
/** Projects in one search, and former SBOMs of one project that one transaction marks. */
export const formerSbomsMarkedMax = 100;
/** Packages whose records a scan reads at a time. */
export const scanPackagesMax = 100;
/** Components of these packages that a scan reads at a time; at most `scanFindingsMax`, since one issue may affect all. */
export const scanComponentsMax = 250;
/** Positions of an SBOM that one statement searches for packages with advisories. */
export const scanPositionsMax = 20_000;
/** Findings that one transaction writes. */
export const scanFindingsMax = 250;
/** Findings that one statement checks for those that the scan has not seen. */
export const scanLookedThroughMax = 5_000;
/** Findings of one project; a scan counts further ones and does not store them. */
export const projectFindingsMax = 250_000;
/** Unknown matches of one project; beyond them a scan stores one for each version. */
export const projectUnknownsMax = 100_000;
/** The key of a longer version is its beginning and a digest. */
export const versionKeyBytesMax = 1_024;
/** Sources that evidence names after the first one. */
export const evidenceSourcesMax = 20;
/** Length of the text of a range in evidence. */
export const evidenceRangeCharactersMax = 200;
/** How long triage waits for a scan or an import that locks the project; shorter than the deadline of a call. */
export const decisionWaitMs = 8_000;
/** Length of the note of a decision. */
export const findingNoteCharactersMax = 2_000;
/** Components on the shown path from the root to a component. */
export const pathStepsMax = 64;
/** Size of the components of a remediation as JSON. */
export const remediationComponentsBytesMax = 400_000;
/** Events of a finding that a list shows by default. */
export const findingEventRowsDefault = 25;

// Lists of findings and vulnerabilities
/** Findings in a list by default, from the specification. */
export const findingRowsDefault = 50;
/** Vulnerabilities in a list by default, from the specification. */
export const vulnerabilityRowsDefault = 25;
/**
 * Size of the rows as JSON: a response has under 125,000 bytes, and one of vulnerabilities under 96,000. A page with very long names is
 * longer over HTTP, and has fewer rows over MCP.
 */
export const findingPageBytesMax = 124_600;
/** The rows of a page of vulnerabilities as JSON: its answer stays under 96,000 bytes. */
export const vulnerabilityPageBytesMax = 95_500;
/** Findings that a search reads for one page; the next page goes on after them. */
export const findingsSearchedMax = 2_000;
/** Findings that one call of the control API triages. */
export const findingsTriagedMax = 200;
/** Length of a name on the path to a component. */
export const pathNameCharactersMax = 200;
/** SBOMs that the row of a finding names. */
export const findingSbomsShownMax = 2;

// Lock files and repositories
/** A lock file. */
export const lockFileBytesMax = 32 * 1024 * 1024;
/** Levels of JSON, YAML, TOML or XML. */
export const lockFileDepthMax = 128;
/** JSON values, XML elements. */
export const lockFileValuesMax = 2_000_000;
/** Fields of one object: lock files have all packages in one. */
export const lockFileFieldsMax = 200_000;
/** Packages of one file. */
export const lockFilePackagesMax = 100_000;
/** Dependencies between the packages of one file. */
export const lockFileNeedsMax = 500_000;
/** Versions of one PyPI package, each for different platforms. */
export const lockFileVersionsMax = 1_000;
/** Packages without a pinned version in one file. */
export const lockFileSkippedMax = 1_000;
/** Depth of nested npm packages, in folders. */
export const lockFileFoldersMax = 64;
/** Length of a name or a version. */
export const lockFileTextCharactersMax = 1_024;

// The store of advisories
/** Length of the description of an issue in lists. */
export const issueDescriptionCharactersMax = 160;
/** Records of one transaction; in embedded mode all other statements wait for its end. */
export const advisoryBatchMax = 200;
/** A batch above this size gets no further record. */
export const advisoryBatchBytesMax = 128 * 1024;
/** From the start of a subprocess that reads advisories to its whole output. */
export const advisoryReadMs = 30_000;
/** Characters of a record's summary and details that are read for the description of its issue. */
export const issueTextCharactersMax = 4_000;
/** Storing a batch and updating its findings. */
export const advisoryBatchMs = 45_000;
/** Attempts at a batch, each after a deadlock. */
export const advisoryBatchAttemptsMax = 3;
/** Answers warn about advisories of an ecosystem that are older than this: new ones are published every day. */
export const advisoryStaleMs = 7 * 86_400_000;
/** Invalid records that the result of an import names. */
export const advisoryFailuresShownMax = 1_000;

// What get_vulnerability lists; it counts the rest
/** Characters of its description. */
export const vulnerabilityDescriptionCharactersMax = 16_000;
/** References. */
export const vulnerabilityReferencesMax = 100;
/** Other names. */
export const vulnerabilityAliasesMax = 100;
/** Records, in the order of precedence. */
export const vulnerabilitySourcesMax = 20;
/** Affected packages. */
export const vulnerabilityAffectedMax = 50;
/** Ranges, fixed versions and listed versions of each package. */
export const vulnerabilityRangesMax = 20;
/** Findings. */
export const vulnerabilityOccurrencesMax = 100;

// Repositories
/** Number and total size of the lock files of one repository. */
export const repositoryFilesMax = 500;
/** All of them together. */
export const repositoryBytesMax = 64 * 1024 * 1024;
/** Skipped files that a response names. */
export const repositorySkippedMax = 200;
/** Subfolders of a folder on the caller's machine. */
export const repositoryFoldersMax = 200_000;
/** Its entries. */
export const repositoryArchiveEntriesMax = 500_000;
/** What it holds when it is decompressed, in addition to the bound `archiveRatioMax`. */
export const repositoryArchiveUnpackedBytesMax = 4 * 1024 * 1024 * 1024;
/** Deadline of an import by address: less than the minute that clients usually wait. */
export const repositoryImportMs = 50_000;
/** Deadline of all calls to the platform within an import. */
export const repositoryFetchMs = 35_000;
/** One call of a platform's API. */
export const repositoryCallMs = 15_000;
/** The longest wait for a platform's rate limit, and the attempts at a call. */
export const repositoryWaitMsMax = 8_000;
/** Tries of a call that fails or is put off. */
export const repositoryTriesMax = 3;
/** Pause after a call that failed. */
export const repositoryRetryMs = 1_000;
/** Redirects of one call, within the platform's own host. */
export const repositoryRedirectsMax = 3;
/** GitHub truncates the list of a whole repository at 7 MB or 100,000 entries. */
export const repositoryTreeBytesMax = 16 * 1024 * 1024;
/** Calls that list files: pages at GitLab; folders at GitHub after a truncated list. */
export const repositoryListingsMax = 400;
/** Concurrent downloads of files. */
export const repositoryFetchesAtOnce = 6;
/** An address of a repository. */
export const repositoryAddressCharactersMax = 1_024;
/** Packages without a version that a response names. */
export const repositoryNotPinnedShownMax = 20;

// Synchronizations of advisories
/** A synchronization that the service runs itself; npm's archive takes a few minutes. */
export const advisorySyncMs = 2 * 3_600_000;
/** Between two times that such a run shows that it is alive, and without which it counts as lost. */
export const advisorySyncSeenMs = 1_000;
/** After this silence it counts as lost, and another one may begin. */
export const advisorySyncSilenceMs = 60_000;
/** How often a run begins where the operator named a source. */
export const advisorySyncEveryMs = 24 * 3_600_000;
/** How often the service checks whether a run is due. */
export const advisorySyncLookMs = 3_600_000;
/** A line of its progress. */
export const advisorySyncProgressCharactersMax = 300;
/** The result that its command prints. */
export const advisorySyncOutputBytesMax = 8 * 1024 * 1024;
