/**
 * The list of findings, on its own page and as a tab of a project: how many there are of each severity as links that filter, four ways to
 * read them, filters in the address, and the form that decides about the selected ones. It begins with what is left to do.
 *
 * The ways: the most severe first, the most likely exploited first, by package, by vulnerability. A filter that no index serves searches only
 * part of the findings for a page; "Next" continues from there. The most likely exploited are one list without further filters, and groups
 * are those of the first thousands of findings: both say so.
 */
import type { GivenTo } from "../../../control-api/endpoint.ts";
import { findingEndpoints } from "../../../control-api/endpoints/findings.ts";
import { markup, type Html } from "../../../http/html.ts";
import type { SearchedFinding } from "../../../security/findings/lists/exploits.ts";
import type { FindingCounts, FindingGroupView } from "../../../security/findings/lists/group-findings.ts";
import { findingsGroupedMax } from "../../../security/findings/limits.ts";
import { severities } from "../../../security/findings/schema.ts";
import { address, filterForm, type Filter } from "../../look/forms.ts";
import { arrangedList, arrangementIn, type ListColumn } from "../../look/list-view.ts";
import { cursorLinks, day, emptyState, notice, time, userText } from "../../look/parts.ts";
import { queryFields, type FormFields, type ActionResult, type PageCall } from "../../page.ts";
import { pageRows, rowsLinks, skippedRows } from "../rows-query.ts";
import { blindNotice } from "./knowledge.ts";
import {
  bulkForm,
  bulkFormId,
  chosenIds,
  chosenValue,
  leftContent,
  statusBadge,
  statusFilter,
  triageChosen,
  triagedWords,
} from "./triage.ts";
import { ecosystemFilter, ecosystemName, exploitColumns, severityColumn } from "./words.ts";

export interface FindingPlace {
  call: PageCall;
  /** Id of the project whose tab this is; null: the page of all findings. */
  project: string | null;
  /** What an empty list means, where the project knows more than the list. */
  empty?: string;
  /** Nothing was compared, so that counts of zero would be no verdict. */
  isBlind?: boolean;
}

export async function findingList(place: FindingPlace): Promise<Html> {
  const { call, project } = place;
  const view = viewOf(call.query);
  const counts = await call.control(findingEndpoints.count, countedBy(place));
  const shown = view === "exploit" ? await urgent(place) : view === "" ? await findings(place) : await groups(place, view);
  const isEmpty = shown.rows === 0;
  return markup`${place.isBlind === true && counts.total === 0 ? null : severityLinks(counts, place)}
    <div class="list-bar">${views(place, view)}${shown.view}</div>
    ${filterForm({ path: call.path, filters: filtersOf(place, view), kept: keptBy(call.query) })}
    ${mayDecide(call) ? null : markup`<p class="hint">Auditors are read-only: they do not triage findings.</p>`}
    ${isEmpty && project === null ? await blindNotice(call) : null}
    ${shown.body}
    ${!isEmpty && shown.isChosen && mayDecide(call) ? bulkForm(call) : null}`;
}

/** The action of the form below the list. It goes back to the same rows. */
export async function triageListed(call: PageCall, form: FormFields): Promise<ActionResult> {
  const made = await triageChosen(call, form);
  const place = { after: call.query.get("after") ?? undefined, skip: call.query.get("skip") ?? undefined };
  const goTo = address(call.path, { ...listQuery(call.query), ...place });
  const isAll = (made.decided_meanwhile ?? []).length === 0;
  return isAll ? { goTo, said: triagedWords(made) } : { show: leftContent(made, { call, backPath: goTo }) };
}

export function mayDecide({ workspace }: Pick<PageCall, "workspace">): boolean {
  return workspace.role !== "auditor";
}

// The fields of the address.

const filterNames = ["text", "severity", "status", "ecosystem", "fixable", "exploited", "owner", "component"] as const;
const scopeNames = ["project", "product", "vulnerability"] as const;
const names = [...filterNames, ...scopeNames, "view"] as const;

type View = "" | "exploit" | "package" | "vulnerability";

function viewOf(query: URLSearchParams): View {
  const word = query.get("view");
  return word === "exploit" || word === "package" || word === "vulnerability" ? word : "";
}

/** The filters as the control API's fields, without the place in the list. */
export function searchInput({ call: { query }, project }: FindingPlace): Omit<GivenTo<typeof findingEndpoints.search>, "after"> {
  const { status = "live", view: _view, ...set } = queryFields(query, names);
  return { ...set, ...(project !== null && { project }), ...(status !== "all" && { status }) };
}

/** What the tiles count: all severities of the status in the scope. */
function countedBy(place: FindingPlace) {
  const { status } = searchInput(place);
  return { ...scopeIn(place), ...(status !== undefined && { status }) };
}

/** The project or product of the list, if it has one. */
export function scopeIn(place: FindingPlace) {
  const { project, product } = searchInput(place);
  return { ...(project !== undefined && { project }), ...(product !== undefined && { product }) };
}

/** What links keep, apart from the place in the list. */
export function listQuery(query: URLSearchParams): Record<string, string> {
  return { ...setOf(queryFields(query, names)), ...arrangementIn(query) };
}

/** What the tiles, the ways and the arrangement set, which the form of filters sends again. */
function keptBy(query: URLSearchParams): Record<string, string> {
  return { ...setOf(queryFields(query, ["severity", "exploited", "view"])), ...arrangementIn(query) };
}

function setOf(fields: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  );
}

function filtersOf({ call, project }: FindingPlace, view: View): Filter[] {
  const value = (name: (typeof names)[number]): string => (call.query.get(name) ?? "").trim();
  const named = (name: (typeof names)[number], label: string): Filter[] =>
    value(name) === "" ? [] : [{ name, label, kind: "text", value: value(name) }];
  const ofProject: Filter[] =
    project === null
      ? [{ name: "project", label: "Project", kind: "text", value: value("project") }, ...named("product", "Product")]
      : [];
  if (view === "exploit") return ofProject;
  const fixable = [
    { value: "", label: "Any" },
    { value: "true", label: "With a fix" },
    { value: "false", label: "Without a fix" },
  ];
  return [
    { name: "text", label: "Id or component", kind: "text", value: value("text") },
    statusFilter(value("status")),
    ecosystemFilter(value("ecosystem")),
    { name: "fixable", label: "Fix", kind: "choice", value: value("fixable"), choices: fixable },
    ownerFilter(call, value("owner")),
    ...ofProject,
    ...named("vulnerability", "Vulnerability"),
    ...named("component", "Component"),
  ];
}

/** One's own findings; another owner is a link from a row. */
function ownerFilter({ viewer: { email } }: PageCall, value: string): Filter {
  const choices = [
    { value: "", label: "Anyone" },
    ...(email === null ? [] : [{ value: email, label: "Me" }]),
    ...(value === "" || value === email ? [] : [{ value, label: value }]),
  ];
  return { name: "owner", label: "Owner", kind: "choice", value, choices };
}

// The numbers by severity, and the ways to read the list, as links.

interface LevelLink {
  label: string;
  count: number;
  /** The class of its colour. */
  tone: string;
  /** What the link changes; null: nothing filters by it. */
  field: { name: "severity" | "exploited"; value: string } | null;
}

function severityLinks(counts: FindingCounts, { call }: FindingPlace): Html | null {
  // That list has no such filters: a click leads to the one that has.
  const isUrgent = viewOf(call.query) === "exploit";
  const all: LevelLink[] = [
    ...severities.map((word): LevelLink => ({
      label: word,
      count: counts[word],
      tone: word,
      field: { name: "severity", value: word },
    })),
    ...(counts.unknown === 0 ? [] : [{ label: "not rated", count: counts.unknown, tone: "unrated", field: null }]),
    ...(counts.exploited === null
      ? []
      : [
          {
            label: "exploited",
            count: counts.exploited,
            tone: "exploited",
            field: { name: "exploited", value: "true" },
          } as const,
        ]),
  ];
  const items = all.map(({ label, count, tone, field }) => {
    const words = markup`<span>${label}</span> <strong>${count.toLocaleString("en-US")}</strong>`;
    if (field === null) return markup`<li class="${tone}"><span class="level">${words}</span></li>`;
    const isSet = !isUrgent && call.query.get(field.name) === field.value;
    const query = {
      ...listQuery(call.query),
      [field.name]: isSet ? "" : field.value,
      ...(isUrgent && { view: "" }),
    };
    const state = isSet ? markup` aria-current="true" title="Show all"` : null;
    return markup`<li class="${tone}"><a class="level" href="${address(call.path, query)}"${state}>${words}</a></li>`;
  });
  return markup`<nav class="levels" aria-label="Filter by severity"><ul role="list">${items}</ul></nav>`;
}

const viewLabels: readonly [View, string][] = [
  ["", "Most severe"],
  ["exploit", "Most likely exploited"],
  ["package", "By package"],
  ["vulnerability", "By vulnerability"],
];

function views({ call }: FindingPlace, current: View): Html {
  const items = viewLabels.map(([view, label]) => {
    const path = address(call.path, { ...listQuery(call.query), view });
    return markup`<li><a href="${path}"${view === current ? markup` aria-current="page"` : null}>${label}</a></li>`;
  });
  return markup`<nav aria-label="Order and groups"><ul class="segments" role="list">${items}</ul></nav>`;
}

// The rows.

interface Shown {
  body: Html;
  rows: number;
  /** Whether the rows can be selected. */
  isChosen: boolean;
  /** Chooses columns and order. */
  view: Html | null;
}

async function findings(place: FindingPlace): Promise<Shown> {
  const { call } = place;
  const after = call.query.get("after") ?? "";
  const { data, total, next } = await call.control(findingEndpoints.search, {
    ...searchInput(place),
    ...(after !== "" && { after }),
  });
  const query = listQuery(call.query);
  const counted = total === null || total === data.length ? "" : ` of ${total.toLocaleString("en-US")}`;
  const shown = `${data.length}${counted} ${data.length === 1 && counted === "" ? "finding" : "findings"}`;
  const links = cursorLinks({
    shown,
    firstPath: after === "" ? null : address(call.path, query),
    nextPath: next === null ? null : address(call.path, { ...query, after: next }),
  });
  const isWhole = after === "" && next === null;
  const list = findingTable(data, { place, empty: nothing(place, { next }), isWhole, order: "the most severe first" });
  const body = markup`${list.table}${links ?? (data.length === 0 ? null : markup`<p class="under">${shown}</p>`)}`;
  return { body, rows: data.length, isChosen: true, view: list.view };
}

const urgentShown = "100";

async function urgent(place: FindingPlace): Promise<Shown> {
  const { data } = await place.call.control(findingEndpoints.listUrgent, { ...scopeIn(place), limit: urgentShown });
  const empty = emptyState(
    "Nothing that is open has an EPSS score or is known to be exploited. The operator synchronizes both under Advisories.",
    null,
  );
  const under = markup`<p class="under">The first ${urgentShown} open findings with an EPSS score or in CISA’s catalog of known exploited vulnerabilities.</p>`;
  const isWhole = data.length < Number(urgentShown);
  const list = findingTable(data, { place, empty, isWhole, order: "the most likely exploited first" });
  return {
    body: markup`${list.table}${data.length === 0 ? null : under}`,
    rows: data.length,
    isChosen: true,
    view: list.view,
  };
}

interface Listed {
  place: FindingPlace;
  empty: Html;
  isWhole: boolean;
  order: string;
}

function findingTable(rows: readonly SearchedFinding[], { place, ...shown }: Listed): Pick<Shown, "view"> & { table: Html } {
  const { call, project } = place;
  const choose =
    mayDecide(call) && rows.length > 0
      ? markup`<p><button type="button" class="quiet small" data-chooses-all="finding" hidden>Select all on this page</button> <a href="#triage-title" data-without-script>Triage the selected findings</a></p>`
      : null;
  const ofProject: ListColumn<SearchedFinding>[] =
    project === null
      ? [
          {
            name: "project",
            by: ({ project: name }) => name,
            label: "Project",
            kind: "text",
            cell: ({ project: name, project_id: id }) => markup`<a href="${call.link(`/projects/${id}`)}">${userText(name)}</a>`,
          },
        ]
      : [];
  const nameOf = ({ component, component_version: version }: SearchedFinding): string =>
    `${component}${version === "" ? "" : ` ${version}`}`;
  const columns: ListColumn<SearchedFinding>[] = [
    { name: "vulnerability", label: "Vulnerability", kind: "text", cell: nameCell(call), by: ({ cve_id: id }) => id },
    severityColumn,
    ...exploitColumns,
    { name: "component", label: "Component", kind: "text", cell: nameOf, by: nameOf },
    { name: "fix", label: "Fixed in", kind: "text", cell: ({ fix_version: fix }) => fix, by: ({ fix_version: fix }) => fix },
    ...ofProject,
    {
      name: "seen",
      label: "First seen",
      kind: "time",
      cell: ({ first_seen: at }) => time(at),
      by: ({ first_seen: at }) => at,
    },
    { name: "status", label: "Status", kind: "badge", cell: (row) => statusCell(row, place), by: ({ status }) => status },
  ];
  const { table, view } = arrangedList({ caption: "Findings", columns, rows, ...shown }, call);
  return { table: markup`${choose}${table}`, view };
}

function nameCell(call: PageCall): (row: SearchedFinding) => Html {
  const chosen = call.refused === null ? new Set() : chosenIds(call.refused.form);
  return (row) => {
    const { id, cve_id: cve, component } = row;
    const link = markup`<a href="${call.link(`/findings/${id}`)}">${userText(cve)}</a>`;
    // A long id may break.
    const whole = cve.length > 20 ? null : markup` class="whole"`;
    if (!mayDecide(call)) return markup`<span${whole}>${link}</span>`;
    const checked = chosen.has(id) ? markup` checked` : null;
    return markup`<span${whole}><input type="checkbox" name="finding" value="${chosenValue(row)}" form="${bulkFormId}" aria-label="Select ${cve} in ${component}"${checked} autocomplete="off" /> ${link}</span>`;
  };
}

/** The status, and beneath it who owns it and until when its risk is accepted. */
function statusCell(row: SearchedFinding, { call }: FindingPlace): Html {
  const { owner, accepted_until: until } = row;
  const ended = until === null ? null : markup`<div class="under">until ${day(until)}</div>`;
  const owned =
    owner === null
      ? null
      : markup`<div class="under"><a href="${address(call.path, { ...listQuery(call.query), owner })}">${userText(owner)}</a></div>`;
  return markup`${statusBadge(row)}${ended}${owned}`;
}

function nothing({ call, project, empty }: FindingPlace, { next }: { next: string | null }): Html {
  if (next !== null)
    return emptyState("None of the findings that were searched for this page matches. There are more to search.", null);
  if (Object.keys(queryFields(call.query, names)).some((name) => name !== "view"))
    return emptyState(
      "No finding matches these filters.",
      markup`<a class="button quiet" href="${call.path}">Show all that are open</a>`,
    );
  const upload =
    mayDecide(call) && project === null
      ? markup`<a class="button" href="${call.link("/projects/new")}">Upload an SBOM</a>`
      : null;
  return emptyState(empty ?? "Nothing is open. Findings appear when a scan finds a vulnerability in a project's SBOM.", upload);
}

// The same findings by package or by vulnerability.

async function groups(place: FindingPlace, by: "package" | "vulnerability"): Promise<Shown> {
  const { call } = place;
  const offset = String(skippedRows(call));
  const found = await call.control(findingEndpoints.group, { ...searchInput(place), by, limit: String(pageRows + 1), offset });
  const cut = found.whole
    ? null
    : notice({
        tone: "neutral",
        words: `There are more findings: these are the groups of the ${findingsGroupedMax.toLocaleString("en-US")} most severe ones.`,
      });
  const links =
    found.data.length === 0
      ? null
      : rowsLinks(call, {
          found: found.data.length,
          what: by === "package" ? "Packages" : "Vulnerabilities",
          filters: listQuery(call.query),
        });
  const list = arrangedList(
    {
      caption: by === "package" ? "Packages with findings" : "Vulnerabilities with findings",
      columns: groupColumns(place, by),
      rows: found.data.slice(0, pageRows),
      empty: nothing(place, { next: null }),
      isWhole: found.whole && offset === "0" && found.data.length <= pageRows,
      order: "the most severe first",
    },
    call,
  );
  const body = markup`${cut}${list.table}${links}${found.data.length === 0 ? null : markup`<p class="under">${found.total.toLocaleString("en-US")} in all</p>`}`;
  return { body, rows: found.data.length, isChosen: false, view: list.view };
}

function groupColumns({ call }: FindingPlace, by: "package" | "vulnerability"): ListColumn<FindingGroupView>[] {
  const listed = (query: Record<string, string>): string => address(call.path, { ...listQuery(call.query), view: "", ...query });
  const count = (name: string, label: string, of: (row: FindingGroupView) => number): ListColumn<FindingGroupView> => {
    return { name, label, kind: "number", cell: (row) => of(row).toLocaleString("en-US"), by: of };
  };
  const named: ListColumn<FindingGroupView> =
    by === "package"
      ? {
          name: "package",
          by: ({ component }) => component,
          label: "Package",
          kind: "text",
          cell: ({ component, ecosystem }) =>
            markup`<a href="${listed({ component: component ?? "" })}">${userText(component ?? "")}</a> <span class="under">${ecosystemName(ecosystem)}</span>`,
        }
      : {
          name: "vulnerability",
          by: ({ cve_id: id }) => id,
          label: "Vulnerability",
          kind: "text",
          cell: ({ cve_id: id }) => markup`<a href="${listed({ vulnerability: id ?? "" })}">${userText(id ?? "")}</a>`,
        };
  const others =
    by === "package"
      ? count("vulnerabilities", "Vulnerabilities", ({ vulnerabilities }) => vulnerabilities)
      : count("packages", "Packages", ({ packages }) => packages);
  return [
    named,
    { ...severityColumn, label: "Worst" },
    ...exploitColumns,
    count("findings", "Findings", ({ findings: one }) => one),
    others,
    count("fixable", "With a fix", ({ fixable }) => fixable),
    count("projects", "Projects", ({ projects }) => projects),
  ];
}
