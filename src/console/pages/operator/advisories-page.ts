/**
 * What the service knows about each ecosystem, how old that is, and how to get what is missing: by the service itself, or from archives if
 * it has no internet access. While a synchronization runs, the page reloads itself and leaves out whatever would read every record.
 */
import { osvArchives } from "../../../config.ts";
import { advisoryEndpoints, type SyncState } from "../../../control-api/endpoints/advisories.ts";
import { markup, type Html } from "../../../http/html.ts";
import { asset } from "../../../http/page.ts";
import { advisoriesUpdatedAt, type EcosystemAge } from "../../../security/advisories/ecosystem-ages.ts";
import { exploitSources } from "../../../security/advisories/sync-store.ts";
import type { ExploitAge } from "../../../security/findings/lists/exploits.ts";
import { advisoryStaleMs } from "../../../security/limits.ts";
import { ecosystems } from "../../../security/versions/ecosystem.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { badge, facts, notice, section, table, time } from "../../look/parts.ts";
import { form } from "../../look/forms.ts";
import { agoText, incomplete } from "../security/knowledge.ts";

export const advisoriesPage: Page = {
  of: "operator",
  path: "/advisories",
  navigation: { section: "Operator", label: "Advisories", icon: "vulnerabilities" },
  roles: [],
  scripts: [asset("script", [new URL("advisories.js", import.meta.url)])],
  render,
  actions: { sync },
};

/** Without numbers while a synchronization runs. */
type Row = EcosystemAge & { updatedAt: string | null; records: number | null; projects: number | null };

async function render(call: PageCall): Promise<PageContent> {
  const { data: ages, exploits } = await call.control(advisoryEndpoints.list);
  const last = await call.control(advisoryEndpoints.showSync);
  // While it runs, this page keeps reloading, and a count reads every record.
  const counts = last.running ? [] : (await call.control(advisoryEndpoints.count)).data;
  const rows = ages.map((age): Row => {
    const counted = counts.find(({ ecosystem }) => ecosystem === age.ecosystem);
    return {
      ...age,
      updatedAt: advisoriesUpdatedAt(age),
      records: last.running ? null : (counted?.records ?? 0),
      projects: last.running ? null : (counted?.projects ?? 0),
    };
  });
  return {
    title: "Advisories",
    lead: "An advisory says which versions of a package are vulnerable. Projects are compared only with the advisories listed here.",
    main: markup`${last.running ? null : needed(rows)}${last.running ? null : unfinished(rows)}${outdated(exploits, call)}${list(rows, last, call)}
      ${section("exploits", "What is exploited", exploitList(exploits, last, call))}
      ${section("sync", "Synchronize", markup`${state(last)}${last.running ? null : syncForm(call, rows)}`)}
      ${section("daily", "Every day", daily(last))}`,
  };
}

/** What to get first. */
function needed(rows: readonly Row[]): Html | null {
  const names = rows
    .filter((row) => isMissing(row) && row.sync_began_at === null)
    .map(({ ecosystem, projects }) => `${ecosystem} (${projects} ${projects === 1 ? "project" : "projects"})`);
  if (names.length > 0)
    return notice({
      tone: "warn",
      words: `Projects have components without advisories, so nothing is found in them: ${names.join(", ")}.`,
    });
  if (rows.every(({ updatedAt, sync_began_at: began }) => updatedAt === null && began === null))
    return notice({
      tone: "warn",
      words: "There are no advisories yet: no vulnerability can be found. Get those of the ecosystems that you use.",
    });
  return null;
}

function unfinished(rows: readonly Row[]): Html | null {
  const words = incomplete(rows);
  return words === null ? null : notice({ tone: "warn", words });
}

function list(rows: readonly Row[], { results }: SyncState, { nowMs }: PageCall): Html {
  return table<Row>({
    caption: "Advisories by ecosystem",
    columns: [
      { label: "Ecosystem", kind: "text", cell: ({ ecosystem }) => ecosystem },
      { label: "State", kind: "badge", cell: (row) => stateBadge(row, nowMs) },
      { label: "Advisories", kind: "number", cell: ({ records }) => records?.toLocaleString("en-US") ?? null },
      { label: "Updated", kind: "text", cell: ({ updatedAt }) => (updatedAt === null ? null : agoText(updatedAt, nowMs)) },
      { label: "Synchronized", kind: "time", cell: ({ synced_at: at }) => time(at) },
      { label: "Projects", kind: "number", cell: ({ projects }) => projects },
      {
        label: "Last result",
        kind: "text",
        cell: ({ ecosystem }) => resultText(results.find((one) => one.ecosystem === ecosystem)),
      },
    ],
    rows,
    empty: markup``,
  });
}

const exploitNames = { EPSS: "EPSS scores", KEV: "CISA's catalog (KEV)" };

/** What findings are ranked by although it is old; null: nothing. */
function outdated(exploits: readonly ExploitAge[], { nowMs }: PageCall): Html | null {
  const old = exploits.flatMap(({ source, updated_at: at }) =>
    at !== null && isOld(at, nowMs) ? [`${exploitNames[source]}, ${agoText(at, nowMs)}`] : [],
  );
  if (old.length === 0) return null;
  return notice({ tone: "warn", words: `Findings are ranked by what is old: ${old.join("; ")}. Synchronize to update it.` });
}

function exploitList(exploits: readonly ExploitAge[], { results }: SyncState, { nowMs }: PageCall): Html {
  return table<ExploitAge>({
    caption: "EPSS scores and CISA's catalog",
    columns: [
      { label: "Source", kind: "text", cell: ({ source }) => exploitNames[source] },
      { label: "State", kind: "badge", cell: ({ updated_at: at }) => ageBadge(at, nowMs) },
      { label: "CVE ids", kind: "number", cell: ({ rows }) => rows.toLocaleString("en-US") },
      { label: "File of", kind: "text", cell: ({ file_date: date }) => date },
      { label: "Updated", kind: "text", cell: ({ updated_at: at }) => (at === null ? null : agoText(at, nowMs)) },
      { label: "Synchronized", kind: "time", cell: ({ synced_at: at }) => time(at) },
      { label: "Last result", kind: "text", cell: ({ source }) => resultText(results.find((one) => one.ecosystem === source)) },
    ],
    rows: exploits,
    empty: markup``,
  });
}

function isOld(at: string, nowMs: number): boolean {
  return nowMs - Date.parse(at) > advisoryStaleMs;
}

function ageBadge(at: string | null, nowMs: number): Html {
  if (at === null) return badge("neutral", "none");
  return isOld(at, nowMs) ? badge("warn", "old") : badge("good", "current");
}

function isMissing({ updatedAt, projects }: Row): boolean {
  return updatedAt === null && projects !== null && projects > 0;
}

function stateBadge(row: Row, nowMs: number): Html {
  const { updatedAt, sync_began_at: began } = row;
  if (began !== null) return badge("warn", "incomplete");
  return updatedAt === null && isMissing(row) ? badge("bad", "missing") : ageBadge(updatedAt, nowMs);
}

function resultText(result: SyncState["results"][number] | undefined): string | null {
  if (result === undefined) return null;
  if (result.failure !== null) return result.failure;
  const refused = result.refused === 0 ? "" : `, ${result.refused.toLocaleString("en-US")} refused`;
  return result.imported === 0 && result.refused === 0
    ? "unchanged"
    : `${result.imported.toLocaleString("en-US")} imported${refused}`;
}

function state({ running, started_at: started, ended_at: ended, progress, failure, results }: SyncState): Html | null {
  if (running)
    return markup`<div data-sync-running>${notice({ tone: "neutral", words: `A synchronization is running: ${progress ?? ""}` })}</div>
      <p class="under">It began ${time(started)}. Load this page again to see how far it is.</p>`;
  if (started === null) return null;
  return markup`${verdict({ failure, refused: results.reduce((sum, one) => sum + one.refused, 0) })}${facts([
    ["Began", time(started)],
    ["Ended", time(ended)],
  ])}`;
}

function verdict({ failure, refused }: { failure: string | null; refused: number }): Html {
  if (failure !== null) return notice({ tone: "bad", words: `The last synchronization failed. ${failure}` });
  if (refused === 0) return notice({ tone: "good", words: "The last synchronization imported everything." });
  const records = `${refused.toLocaleString("en-US")} ${refused === 1 ? "record" : "records"}`;
  return notice({
    tone: "warn",
    words: `The last synchronization imported everything but ${records}, which could not be read.`,
  });
}

const all = "all";

function syncForm(call: PageCall, rows: readonly Row[]): Html {
  const first = rows.find(isMissing);
  const choices = [
    { value: all, label: "Everything" },
    ...ecosystems.map((name) => ({ value: name, label: name })),
    ...exploitSources.map((name) => ({ value: name, label: exploitNames[name] })),
  ];
  return markup`<p>The service downloads what OSV, EPSS and CISA publish, or the mirror of <code>ADVISORIES_URL</code>: of all ecosystems some GB the first time, later only what
    changed. Then it compares the projects again.</p>${form({
      id: "sync",
      action: call.path,
      hidden: hiddenFields(call, "sync"),
      fields: [{ name: "ecosystem", label: "What", kind: "choice", choices, required: true }],
      state: formState(call, { action: "sync", values: { ecosystem: first?.ecosystem ?? all } }),
      submit: "Sync now",
    })}`;
}

function daily({ daily: isDaily }: SyncState): Html {
  const named = markup`<p>One begins automatically each day, for the ecosystems that are in use, EPSS and CISA's catalog.</p>`;
  const unnamed = markup`<p>None begins automatically. Set <code>ADVISORIES_URL=${osvArchives}</code>, or the address of a mirror, and one begins
    each day; or let cron run <code>weir advisories sync</code> each night.</p>`;
  return markup`${isDaily ? named : unnamed}
    <p>Without internet access, <code>weir advisories import FILE</code> imports archives that were downloaded elsewhere.</p>`;
}

async function sync(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const chosen = typed.text("ecosystem");
  await call.control(advisoryEndpoints.startSync, chosen === all || chosen === "" ? {} : { ecosystems: [chosen] });
  return { goTo: call.path, said: `The synchronization of ${chosen === all ? "everything" : chosen} has begun.` };
}
