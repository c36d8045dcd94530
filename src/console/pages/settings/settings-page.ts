/** The settings of a workspace: each says what it will do before it is saved. */
import type { StoppedModel } from "../../../gateway/own-keys/requirements.ts";
import type { PromptCount } from "../../../gateway/prompts/prompts.ts";
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { managers, overseers } from "../../../accounts/workspaces/authorize.ts";
import { markup, type Html } from "../../../http/html.ts";
import { badge } from "../../look/badge.ts";
import { facts } from "../../look/facts.ts";
import type { Field } from "../../look/forms/field.ts";
import { form } from "../../look/forms/form.ts";
import { money } from "../../look/money.ts";
import { userText } from "../../look/user-text.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import { pageSection } from "../../page-section.ts";
import type { Page, PageCall, PageContent } from "../../page.ts";
import { signInFirst } from "../../recent-sign-in.ts";
import { roleName } from "../../role-name.ts";
import { topUpSection } from "../top-ups/card.ts";
import { countWords, deletePromptsDialog } from "./delete-prompts.ts";
import { saveGroup, shownName } from "./save-settings.ts";
import { settingGroups, settingValues, type Setting, type SettingGroup } from "./setting-groups.ts";

export const settingsPage: Page = {
  of: "workspace",
  path: "/settings",
  navigation: { section: "Workspace", label: "Settings", icon: "settings" },
  roles: ["member", "auditor", "admin", "super_admin"],
  render,
  actions: Object.fromEntries(settingGroups.map((group) => [group.action, saveGroup(group)])),
};

async function render(call: PageCall): Promise<PageContent> {
  const path = `/workspaces/${call.workspace.id}`;
  const workspace = await call.control<WorkspaceView>("GET", path);
  const { data: stopped } = await call.control<{ data: StoppedModel[] }>("GET", `${path}/retention`);
  const { role } = call.workspace;
  const oversees = role === "operator" || overseers.includes(role);
  const stored = oversees ? await call.control<PromptCount>("GET", "/prompts") : null;
  const manages = role === "operator" || managers.includes(role);
  const changes = ({ ofTheOperator }: SettingGroup): boolean => (ofTheOperator ? role === "operator" : manages);
  const bodyOf = (group: SettingGroup): Html => {
    if (!changes(group)) return groupFacts(group, workspace);
    const form = groupForm(group, workspace, call);
    return group.action === "prompts" && stored !== null ? promptsForm(form, stored, call) : form;
  };
  const parts = settingGroups.map((group) =>
    pageSection(group.action, group.title, markup`${introOf(group, { workspace, stopped, stored })}${bodyOf(group)}`),
  );
  return {
    title: "Settings",
    lead: "They apply to the whole workspace. Every change is in the audit log.",
    main: markup`${reasonFor(role)}${parts.slice(0, 1)}${await topUpSection(call)}${parts.slice(1)}`,
  };
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
    const today = workspace.day_spent_usd;
    return markup`<p>Spent this month: ${money(workspace.month_spent_usd)}. ${today === null ? null : markup`Spent today: ${money(today)}. `}Credit left: ${money(workspace.available_usd ?? workspace.balance_usd)}.</p>`;
  }
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

/** What deletes prompts takes a recent sign-in. */
function promptsForm(form: Html, stored: PromptCount, call: PageCall): Html {
  const again = signInFirst(call, "delete prompts or change how long they are kept");
  return again ?? markup`${form}${stored.oldest_at === null ? null : deletePromptsDialog(stored, call)}`;
}

function groupForm({ action, settings }: SettingGroup, workspace: WorkspaceView, call: PageCall): Html {
  const values = settingValues(workspace);
  const shown = Object.fromEntries(settings.map(({ name }) => [shownName(name), values[name] ?? ""]));
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
