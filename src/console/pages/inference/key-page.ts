/**
 * One key: what it is, how to use it, and how to change or revoke it. The key is masked: it is shown in full only once, when it is created.
 * A revoked key stays readable and cannot come back.
 */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { chartScript } from "../../look/charts.ts";
import { address, confirmForm, form } from "../../look/forms.ts";
import { badge, codeSamples, dialog, opener, facts, section, time, userText } from "../../look/parts.ts";
import { limitFields, limitsIn, toolsLimitFields, valuesOf, spent, spentToday } from "./keys-page.ts";
import { zoneScript } from "./day-zone.ts";
import { samplesFor } from "./request-samples.ts";
import { readUsageChart, usageAsked, usageChart } from "./usage-chart.ts";

const shared = { of: "workspace", navigation: null, roles: ["member", "auditor", "admin", "super_admin"] } as const;

export const keyPage: Page = {
  ...shared,
  path: "/keys/:id",
  scripts: [zoneScript, chartScript],
  render,
  actions: { edit, revoke },
};

/** For browsers without script, where the dialog cannot open. */
export const revokeKeyPage: Page = { ...shared, path: "/keys/:id/revoke", render: renderRevoke, actions: { revoke } };

const pathOf = ({ params }: PageCall): string => `/keys/${encodeURIComponent(params["id"] ?? "")}`;

async function render(call: PageCall): Promise<PageContent> {
  const key = await call.control(keyEndpoints.show, { id: call.params["id"] ?? "" });
  const mayChange = key.revoked_at === null && call.workspace.role !== "auditor";
  const revoking = { id: "revoke", title: `Revoke “${key.name}”?`, body: revokeForm(key, call), asks: null };
  return {
    title: key.name,
    trail: [{ path: call.link("/keys"), label: "Keys" }],
    badge: key.revoked_at === null ? badge("good", "active") : badge("bad", "revoked"),
    actions: mayChange
      ? opener({ dialog: "revoke", path: call.link(`${pathOf(call)}/revoke`), label: "Revoke", quiet: true })
      : null,
    main: markup`${keyFacts(key, call, await refusedLately(key, call))}${key.kind === "tools" ? null : await keyChart(key, call)}
      ${mayChange ? section("change", "Edit this key", editForm(key, call)) : null}
      ${key.kind === "tools" ? null : section("use", "Use this key", codeSamples({ id: "sample", legend: "A request", samples: samplesFor({ publicUrl: call.publicUrl, key: "$WEIR_KEY" }) }))}
      ${mayChange ? dialog(revoking) : null}`,
  };
}

async function keyChart(key: KeyView, call: PageCall): Promise<Html> {
  const asked = usageAsked(call, { usual: "30d", groups: ["model"], only: { key: key.id } });
  const limits = { day: key.daily_spend_limit_usd, month: key.monthly_spend_limit_usd };
  return usageChart(call, { asked, view: await readUsageChart(call, asked), limits });
}

/** Calls with the key that were refused in the last 24 hours. */
async function refusedLately({ id, kind }: KeyView, call: PageCall): Promise<number> {
  if (kind === "tools") return 0;
  const from = isoTime(call.nowMs - 86_400_000);
  return (await call.control(refusalEndpoints.count, { key: id, from })).calls;
}

function keyFacts(key: KeyView, call: PageCall, refused: number): Html {
  const ofKey = (status: string): string => address(call.link("/requests"), { key: key.id, status });
  const requests = markup`<a href="${ofKey("")}">See its requests</a>, <a href="${ofKey("refused")}">${refused.toLocaleString("en-US")} refused</a> in the last 24 hours`;
  return facts([
    ["Key", markup`<code>${key.masked}</code>`],
    ["Opens", key.kind === "tools" ? "the tools API and MCP" : "the inference API"],
    ["Owner", key.owner],
    ["Spent this month", spent(key)],
    ...(key.day_spent_usd === null ? [] : [["Spent today", spentToday(key)] as const]),
    ["Requests a minute", key.rate_limit_rpm ?? "the default"],
    ["Created", time(key.created_at)],
    ["Last used", time(key.last_used_at)],
    ...(key.revoked_at === null ? [] : [["Revoked", time(key.revoked_at)] as const]),
    ...(key.kind === "tools" ? [] : [["Requests", requests] as const]),
  ]);
}

function editForm(key: KeyView, call: PageCall): Html {
  return form({
    id: "edit",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "edit", { kind: key.kind }),
    fields: key.kind === "tools" ? toolsLimitFields : limitFields,
    state: formState(call, { action: "edit", values: valuesOf(key) }),
    submit: "Save",
  });
}

function revokeForm({ name, masked, last_used_at: used }: KeyView, call: PageCall): Html {
  const warning = markup`The key ${userText(name)} (<code>${masked}</code>) stops working within 30 seconds. It was ${used === null ? "never used" : markup`last used ${time(used)}`}. This cannot be undone.`;
  return confirmForm({
    id: "revoke",
    warning,
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "revoke"),
    submit: "Revoke",
    cancelPath: call.link(pathOf(call)),
  });
}

async function renderRevoke(call: PageCall): Promise<PageContent> {
  const key = await call.control(keyEndpoints.show, { id: call.params["id"] ?? "" });
  return {
    title: `Revoke “${key.name}”?`,
    trail: [
      { path: call.link("/keys"), label: "Keys" },
      { path: call.link(pathOf(call)), label: key.name },
    ],
    main: key.revoked_at === null ? revokeForm(key, call) : markup`<p>The key is revoked already.</p>`,
  };
}

async function edit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  await call.control(keyEndpoints.edit, {
    id: call.params["id"] ?? "",
    ...limitsIn(typed, typed.text("kind") === "tools" ? "tools" : "inference"),
  });
  return { goTo: call.link(pathOf(call)), said: "The key is saved. The change is in force within 30 seconds." };
}

async function revoke(call: PageCall): Promise<ActionResult> {
  const { name } = await call.control(keyEndpoints.revoke, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/keys?tab=revoked"), said: `The key “${name}” is revoked.` };
}
