/** The limits of the security platform and its tools API, each with its unit. */

// Quotas: what a workspace stores
/** Tickets of any kind per hour. */
export const ticketsPerHourMax = 200;
/** Acknowledgements: tickets whose type is confirmed by email. */
export const mailsPerHourMax = 60;
/** All files without a ticket in a workspace. */
export const attachmentUnusedBytesMax = 512 * 1024 * 1024;
/** All files in a workspace, with and without a ticket. */
export const attachmentStoredBytesMax = 10 * 1024 * 1024 * 1024;
export const productsPerWorkspaceMax = 10_000;
export const projectsPerWorkspaceMax = 10_000;
/** New SBOMs; uploading a stored one again does not count. */
export const sbomsPerHourMax = 3_000;
/** Removing the sample data frees its places among SBOMs, so its scans are limited by this. */
export const sampleLoadsPerHourMax = 20;
/** SBOMs, including former ones. */
export const sbomsPerWorkspaceMax = 100_000;
/** Characters in all SBOM rows of a workspace; nearly as many bytes. */
export const sbomRowCharactersMax = 20 * 1024 * 1024 * 1024;

// Quotas: calls of a tools key
/** How many calls an SBOM counts as when a subprocess refuses it or takes too long. */
export const sbomFailedReadCalls = 60;
/** Concurrent calls in a process; others wait in a queue. */
export const toolsCallsRunningMax = 6;
/** One key's share; its other calls wait, and keys take turns. */
export const toolsCallsRunningPerKeyMax = 3;
/** Calls that wait in a process. */
export const toolsCallsWaitingMax = 2_000;
export const toolsCallsWaitingPerKeyMax = 200;
/** How long a call waits in the queue. */
export const toolsCallWaitMs = 10_000;
/** After an event-loop turn longer than this, each call waits for twice its duration, up to `loopRestMsMax`. */
export const loopBusyMs = 2;
/** The longest of these waits. */
export const loopRestMsMax = 25;
/** Concurrent long calls (uploads, imports, project moves) in a process; others wait in a queue. */
export const longCallsRunningMax = 8;
/** One workspace's share; its other long calls wait, and workspaces take turns. */
export const longCallsRunningPerWorkspaceMax = 2;
/** Long calls that wait in a process. */
export const longCallsWaitingMax = 200;
export const longCallsWaitingPerWorkspaceMax = 50;
/** How long a long call waits in the queue. */
export const longCallWaitMs = 60_000;

// Quotas: bodies in transfer
/** Bodies that a process holds in memory. */
export const toolsBodiesBytesMax = 128 * 1024 * 1024;
/** One workspace's share. */
export const toolsBodiesPerWorkspaceBytesMax = 48 * 1024 * 1024;
/** One key's share. */
export const toolsBodiesPerKeyBytesMax = 24 * 1024 * 1024;
/** SBOMs and attachments in transfer, which are spooled to files. */
export const documentsSpooledBytesMax = 2 * 1024 * 1024 * 1024;
/** One workspace's share. */
export const documentsSpooledPerWorkspaceBytesMax = 512 * 1024 * 1024;
/** One key's share. */
export const documentsSpooledPerKeyBytesMax = 256 * 1024 * 1024;

// Tools API, from the specification
/** The message of a ticket, and each long text of a bug. */
export const ticketTextCharactersMax = 8_000;
/** `context`. */
export const ticketContextCharactersMax = 500;
/** `tool_name`. */
export const toolNameCharactersMax = 120;
/** `attachment_path`. */
export const attachmentPathCharactersMax = 4_096;
export const attachmentBytesMax = 50 * 1024 * 1024;
/** The best rating. */
export const feedbackRatingMax = 5;

// Tools API
/** Size of a call without its SBOM: parsing more would block the event loop. */
export const toolsBodyBytesMax = 1024 * 1024;
/** Time for a body to arrive. */
export const toolsBodyMs = 60_000;
/** Deadline of one call. */
export const toolsDeadlineMs = 10_000;
/** Tickets in a list by default. */
export const ticketRowsDefault = 25;
/** Projects in a list by default, from the specification. */
export const projectRowsDefault = 20;
/** Products in a list by default. */
export const productRowsDefault = 50;
/** Components, vulnerabilities and unknown matches that get_project shows. */
export const projectItemsMax = 200;
/** The most components at once, for files of an inventory. */
export const componentRowsMax = 1_000;
/** Components, fixes and entries of a project's lists by default. */
export const componentRowsDefault = 50;
/** Decisions about findings that one page of a project's activity reads. */
export const activityEventsMax = 2_000;
/** Changes of findings that one reading of a project's trend undoes. */
export const trendChangesMax = 50_000;
/** Days that a project's trend shows. */
export const trendDays = 30;
/** Components that a search in all projects reads. */
export const componentsSearchedMax = 5_000;
/** A name or package URL that is searched for. */
export const componentSearchCharactersMax = 1_024;
/** Licences of an SBOM in a list. */
export const licensesListedMax = 200;
/** SBOMs of a project in a list, the newest. */
export const sbomsListedMax = 200;
/** Versions of a package that a difference of two SBOMs names. */
export const versionsShownMax = 20;
/** A ticket that the same person repeats within this time counts once, because agents retry. */
export const ticketRepeatMs = 600_000;
/** A file without a ticket is removed after this time. */
export const attachmentUnusedMs = 3_600_000;
/** One person's files that have no ticket yet. */
export const attachmentsUnusedMax = 10;

// Package versions
/** A longer package version is listed as unknown and never compared; an advisory with one is refused. */
export const versionCharactersMax = 1_024;
/** Constraints of a version range in a statement. */
export const versConstraintsMax = 1_000;
/** A longer package URL is stored unchanged, but matched with no advisory. */
export const purlCharactersMax = 4_096;

// Advisories
/** One record as text. */
export const advisoryBytesMax = 8 * 1024 * 1024;
/** One record in YAML. */
export const advisoryYamlBytesMax = 2 * 1024 * 1024;
/** An id, alias or related id. */
export const advisoryIdCharactersMax = 128;
/** Aliases of one record; the same for related ids, severities and credits. */
export const advisoryNamesMax = 1_000;
/** Packages of one record. */
export const advisoryPackagesMax = 10_000;
/** Ranges of one package in a record. */
export const advisoryRangesMax = 10_000;
/** Events of one range. */
export const advisoryEventsMax = 10_000;
/** Versions that a record lists for one package. */
export const advisoryVersionsMax = 100_000;
/** Name of a package or an ecosystem. */
export const advisoryNameCharactersMax = 1_024;
/** References of one record. */
export const advisoryReferencesMax = 10_000;
export const cvssVectorCharactersMax = 512;
/** A published archive of advisories, compressed. */
export const advisoryArchiveBytesMax = 4 * 1024 * 1024 * 1024;
/** Its ETag. */
export const advisoryEtagCharactersMax = 256;
/** Levels of nested folders that are read. */
export const folderDepthMax = 32;

// Archives
/** Entries of one archive; any further ones are refused. */
export const archiveEntriesMax = 2_000_000;
/** The unpacked size of an archive. */
export const archiveBytesMax = 64 * 1024 * 1024 * 1024;
/** Ratio of unpacked to packed size: 10 to 30 for text, 1,000 for a decompression bomb. */
export const archiveRatioMax = 200;
/** The ratio counts only above this unpacked size. */
export const archiveRatioFromBytes = 16 * 1024 * 1024;
/** The name of an entry. */
export const archiveNameCharactersMax = 1_024;
/** A tar header that describes the next header. */
export const tarHeaderBytesMax = 64 * 1024;

// SBOMs
export const sbomBytesMax = 50 * 1024 * 1024;
/** A call with an SBOM, to which JSON escapes add bytes. The server accepts no larger body. */
export const sbomCallBytesMax = 64 * 1024 * 1024;
/** Levels of JSON or XML: a component within a component takes two. */
export const sbomDepthMax = 256;
/** JSON values, XML elements or lines; more would take too much time and memory. */
export const sbomValuesMax = 5_000_000;
/** Fields of one JSON object, attributes of one XML element. */
export const sbomFieldsMax = 1_000;
/** A key of a JSON object. */
export const sbomKeyBytesMax = 1_024;
export const sbomComponentsMax = 300_000;
/** Versions of one package. */
export const sbomVersionsMax = 1_000;
/** Dependencies and other relationships. */
export const sbomEdgesMax = 1_000_000;
/** Length of a stored text, such as a name; texts that are not read may be longer. */
export const sbomTextCharactersMax = 65_536;
/** Validation ends after this many problems. */
export const sbomProblemsMax = 100;
/** Problems that a refusal lists. */
export const sbomProblemsShownMax = 20;
/** Kinds of warnings about one SBOM, and the length of one. */
export const sbomWarningsMax = 20;
export const sbomWarningCharactersMax = 400;
/** Components or dependencies that one statement stores. */
export const sbomRowsPerStatement = 1_000;
/** `filename`. */
export const sbomFilenameCharactersMax = 1_024;
/** Deadline of an upload, which may store 300,000 components and a million dependencies. */
export const sbomStoreMs = 120_000;
/** Deadline of moving a project, which may update hundreds of thousands of findings and their lists. */
export const projectMoveMs = 60_000;
/** Larger SBOMs are read in a subprocess: 32 KiB block the event loop for about 3 ms. */
export const sbomReadHereBytesMax = 32 * 1024;
/** Concurrent subprocesses; fewer if that keeps one CPU core free. The largest SBOMs take up to a gigabyte each. */
export const sbomReadersMax = 2;
export const sbomReadersPerWorkspaceMax = 1;
/** SBOMs that wait for a subprocess. */
export const sbomReadersWaitingMax = 32;
/** Waiting SBOMs of one workspace; further ones get 429. */
export const sbomReadersWaitingPerWorkspaceMax = 8;
/** How long an SBOM waits before it gets 503. */
export const sbomReaderWaitMs = 60_000;
/** From the start of a subprocess to the end of its output; 50 MiB of XML take 13 s. */
export const sbomReadMs = 40_000;
/** Packages that one statement stores. */
export const packagesPerStatement = 1_000;

// Scans, findings
/** How often a scanner looks for waiting projects without a notification. */
export const scanPollMs = 5_000;
/** After this time without a transaction, another scanner takes over the project. */
export const scanLeaseMs = 60_000;
/** How long a scan waits for an import that has locked its project; shorter than the lease. */
export const scanWaitMs = 30_000;
/** Attempts at a scan, including those whose process died. */
export const scanAttemptsMax = 6;
/** Pause before the second attempt; it doubles with each attempt. */
export const scanRetryMs = 1_000;
/** The time slice of a scan. After it, other scans run before this one resumes. */
export const scanSliceMs = 2_000;
/** A workspace's counted scanner time decays to a third within this time. */
export const scanShareFadesMs = 30_000;
/** Workspaces in which a scanner looks for a project without a lease. */
export const scanWorkspacesTried = 16;
/** How often the worker looks for projects with more former SBOMs than are kept. */
export const formerSbomsEveryMs = 60_000;
/** How often accepted risks are looked at that have ended. */
export const acceptedRisksEveryMs = 60_000;
/** Pause between two steps of removing former SBOMs. */
export const formerSbomsPauseMs = 50;
/** Rows of one former SBOM that a step removes. */
export const formerSbomRowsMax = 1_000;
/** Projects per search, and former SBOMs of one project marked per transaction. */
export const formerSbomsMarkedMax = 100;
/** Packages whose records a scan reads at a time. */
export const scanPackagesMax = 100;
/** Components of these packages that a scan reads at a time; at most `scanFindingsMax`, since one issue may affect all. */
export const scanComponentsMax = 250;
/** Positions of an SBOM that one statement searches for packages with advisories. */
export const scanPositionsMax = 20_000;
/** Findings that one transaction writes. */
export const scanFindingsMax = 250;
/** Findings per statement in the search for those that a scan has not seen. */
export const scanLookedThroughMax = 5_000;
/** Findings of one project; a scan counts further ones, but does not store them. */
export const projectFindingsMax = 250_000;
/** Unknown matches of one project; beyond this, a scan stores only one per version. */
export const projectUnknownsMax = 100_000;
/** A longer version has its beginning and a digest as its key. */
export const versionKeyBytesMax = 1_024;
/** Sources that evidence names after the first one. */
export const evidenceSourcesMax = 20;
/** Length of a range's text in evidence. */
export const evidenceRangeCharactersMax = 200;
/** How long triage waits for a scan or an import that has locked the project; shorter than a call's deadline. */
export const decisionWaitMs = 8_000;
/** Length of a decision's note. */
export const findingNoteCharactersMax = 2_000;
/** Components on the shown path from the root to a component. */
export const pathStepsMax = 64;
/** Size of the components of a remediation as JSON. */
export const remediationComponentsBytesMax = 400_000;
/** Events of a finding in a list by default. */
export const findingEventRowsDefault = 25;

// Lists of findings and vulnerabilities
/** Findings in a list by default, from the specification. */
export const findingRowsDefault = 50;
/** Vulnerabilities in a list by default, from the specification. */
export const vulnerabilityRowsDefault = 25;
/**
 * Size of a page's rows as JSON, which keeps a response below 125,000 bytes. A page with very long names is longer over HTTP, and has fewer
 * rows over MCP.
 */
export const findingPageBytesMax = 124_600;
/** Size of a page's vulnerabilities as JSON, which keeps a response below 96,000 bytes. */
export const vulnerabilityPageBytesMax = 95_500;
/** Findings that a search reads for one page; the next page continues after them. */
export const findingsSearchedMax = 2_000;
/** Findings that one call of the control API triages. */
export const findingsTriagedMax = 200;
/** Length of a name on the path to a component. */
export const pathNameCharactersMax = 200;
/** SBOMs named in a finding's row. */
export const findingSbomsShownMax = 2;

// Lock files and repositories
export const lockFileBytesMax = 32 * 1024 * 1024;
/** Levels of JSON, YAML, TOML or XML. */
export const lockFileDepthMax = 128;
/** JSON values, XML elements. */
export const lockFileValuesMax = 2_000_000;
/** Fields of one object: lock files list all packages in one object. */
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
/** Other requirement files that one includes. */
export const requirementIncludesMax = 200;
/** Files of constraints that apply to one requirement file. */
export const requirementConstraintsMax = 16;
/** A name or a version. */
export const lockFileTextCharactersMax = 1_024;

// The store of advisories
/** Length of an issue's description in lists. */
export const issueDescriptionCharactersMax = 160;
/** Records in one transaction. In embedded mode, all other statements wait for it to end. */
export const advisoryBatchMax = 200;
/** A batch larger than this gets no further records. */
export const advisoryBatchBytesMax = 128 * 1024;
/** From the start of a subprocess that reads advisories to the end of its output. */
export const advisoryReadMs = 30_000;
/** Characters of a record's summary and details that may go into its issue's description. */
export const issueTextCharactersMax = 4_000;
/** Deadline for storing a batch and updating its findings. */
export const advisoryBatchMs = 45_000;
/** Attempts at a batch; only a deadlock is retried. */
export const advisoryBatchAttemptsMax = 3;
/** Answers warn if an ecosystem's advisories are older than this: new ones are published every day. */
export const advisoryStaleMs = 7 * 86_400_000;
/** Invalid records named in the result of an import. */
export const advisoryFailuresShownMax = 1_000;

// What get_vulnerability lists; the rest is only counted
export const vulnerabilityDescriptionCharactersMax = 16_000;
export const vulnerabilityReferencesMax = 100;
export const vulnerabilityAliasesMax = 100;
/** Records, in the order of precedence. */
export const vulnerabilitySourcesMax = 20;
export const vulnerabilityAffectedMax = 50;
/** Ranges, fixed versions and listed versions, each per package. */
export const vulnerabilityRangesMax = 20;
/** Findings. */
export const vulnerabilityOccurrencesMax = 100;

// Repositories
/** Lock files of one repository. */
export const repositoryFilesMax = 500;
/** Total size of a repository's lock files. */
export const repositoryBytesMax = 64 * 1024 * 1024;
/** Skipped files that a response names. */
export const repositorySkippedMax = 200;
/** Subfolders of a folder on the caller's machine. */
export const repositoryFoldersMax = 200_000;
/** Entries of a repository's archive. */
export const repositoryArchiveEntriesMax = 500_000;
/** Unpacked size of that archive; `archiveRatioMax` applies too. */
export const repositoryArchiveUnpackedBytesMax = 4 * 1024 * 1024 * 1024;
/** Deadline of an import by address: less than the minute that clients usually wait. */
export const repositoryImportMs = 50_000;
/** Deadline of all calls to the platform within an import. */
export const repositoryFetchMs = 35_000;
/** Deadline of one call to a platform's API. */
export const repositoryCallMs = 15_000;
/** The longest wait for a platform's rate limit. */
export const repositoryWaitMsMax = 8_000;
/** Attempts at a call that fails or meets a rate limit. */
export const repositoryTriesMax = 3;
/** Pause after a failed call. */
export const repositoryRetryMs = 1_000;
/** Redirects of one call, within the platform's own host. */
export const repositoryRedirectsMax = 3;
/** GitHub truncates the list of a whole repository at 7 MB or 100,000 entries. */
export const repositoryTreeBytesMax = 16 * 1024 * 1024;
/** Calls that list files: pages on GitLab; folders on GitHub, after a truncated list. */
export const repositoryListingsMax = 400;
export const repositoryFetchesAtOnce = 6;
export const repositoryAddressCharactersMax = 1_024;
/** Packages without a version that a response names. */
export const repositoryNotPinnedShownMax = 20;

// Synchronizations of advisories
/** Deadline of a synchronization that the service runs itself; npm's archive takes a few minutes. */
export const advisorySyncMs = 2 * 3_600_000;
/** How often such a run shows that it is alive. */
export const advisorySyncSeenMs = 1_000;
/** After this silence it counts as lost, and another one may begin. */
export const advisorySyncSilenceMs = 60_000;
/** How often a run begins if the operator has named a source. */
export const advisorySyncEveryMs = 24 * 3_600_000;
/** How often the service checks whether a run is due. */
export const advisorySyncLookMs = 3_600_000;
/** A line of a run's progress. */
export const advisorySyncProgressCharactersMax = 300;
/** The result that a run's command prints. */
export const advisorySyncOutputBytesMax = 8 * 1024 * 1024;
