/**
 * One finding: why it is one, what to do about it, what was decided, and its history. A decision holds for the vulnerability in this
 * package of the project, in all of its versions.
 */
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { vulnerabilityEndpoints } from "../../../control-api/endpoints/vulnerabilities.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import type { FindingDetails } from "../../../security/findings/details/show-finding.ts";
import type { EventView } from "../../../security/findings/triage/list-events.ts";
import { readPurl } from "../../../security/sboms/document.ts";
import { printPackageUrl } from "../../../security/versions/package-url.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { form, address } from "../../look/forms.ts";
import { section, emptyState, cursorLinks, day, table, time, userText } from "../../look/parts.ts";
import { idToCopy, thingPage, type ThingFacts } from "../../look/thing.ts";
import { shareLink } from "../share-link.ts";
import { justificationWords, ownerChoices, reasonFields, reasonsOf, statusBadge, statusChoices, triagedWords } from "./triage.ts";
import { affectedTable, descriptionText, referenceList } from "./vulnerability-page.ts";
import { basisText, ecosystemName, exploitFacts, rangeWords, severityBadge } from "./words.ts";

export const findingPage: Page = {
  of: "workspace",
  path: "/findings/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [asset("script", [new URL("findings.js", import.meta.url)])],
  render,
  actions: { decide },
};

const pathOf = ({ params }: PageCall): string => `/findings/${encodeURIComponent(params["id"] ?? "")}`;

async function render(call: PageCall): Promise<PageContent> {
  const id = call.params["id"] ?? "";
  const finding = await call.control(findingEndpoints.show, { id });
  const issue = await call.control(vulnerabilityEndpoints.show, { id: finding.cve_id });
  const skipped = /^\d{1,6}$/.exec(call.query.get("events") ?? "")?.[0] ?? "0";
  const { data: events } = await call.control(findingEndpoints.listEvents, {
    id,
    limit: String(eventRowsShown + 1),
    offset: skipped,
  });
  const own = issue.affected.filter((one) => one.package.toLowerCase() === finding.component.toLowerCase());
  const vulnerability = call.link(`/vulnerabilities/${encodeURIComponent(finding.cve_id)}`);
  return {
    title: `${finding.cve_id} in ${finding.component}`,
    trail: [{ path: call.link("/findings"), label: "Findings" }],
    badge: severityBadge(finding.severity, finding.cvss_score, finding.severity_basis),
    actions: shareLink(call, {
      path: `/findings/${finding.id}`,
      readers: markup`Every member of ${userText(call.workspace.name)} can open it.`,
    }),
    main: thingPage({
      facts: findingFacts(finding, call),
      main: markup`${section("do", "What to do", markup`${whatToDo(finding)}${dependencyPath(finding)}`)}
        ${section("why", "Why it matches", markup`${whyItMatches(finding)}${affectedTable(own)}`)}
        ${section("decide", "Decision", await decision(finding, call))}
        ${section("about", "About the vulnerability", markup`${descriptionText(issue.description, 1_500)}<p><a href="${vulnerability}">All about ${userText(finding.cve_id)}</a></p>${referenceList(issue.references.slice(0, 8))}`)}
        ${section("history", "History", history(events, { call, skipped: Number(skipped) }))}`,
    }),
  };
}

function findingFacts(finding: FindingDetails, call: PageCall): ThingFacts {
  const { component, component_version: version, project_id: project } = finding;
  const named = userText(`${component}${version === "" ? ", without a version" : ` ${version}`}`);
  return [
    ["Project", markup`<a href="${call.link(`/projects/${project}`)}">${userText(finding.project)}</a>`],
    ["Component", markup`${named} · <a href="${call.link(everywherePath(finding))}">in all projects</a>`],
    ["Ecosystem", ecosystemName(finding.ecosystem)],
    ["Package URL", finding.purl === null ? null : markup`<code>${finding.purl}</code>`],
    ["Status", statusBadge(finding)],
    ["Severity from", basisText(finding.severity_basis)],
    ...exploitFacts(finding),
    ["Present", finding.present ? "in the project's current SBOM" : "no longer: it opens by itself if it returns"],
    ["First seen", time(finding.first_seen)],
    ["Last seen", time(finding.last_seen)],
    ["Id", idToCopy({ id: "finding-id", value: finding.id, what: "the id" })],
  ];
}

/** The search for its package in all versions. */
function everywherePath({ component, purl }: FindingDetails): string {
  const parsed = purl === null ? null : readPurl(purl).parsed;
  if (parsed === null) return address("/components", { name: component, exact: "true" });
  const name = printPackageUrl({ ...parsed, version: null, qualifiers: new Map(), subpath: null });
  return address("/components", { name });
}

async function decision(finding: FindingDetails, call: PageCall): Promise<Html> {
  const { decided_by: by, decided_at: at } = finding;
  const made = by === null || at === null ? markup`<p>There is no decision yet.</p>` : decided(finding, { by, at });
  if (call.workspace.role === "auditor")
    return markup`${made}<p class="hint">Auditors are read-only: they do not triage findings.</p>`;
  const unset = [{ value: "", label: "Nobody" }];
  return markup`${made}${form({
    id: "decide",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "decide", { seen: at ?? "" }),
    fields: [
      { kind: "choice", name: "status", label: "Status", required: true, choices: choicesFor(finding) },
      ...reasonFields({ owners: await ownerChoices(call, finding.owner), unset }),
      { kind: "check", name: "false_positive", label: "The match is wrong: a false positive" },
    ],
    state: formState(call, {
      action: "decide",
      values: {
        status: finding.status,
        justification: finding.justification ?? "",
        accepted_until: finding.accepted_until ?? "",
        owner: finding.owner ?? "",
        false_positive: String(finding.false_positive),
        note: finding.note ?? "",
      },
    }),
    submit: "Save the decision",
  })}<p class="hint">It holds for this vulnerability in this package of the project, whatever its version.</p>`;
}

function decided(finding: FindingDetails, { by, at }: { by: string; at: string }): Html {
  const { justification, accepted_until: until, owner, note } = finding;
  const facts = [
    ...(justification === null ? [] : [markup`<p>Not affected: ${justificationWords[justification].toLowerCase()}.</p>`]),
    ...(until === null ? [] : [markup`<p>The risk is accepted until ${day(until)}; then the finding is open again.</p>`]),
    ...(owner === null ? [] : [markup`<p>Owner: ${userText(owner)}</p>`]),
  ];
  return markup`<p>${userText(by)} decided ${time(at)}.</p>${facts}${note === null ? null : noteText(note)}`;
}

/** As it was typed, paragraph by paragraph. */
function noteText(note: string): Html {
  const paragraphs = note.split(/\n[ \t\r]*\n/).filter((one) => one.trim() !== "");
  return markup`${paragraphs.map((one) => markup`<p dir="auto">${one.trim()}</p>`)}`;
}

/** A finding that is gone cannot be reopened. */
function choicesFor({ present }: FindingDetails) {
  return present ? statusChoices : statusChoices.filter(({ value }) => value !== "open" && value !== "in_progress");
}

async function decide(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const id = call.params["id"] ?? "";
  const made = await call.control(findingEndpoints.triage, {
    findings: [id],
    status: typed.text("status"),
    false_positive: typed.text("false_positive") === "true",
    ...reasonsOf(typed),
    owner: typed.text("owner") === "" ? null : typed.text("owner"),
    // Another tab or person may have decided since the page was loaded.
    ...(typed.has("seen") && { if_decided_at: typed.text("seen") === "" ? null : typed.text("seen") }),
    note: typed.raw("note").replaceAll("\r\n", "\n").trim(),
  });
  const said = made.updated.length === 0 ? "Nothing changed: the finding had this decision already." : triagedWords(made);
  return { goTo: call.link(pathOf(call)), said };
}

// A finding in sentences: why it is one, and what to do about it.

function whyItMatches({ component, component_version: version, cve_id: name, evidence }: FindingDetails): Html {
  const { source, range, comparator, listed } = evidence;
  const said = source === null || source === name ? markup`Its advisory` : markup`The advisory <code>${source}</code>`;
  const installed = markup`<strong>${userText(`${component} ${version}`.trim())}</strong>`;
  if (comparator !== null) {
    const whole = range !== null && range !== comparator ? markup` In its own words: <code>${range}</code>.` : null;
    return markup`<p>${said} says that these versions are affected: <strong>${rangeWords(comparator)}</strong>. ${installed} is one of them.${whole}</p>`;
  }
  if (listed !== null)
    return markup`<p>${said} lists the version <code>${listed}</code> as affected, which is that of ${installed}.</p>`;
  return range === null
    ? markup`<p>${said} names ${installed}.</p>`
    : markup`<p>${said} says that these versions are affected: <code>${range}</code>. ${installed} is one of them.</p>`;
}

const steps: Record<string, string> = {
  patch: "a small step on the same release line",
  minor: "within the same major version",
  major: "a new major version: expect changes that break",
};

function whatToDo({ upgrade, upgrade_for_all: all, open_findings: open, component }: FindingDetails): Html {
  if (upgrade.version === null)
    return markup`<p>There is no version to upgrade to. ${upgrade.reason === null ? "" : `${upgrade.reason}.`}</p>`;
  const step = upgrade.step === null ? null : markup`, ${steps[upgrade.step] ?? upgrade.step}`;
  const early = upgrade.prerelease ? markup` Only a prerelease fixes it so far.` : null;
  const first = markup`<p>Upgrade ${userText(component)} to <strong>${userText(upgrade.version)}</strong>${step}.${early}</p>`;
  if (open < 2 || all.version === null) return first;
  if (all.version === upgrade.version)
    return markup`${first}<p>This version has no known vulnerability: it fixes all ${open} open findings of the component.</p>`;
  return markup`${first}<p>Version <strong>${userText(all.version)}</strong> fixes all ${open} open findings of the component.</p>`;
}

const relations: Record<string, string> = {
  root: "It is the project itself.",
  direct: "The project depends on it directly.",
  transitive: "The project depends on it through other components:",
  unknown: "The SBOM does not say how the project depends on it.",
};

/** The path from the root to the component. */
function dependencyPath({ relation, path }: FindingDetails): Html | null {
  if (relation === null) return null;
  const steps = path.map((step, index) => markup`${index === 0 ? null : markup` → `}<code>${step}</code>`);
  return markup`<p>${relations[relation] ?? ""}${relation === "transitive" && path.length > 0 ? markup` ${steps}` : null}</p>`;
}

// What scans and people changed of a finding, newest first.

const eventRowsShown = 25;

const causes: Record<string, string> = {
  decided: "decided",
  found: "found it",
  returned: "found it again",
  decision_followed: "applied the decision",
  component_gone: "found the component gone",
  not_affected: "found that the version is no longer affected",
  withdrawn: "found the advisory withdrawn",
  issue_joined: "joined it with another vulnerability",
  issue_followed: "moved it to another vulnerability",
  acceptance_ended: "ended the accepted risk",
};

const fields: Record<string, string> = {
  status: "status",
  false_positive: "false positive",
  note: "note",
  justification: "justification",
  accepted_until: "accepted until",
  owner: "owner",
  present: "present",
  decision: "decision",
};

/** @param events one more than is shown if there are older ones */
function history(events: readonly EventView[], { call, skipped }: { call: PageCall; skipped: number }): Html {
  const shown = events.slice(0, eventRowsShown);
  const links = cursorLinks({
    shown: `Changes ${skipped + 1} to ${skipped + shown.length}`,
    firstPath: skipped > 0 ? call.path : null,
    nextPath: events.length > eventRowsShown ? address(call.path, { events: String(skipped + eventRowsShown) }) : null,
  });
  return markup`${table<EventView>({
    caption: "History",
    columns: [
      { label: "When", kind: "time", cell: ({ at }) => time(at) },
      { label: "Who", kind: "text", cell: ({ actor }) => (actor === "scanner" ? markup`The scanner` : actor) },
      { label: "What", kind: "text", cell: ({ cause }) => causes[cause] ?? cause },
      { label: "Changes", kind: "text", cell: ({ changes }) => (changes.length === 0 ? null : changesOf(changes)) },
    ],
    rows: shown,
    empty: emptyState("Nothing has changed since it was found.", null),
  })}${links}`;
}

export function changesOf(changes: EventView["changes"]): Html {
  return markup`${changes.map(({ field, from, to }, index) => {
    const name = fields[field] ?? field;
    const words = from === null ? markup`${name}: ${shown(to)}` : markup`${name}: ${shown(from)} → ${shown(to)}`;
    return index === 0 ? words : markup`; ${words}`;
  })}`;
}

function shown(value: string | boolean | null): Html {
  if (value === null) return markup`none`;
  if (typeof value === "boolean") return markup`${value ? "yes" : "no"}`;
  return userText(value.replaceAll("_", " "));
}
