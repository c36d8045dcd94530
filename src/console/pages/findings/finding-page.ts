/** One finding: why it is one, what to do, what was decided, and its history. */
import { markup, type Html } from "../../../http/html.ts";
import type { FindingDetails } from "../../../security/findings/details/show-finding.ts";
import type { EventView } from "../../../security/findings/triage/list-events.ts";
import type { TriagedMany } from "../../../security/findings/triage/triage.ts";
import type { VulnerabilityRecord } from "../../../security/vulnerabilities/schema.ts";
import type { FormFields } from "../../form.ts";
import { facts } from "../../look/facts.ts";
import { form } from "../../look/forms/form.ts";
import { time } from "../../look/time.ts";
import { userText } from "../../look/user-text.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { ecosystemName } from "../security/ecosystem.ts";
import { section } from "../security/section.ts";
import { severityBadge } from "../security/severity.ts";
import { affectedTable, descriptionText, referenceList } from "../vulnerabilities/record.ts";
import { eventRowsShown, history } from "./history.ts";
import { statusBadge, statusChoices } from "./status.ts";
import { note, triagedWords } from "./triage.ts";
import { dependencyPath, whatToDo, whyItMatches } from "./words.ts";

export const findingPage: Page = {
  of: "workspace",
  path: "/findings/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: { decide },
};

const pathOf = ({ params }: PageCall): string => `/findings/${encodeURIComponent(params["id"] ?? "")}`;

async function render(call: PageCall): Promise<PageContent> {
  const path = pathOf(call);
  const finding = await call.control<FindingDetails>("GET", path);
  const issue = await call.control<VulnerabilityRecord>("GET", `/vulnerabilities/${encodeURIComponent(finding.cve_id)}`);
  const skipped = /^\d{1,6}$/.exec(call.query.get("events") ?? "")?.[0] ?? "0";
  const { data: events } = await call.control<{ data: EventView[] }>("GET", `${path}/events`, {
    limit: String(eventRowsShown + 1),
    offset: skipped,
  });
  const own = issue.affected.filter((one) => one.package.toLowerCase() === finding.component.toLowerCase());
  const vulnerability = call.link(`/vulnerabilities/${encodeURIComponent(finding.cve_id)}`);
  return {
    title: `${finding.cve_id} in ${finding.component}`,
    trail: [{ path: call.link("/findings"), label: "Findings" }],
    badge: severityBadge(finding.severity, finding.cvss_score),
    main: markup`${findingFacts(finding, call)}
      ${section("why", "Why it matches", markup`${whyItMatches(finding)}${affectedTable(own)}`)}
      ${section("do", "What to do", markup`${whatToDo(finding)}${dependencyPath(finding)}`)}
      ${section("about", "About the vulnerability", markup`${descriptionText(issue.description, 600)}<p><a href="${vulnerability}">All about ${userText(finding.cve_id)}</a></p>${referenceList(issue.references.slice(0, 8))}`)}
      ${section("decide", "Decision", decision(finding, call))}
      ${section("history", "History", history(events, { call, skipped: Number(skipped) }))}`,
  };
}

function findingFacts(finding: FindingDetails, call: PageCall): Html {
  const { component, component_version: version, project_id: project } = finding;
  return facts([
    ["Project", markup`<a href="${call.link(`/projects/${project}`)}">${userText(finding.project)}</a>`],
    ["Component", `${component}${version === "" ? ", without a version" : ` ${version}`}`],
    ["Ecosystem", ecosystemName(finding.ecosystem)],
    ["Package URL", finding.purl === null ? null : markup`<code>${finding.purl}</code>`],
    ["Status", statusBadge(finding)],
    ["Present", finding.present ? "in the project's current SBOM" : "no longer: it opens by itself if it returns"],
    ["First seen", time(finding.first_seen)],
    ["Last seen", time(finding.last_seen)],
    ["Id", markup`<code>${finding.id}</code>`],
  ]);
}

function decision(finding: FindingDetails, call: PageCall): Html {
  const by =
    finding.decided_by === null || finding.decided_at === null
      ? markup`<p>There is no decision yet.</p>`
      : markup`<p>${userText(finding.decided_by)} decided ${time(finding.decided_at)}.</p>${finding.note === null ? null : descriptionText(finding.note)}`;
  if (call.workspace.role === "auditor")
    return markup`${by}<p class="hint">Auditors are read-only: they do not triage findings.</p>`;
  return markup`${by}${form({
    id: "decide",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "decide"),
    fields: [
      { kind: "choice", name: "status", label: "Status", required: true, choices: choicesFor(finding) },
      { kind: "check", name: "false_positive", label: "The match is wrong: a false positive" },
      note,
    ],
    state: formState(call, {
      action: "decide",
      values: { status: finding.status, false_positive: String(finding.false_positive), note: finding.note ?? "" },
    }),
    submit: "Save the decision",
  })}<p class="hint">It holds for this vulnerability in this package of the project, whatever its version.</p>`;
}

/** What is gone cannot be opened. */
function choicesFor({ present }: FindingDetails) {
  return present ? statusChoices : statusChoices.filter(({ value }) => value === "ignored" || value === "resolved");
}

async function decide(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const id = call.params["id"] ?? "";
  const made = await call.control<TriagedMany>("PATCH", "/findings", {
    findings: [id],
    status: typed.text("status"),
    false_positive: typed.text("false_positive") === "true",
    note: typed.raw("note").replaceAll("\r\n", "\n").trim(),
  });
  const said = made.updated.length === 0 ? "Nothing changed: the finding had this decision already." : triagedWords(made);
  return { goTo: call.link(pathOf(call)), said };
}
