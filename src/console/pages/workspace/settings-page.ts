/**
 * The settings of a workspace: each says what it will do before it is saved. Only the values that differ from what the form showed are
 * saved, so that two people do not undo each other's changes. Stored prompts are also deleted here.
 */
import { DomainError } from "../../../accounts/errors.ts";
import { managers, overseers } from "../../../accounts/audit/actor.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { promptEndpoints } from "../../../control-api/endpoints/log.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import { promptDeletionMsMax } from "../../../control-api/limits.ts";
import type { StoppedModel } from "../../../gateway/own-keys/requirements.ts";
import type { PromptCount } from "../../../gateway/prompts/prompts.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formState, hiddenFields, isChanged, shownValues, signInFirst } from "../../page-forms.ts";
import type { FormFields, ActionResult, PageCall, Page, PageContent } from "../../page.ts";
import { pageDeadlineMs } from "../../limits.ts";
import { type Field, form } from "../../look/forms.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { badge, facts, section, dialog, opener, money, userText, time } from "../../look/parts.ts";
import { limitMeters } from "../../look/thing.ts";
import { roleName } from "../../viewer.ts";
import { type Setting, type SettingGroup, settingGroups, settingValues } from "./setting-groups.ts";
import { topUpSection } from "./payment.ts";

const appliesSoon = "The settings are saved. They apply within 30 seconds.";

export const settingsPage: Page = {
  of: "workspace",
  path: "/settings",
  navigation: { section: "Workspace", label: "Settings", icon: "settings" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: Object.fromEntries(settingGroups.map((group) => [group.action, saveGroup(group)])),
};

async function render(call: PageCall): Promise<PageContent> {
  const { id, role } = call.workspace;
  const workspace = await call.control(workspaceEndpoints.show, { id });
  const { data: stopped } = await call.control(workspaceEndpoints.listStoppedModels, { id });
  const oversees = role === "operator" || overseers.includes(role);
  const stored = oversees ? await call.control(promptEndpoints.count) : null;
  const manages = role === "operator" || managers.includes(role);
  const changes = ({ ofTheOperator }: SettingGroup): boolean => (ofTheOperator ? role === "operator" : manages);
  const bodyOf = (group: SettingGroup): Html => {
    if (!changes(group)) return groupFacts(group, workspace);
    const form = groupForm(group, workspace, call);
    return group.action === "prompts" && stored !== null ? promptsForm(form, stored, call) : form;
  };
  const parts = settingGroups.map((group) =>
    section(group.action, group.title, markup`${introOf(group, { workspace, stopped, stored })}${bodyOf(group)}`),
  );
  return {
    title: "Settings",
    lead: "They apply to the whole workspace. Every change is in the audit log.",
    main: markup`${reasonFor(role)}<div class="indexed">${index()}
      <div>${parts.slice(0, 1)}${await topUpSection(call)}${parts.slice(1)}</div></div>`,
  };
}

/** Leads to each group, since the page is long. */
function index(): Html {
  const links = settingGroups.map(({ action, title }) => markup`<li><a href="#${action}-title">${title}</a></li>`);
  return markup`<nav class="index" aria-label="Settings"><ul role="list">${links}</ul></nav>`;
}

function reasonFor(role: PageCall["workspace"]["role"]): Html | null {
  if (role === "operator") return null;
  const words = managers.includes(role)
    ? "Only the operator changes Platform and Early access."
    : `Only admins change settings. Your role is ${roleName(role).toLowerCase()}.`;
  return markup`<p class="hint">${words}</p>`;
}

function introOf(
  { action }: SettingGroup,
  { workspace, stopped, stored }: { workspace: WorkspaceView; stopped: readonly StoppedModel[]; stored: PromptCount | null },
): Html | null {
  if (action === "prompts") return stored && markup`<p>${countWords(stored)}</p>`;
  if (action === "spending") {
    const { month_spent_usd: month, day_spent_usd: today, reserved_usd: reserved } = workspace;
    const ofMonth = { limit: workspace.spend_limit_usd, spent: month, reserved, left: workspace.month_left_usd };
    const ofDay = { limit: workspace.daily_spend_limit_usd, reserved, left: workspace.day_left_usd };
    return limitMeters([
      ["Spent this month", limitMeter(ofMonth)],
      ["Spent today", today === null ? null : limitMeter({ ...ofDay, spent: today })],
      ["Credit left", money(workspace.available_usd ?? workspace.balance_usd)],
    ]);
  }
  if (action === "early")
    return markup`<p class="hint">While a feature is off, its requests are refused and its page is not available.</p>`;
  return action === "data" ? stoppedList(stopped, workspace.zero_data_retention) : null;
}

/** The models that zero data retention stops, or has stopped. */
function stoppedList(models: readonly StoppedModel[], isOn: boolean): Html {
  if (models.length === 0)
    return markup`<p>Zero data retention stops no model: each callable one has a provider that stores nothing.</p>`;
  const count = `${models.length} ${models.length === 1 ? "model" : "models"}`;
  const words = isOn ? `Zero data retention is on, and stops ${count}` : `Zero data retention would stop ${count}`;
  const items = models.map(({ name, id, provider }) => markup`<li>${userText(name)} <code>${id}</code> of ${provider}</li>`);
  return markup`<div class="field"><details><summary>${words}</summary><ul>${items}</ul></details></div>`;
}

/** Settings that delete prompts require a recent sign-in. */
function promptsForm(form: Html, stored: PromptCount, call: PageCall): Html {
  const again = signInFirst(call, "delete prompts or change how long they are kept");
  return again ?? markup`${form}${stored.oldest_at === null ? null : deletePromptsDialog(stored, call)}`;
}

function groupForm({ action, settings }: SettingGroup, workspace: WorkspaceView, call: PageCall): Html {
  const values = settingValues(workspace);
  const shown = shownValues(Object.fromEntries(settings.map(({ name }) => [name, values[name] ?? ""])));
  const fields = settings.map(({ name, label, hint, kind }): Field => ({ kind, name, label, hint }));
  return form({
    id: action,
    action: call.path,
    hidden: hiddenFields(call, action, shown),
    fields,
    state: formState(call, { action, values }),
    submit: "Save",
  });
}

function groupFacts({ settings }: SettingGroup, workspace: WorkspaceView): Html {
  return facts(
    settings.map((setting) => [
      setting.label,
      markup`${settingState(setting, workspace)} <span class="under">${setting.hint}</span>`,
    ]),
  );
}

function settingState({ kind, name }: Setting, workspace: WorkspaceView): Html {
  if (kind === "money") return money(settingValues(workspace)[name] || null);
  if (kind === "whole") return markup`${settingValues(workspace)[name] || "until they are deleted"}`;
  return settingValues(workspace)[name] === "true" ? badge("good", "on") : badge("neutral", "off");
}

// Saving a group.

function saveGroup({ settings, said = appliesSoon }: SettingGroup) {
  return async (call: PageCall, typed: FormFields): Promise<ActionResult> => {
    const changed = settings.filter(({ name }) => isChanged(typed, name));
    if (changed.length === 0) return { goTo: call.path, said: "Nothing was changed." };
    const { id } = call.workspace;
    await call.control(workspaceEndpoints.edit, {
      id,
      ...(await editOf(changed, typed, () => call.control(workspaceEndpoints.show, { id }))),
    });
    return { goTo: call.path, said };
  };
}

async function editOf(changed: readonly Setting[], typed: FormFields, current: () => Promise<WorkspaceView>) {
  const edit: Record<string, unknown> = {};
  const switched = new Map<string, boolean>();
  for (const { name, kind } of changed) {
    const [field, feature] = name.split(".");
    const value = typed.text(name);
    if (feature !== undefined) switched.set(feature, value === "true");
    else if (field !== undefined) edit[field] = fieldOf(kind, value);
  }
  if (switched.size === 0) return edit;
  const others = (await current()).early_access.filter((feature) => !switched.has(feature));
  return { ...edit, early_access: [...others, ...[...switched].flatMap(([feature, on]) => (on ? [feature] : []))] };
}

/** A value that is not a number stays text, which the control API refuses by the field's name. */
function fieldOf(kind: Setting["kind"], value: string): boolean | number | string | null {
  if (kind === "check") return value === "true";
  if (value === "") return null;
  return kind === "whole" && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

// Deleting stored prompts older than a day: the confirmation, as a dialog or a separate page.

const path = "/settings/delete-prompts";

/** The dialog's form is sent here too. */
export const deletePromptsPage: Page = {
  of: "workspace",
  path,
  navigation: null,
  roles: ["admin", "super_admin"],
  // Millions are deleted in batches. The next deletion removes what an interrupted one left.
  deadlineMs: promptDeletionMsMax + pageDeadlineMs,
  render: renderDelete,
  actions: { "delete-prompts": deletePrompts },
};

/** How many prompts are stored, and since when. */
function countWords({ count, more, oldest_at: oldest }: PromptCount): Html {
  if (oldest === null) return markup`No prompt is stored.`;
  if (more) return markup`More than ${count.toLocaleString("en-US")} prompts are stored, the oldest from ${time(oldest)}.`;
  if (count === 1) return markup`One prompt is stored, from ${time(oldest)}.`;
  return markup`${count.toLocaleString("en-US")} prompts are stored, the oldest from ${time(oldest)}.`;
}

/** The button and its dialog. Callers check beforehand whether a new sign-in is needed. */
function deletePromptsDialog(stored: PromptCount, call: PageCall): Html {
  const body = deleteForm(stored, call);
  return markup`<p>${opener({ dialog: "delete-prompts", path: call.link(path), label: "Delete all before…", quiet: true })}</p>
    ${dialog({ id: "delete-prompts", title: "Delete stored prompts", body, asks: null })}`;
}

async function renderDelete(call: PageCall): Promise<PageContent> {
  const stored = await call.control(promptEndpoints.count);
  return {
    title: "Delete stored prompts",
    trail: [{ path: call.link("/settings"), label: "Settings" }],
    main: markup`${signInFirst(call, "delete them") ?? deleteForm(stored, call)}`,
  };
}

function deleteForm(stored: PromptCount, call: PageCall): Html {
  return markup`<p class="warning">The prompts and answers of all requests before the day are deleted. This cannot be undone. The requests stay in the log.</p>
    <p>${countWords(stored)}</p>
    ${form({
      id: "delete-prompts",
      action: call.link(path),
      hidden: hiddenFields(call, "delete-prompts"),
      fields: [
        {
          kind: "date",
          name: "before",
          label: "Delete all before",
          hint: "Days begin at 00:00 UTC. A day after today deletes all.",
          required: true,
        },
      ],
      state: formState(call, { action: "delete-prompts" }),
      submit: "Delete",
      tone: "bad",
      cancelPath: call.link("/settings"),
    })}`;
}

async function deletePrompts(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const day = typed.text("before");
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) {
    const message = `Cannot delete prompts before "${day.slice(0, 40)}": a day such as 2026-11-20 is needed`;
    throw new DomainError("invalid_field", message, { field: "before" });
  }
  const { deleted } = await call.control(promptEndpoints.delete, { before: `${day}T00:00:00Z` });
  const count = deleted === 1 ? "1 stored prompt" : `${deleted.toLocaleString("en-US")} stored prompts`;
  return { goTo: call.link("/settings"), said: `${count} of requests before ${day} ${deleted === 1 ? "is" : "are"} deleted.` };
}
