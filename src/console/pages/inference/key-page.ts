/**
 * One key: what it is, what it may spend and has spent, its last requests, and how to use it. The dialogs change and revoke it. The key is
 * masked: it is shown in full only once, when it is created. A revoked key stays readable and cannot come back.
 */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { keyEndpoints } from "../../../control-api/endpoints/keys.ts";
import { refusalEndpoints } from "../../../control-api/endpoints/refusals.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { chartScript } from "../../look/charts.ts";
import { address, confirmForm, form } from "../../look/forms.ts";
import { badge, codeSamples, dialog, opener, section, time, userText } from "../../look/parts.ts";
import { idToCopy, limitMeters, thingPage, type ThingFacts } from "../../look/thing.ts";
import { actDialog, formState, hiddenFields, shownValues } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { changesFact } from "../workspace/audit-page.ts";
import { memberPath } from "../workspace/member.ts";
import { zoneScript } from "./day-zone.ts";
import { limitFields, limitsIn, scopeName, toolsLimitFields, valuesOf, spent, spentToday } from "./keys-page.ts";
import { lastRequests } from "./request-columns.ts";
import { samplesFor, toolsSamplesFor } from "./request-samples.ts";
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
  const editing = actDialog(call, {
    action: "edit",
    label: "Edit",
    title: `Edit “${key.name}”`,
    body: editForm(key, call),
    guards: true,
  });
  const revoking = { id: "revoke", title: `Revoke “${key.name}”?`, body: revokeForm(key, call), asks: null };
  const revokes = opener({ dialog: "revoke", path: call.link(`${pathOf(call)}/revoke`), label: "Revoke", quiet: true });
  return {
    title: key.name,
    trail: [{ path: call.link("/keys"), label: "Keys" }],
    badge: key.revoked_at === null ? badge("good", "active") : badge("bad", "revoked"),
    actions: mayChange ? markup`${editing.button}${revokes}` : null,
    main: markup`${mayChange ? markup`${editing.dialog}${dialog(revoking)}` : null}
      ${thingPage({ facts: keyFacts(key, call), main: await keyParts(key, call) })}`,
  };
}

/** A tools key spends nothing, and its calls are not in the log. */
async function keyParts(key: KeyView, call: PageCall): Promise<Html> {
  if (key.kind === "tools") return markup`${uses(key, call)}`;
  const [chart, requests] = await Promise.all([keyChart(key, call), keyRequests(key, call)]);
  return markup`${keyLimits(key)}${chart}${requests}${uses(key, call)}`;
}

async function keyChart(key: KeyView, call: PageCall): Promise<Html> {
  const asked = usageAsked(call, { usual: "30d", groups: ["model"], only: { key: key.id } });
  const limits = { day: key.daily_spend_limit_usd, month: key.monthly_spend_limit_usd };
  return usageChart(call, { asked, view: await readUsageChart(call, asked), limits });
}

/** Calls with the key that were refused in the last 24 hours. */
async function refusedLately(id: string, call: PageCall): Promise<number> {
  const from = isoTime(call.nowMs - 86_400_000);
  return (await call.control(refusalEndpoints.count, { key: id, from })).calls;
}

function keyFacts(key: KeyView, call: PageCall): ThingFacts {
  const owner = markup`<a href="${call.link(memberPath(key.owner))}">${userText(key.owner)}</a>`;
  return [
    ["Scope", scopeName(key)],
    ["Owner", owner],
    ["Key", markup`<code class="whole">${key.masked}</code>`],
    ["Id", idToCopy({ id: "key-id", value: key.id, what: "the id" })],
    ["Requests a minute", key.rate_limit_rpm ?? "default"],
    ["Created", time(key.created_at)],
    ["Last used", time(key.last_used_at)],
    ...changesFact(key.id, call),
    ...(key.revoked_at === null ? [] : [["Revoked", time(key.revoked_at)] as const]),
  ];
}

function keyLimits(key: KeyView): Html | null {
  return limitMeters([
    ["Spent this month", spent(key)],
    ["Spent today", spentToday(key)],
  ]);
}

async function keyRequests({ id }: KeyView, call: PageCall): Promise<Html> {
  const refused = await refusedLately(id, call);
  const ofKey = (status: string): string => address(call.link("/requests"), { key: id, status });
  const after = markup`<p><a href="${ofKey("")}">All requests of this key</a>, <a href="${ofKey("refused")}">${refused.toLocaleString("en-US")} refused</a> in the last 24 hours</p>`;
  return lastRequests(call, { only: { key: id }, of: "key", after });
}

/** How to use it, with a placeholder for the key, which no page knows. */
function uses({ kind, revoked_at: revoked }: KeyView, call: PageCall): Html | null {
  if (revoked !== null) return null;
  const { publicUrl } = call;
  const { slug } = call.parts.control;
  const samples =
    kind === "tools"
      ? codeSamples({ id: "sample", legend: "Set up a client", samples: toolsSamplesFor({ publicUrl, slug, key: null }) })
      : codeSamples({ id: "sample", legend: "A request", samples: samplesFor({ publicUrl, key: "$WEIR_KEY" }) });
  return section("use", "Use this key", samples);
}

function editForm(key: KeyView, call: PageCall): Html {
  const values = valuesOf(key);
  return form({
    id: "edit-key",
    action: call.link(pathOf(call)),
    hidden: hiddenFields(call, "edit", { kind: key.kind, ...shownValues(values) }),
    fields: key.kind === "tools" ? toolsLimitFields : limitFields,
    state: formState(call, { action: "edit", values }),
    submit: "Save",
    cancelPath: call.link(pathOf(call)),
  });
}

function revokeForm({ name, masked, last_used_at: used }: KeyView, call: PageCall): Html {
  const warning = markup`The key ${userText(name)} (<code>${masked}</code>) stops working within 30 seconds. It was ${used === null ? "never used" : markup`last used ${time(used)}`}. This cannot be undone.`;
  return confirmForm({
    id: "revoke-key",
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
  const path = call.link(pathOf(call));
  const changes = limitsIn(typed, typed.text("kind") === "tools" ? "tools" : "inference");
  if (Object.keys(changes).length === 0) return { goTo: path, said: "Nothing was changed." };
  await call.control(keyEndpoints.edit, { id: call.params["id"] ?? "", ...changes });
  return { goTo: path, said: "The key is saved. The change is in force within 30 seconds." };
}

async function revoke(call: PageCall): Promise<ActionResult> {
  const { name } = await call.control(keyEndpoints.revoke, { id: call.params["id"] ?? "" });
  return { goTo: call.link("/keys?tab=revoked"), said: `The key “${name}” is revoked.` };
}
