/**
 * One member: their role and state, their keys and last requests, what they may spend, and for the operator their account. The dialogs
 * change the role and the limit, and end the membership. It says what the viewer may not do, by the rule that the endpoints use.
 */
import { managers } from "../../../accounts/audit/actor.ts";
import type { KeyView } from "../../../accounts/keys/schema.ts";
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup, type Html } from "../../../http/html.ts";
import { actDialog, formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { chartScript } from "../../look/charts.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { actionButton, address, form } from "../../look/forms.ts";
import { dialog, emptyState, opener, section, table, time, typedUsd, userText } from "../../look/parts.ts";
import { limitMeters, thingPage } from "../../look/thing.ts";
import { roleName } from "../../viewer.ts";
import { zoneScript } from "../inference/day-zone.ts";
import { scopeName, spent } from "../inference/keys-page.ts";
import { lastRequests } from "../inference/request-columns.ts";
import { readUsageChart, usageAsked, usageChart } from "../inference/usage-chart.ts";
import { changesFact } from "./audit-page.ts";
import { accountActions, accountSection, deactivate, deactivateForm } from "./member-account.ts";
import { findMember, keysOf, memberPath, reasonAgainst, memberState, roleChoices } from "./member.ts";
import { invitedWords } from "./members-page.ts";

export const memberPage: Page = {
  of: "workspace",
  path: "/members/:id",
  navigation: null,
  roles: ["member", "auditor", "admin", "super_admin"],
  scripts: [zoneScript, chartScript],
  render,
  actions: { role: setRole, limit: setLimit, deactivate, reactivate, "invite-again": inviteAgain, ...accountActions },
};

async function render(call: PageCall): Promise<PageContent> {
  const member = await findMember(call);
  const keys = await keysOf(member, call);
  const reason = reasonAgainst(call, { email: member.email, roles: [member.role], action: "change a member" });
  const acts = reason === null && member.state !== "deleted" ? managed(member, keys, call) : null;
  const note = markup`${reason === null ? null : markup`<p class="hint">${reason}</p>`}${acts?.note ?? null}`;
  return {
    title: member.email,
    trail: [{ path: call.link("/members"), label: "Members" }],
    badge: memberState(member.state),
    actions: acts?.buttons ?? null,
    main: markup`${acts?.dialogs ?? null}
      ${thingPage({
        facts: [...memberFacts(member), ...changesFact(member.email, call)],
        note,
        main: markup`${memberLimits(member)}${await memberChart(member, call)}${memberKeys(member, keys, call)}${await memberRequests(member, call)}${accountSection(member, call)}`,
      })}`,
  };
}

/** What others use is only for those who oversee the workspace. */
async function memberChart(member: ListedMember, call: PageCall): Promise<Html | null> {
  if (member.month_spent_usd === null) return null;
  const asked = usageAsked(call, { usual: "30d", groups: ["key", "model"], only: { member: member.email } });
  const limits = { day: null, month: member.monthly_spend_limit_usd };
  return usageChart(call, { asked, view: await readUsageChart(call, asked), limits });
}

/** What others do is only for those who oversee the workspace. */
function memberFacts({ role, last_seen_at: seen, active_keys: count }: ListedMember): Parameters<typeof thingPage>[0]["facts"] {
  return [
    ["Role", roleName(role)],
    ...(count === null
      ? []
      : ([
          ["Active keys", count],
          ["Last seen", time(seen)],
        ] as const)),
  ];
}

function memberLimits({
  month_spent_usd: spentUsd,
  monthly_spend_limit_usd: limit,
  reserved_usd: reserved,
  month_left_usd: left,
}: ListedMember): Html | null {
  if (spentUsd === null) return null;
  return limitMeters([["Spent this month", limitMeter({ limit, spent: spentUsd, reserved, left })]]);
}

/** The first ones, and the way to all. */
function memberKeys({ email, active_keys: count }: ListedMember, keys: readonly KeyView[], call: PageCall): Html | null {
  if (count === null) return null;
  const way = address(call.link("/keys"), { text: email });
  const all = count > keys.length ? markup`<p><a href="${way}">All ${count} keys</a></p>` : null;
  const rows = table<KeyView>({
    caption: "Active keys",
    columns: [
      {
        label: "Name",
        kind: "text",
        cell: ({ id, name }) => markup`<a href="${call.link(`/keys/${id}`)}">${userText(name)}</a>`,
      },
      { label: "Scope", kind: "text", cell: scopeName },
      { label: "Spent this month", kind: "money", cell: spent },
      { label: "Last used", kind: "time", cell: ({ last_used_at: at }) => time(at) },
    ],
    rows: keys,
    empty: emptyState("No active keys.", null),
  });
  return section("keys", "Keys", markup`${rows}${all}`);
}

/** null: the viewer may not see them. */
async function memberRequests({ email, active_keys: count }: ListedMember, call: PageCall): Promise<Html | null> {
  return count === null ? null : lastRequests(call, { only: { member: email }, of: "member" });
}

// What the viewer may do, as buttons beside the heading and their dialogs.

interface Acts {
  buttons: Html | null;
  dialogs: Html | null;
  /** What a button would do, or why there is none. */
  note: Html | null;
}

function managed(member: ListedMember, keys: readonly KeyView[], call: PageCall): Acts {
  const { state } = member;
  const refused = notAccepted[state];
  const again = inviteAgainButton(member, call);
  if (refused !== undefined)
    return { buttons: again.button, dialogs: null, note: markup`<p class="hint">${refused}</p>${again.first}` };
  const changing = roleDialog(member, call);
  if (state === "deactivated") {
    const back = reactivateButton(member, call);
    const note = markup`<p class="hint">Reactivating restores the role, but no revoked keys.</p>${back.first}`;
    return { buttons: markup`${changing.button}${back.button}`, dialogs: changing.dialog, note };
  }
  const limiting = limitDialog(member, call);
  const buttons = markup`${changing.button}${limiting.button}`;
  const dialogs = markup`${changing.dialog}${limiting.dialog}`;
  if (state !== "pending") return inForce(member, keys, call, { buttons, dialogs });
  const takeBack = actionButton({
    action: call.path,
    label: "Take the invitation back",
    what: `of ${member.email}`,
    hidden: hiddenFields(call, "deactivate"),
  });
  const words = "This person has not accepted the invitation yet, and can do nothing here until then.";
  return {
    buttons: markup`${again.button}${takeBack}${buttons}`,
    dialogs,
    note: markup`<p class="hint">${words}</p>${again.first}`,
  };
}

function inForce(
  member: ListedMember,
  keys: readonly KeyView[],
  call: PageCall,
  { buttons, dialogs }: { buttons: Html; dialogs: Html },
): Acts {
  const path = call.link(`${memberPath(member.email)}/deactivate`);
  const deactivates = opener({ dialog: "deactivate", path, label: "Deactivate", quiet: true });
  const body = deactivateForm(member, keys, call);
  const title = `Deactivate ${member.email}?`;
  return {
    buttons: markup`${buttons}${deactivates}`,
    dialogs: markup`${dialogs}${dialog({ id: "deactivate", title, body, asks: null })}`,
    note: markup`<p class="hint">${endOf(member.active_keys ?? 0)}</p>`,
  };
}

/** States in which the person can only be invited again. */
const notAccepted: Record<string, string> = {
  declined: "This person declined the invitation.",
  withdrawn: "The invitation was taken back before this person accepted.",
};

/** A button, or why the viewer first signs in again. */
interface Guarded {
  button: Html | null;
  first: Html | null;
}

function inviteAgainButton({ email, role }: ListedMember, call: PageCall): Guarded {
  const first = managers.includes(role) ? signInFirst(call, "invite an admin") : null;
  if (first !== null) return { button: null, first };
  return {
    button: actionButton({ action: call.path, label: "Invite again", what: email, hidden: hiddenFields(call, "invite-again") }),
    first,
  };
}

async function inviteAgain(call: PageCall): Promise<ActionResult> {
  const { email, role } = await findMember(call);
  const member = await call.control(memberEndpoints.add, { email, role, invite: true });
  return { goTo: call.path, said: invitedWords(member, call) };
}

function reactivateButton({ email, role }: ListedMember, call: PageCall): Guarded {
  const first = managers.includes(role) ? signInFirst(call, "reactivate an admin") : null;
  if (first !== null) return { button: null, first };
  return {
    button: actionButton({ action: call.path, label: "Reactivate", what: email, hidden: hiddenFields(call, "reactivate") }),
    first,
  };
}

function endOf(keys: number): string {
  const revoked = keys === 0 ? "" : ` and revokes ${keys} ${keys === 1 ? "key" : "keys"}`;
  return `Deactivating ends the membership${revoked}.`;
}

function roleDialog(member: ListedMember, call: PageCall) {
  const body = signInFirst(call, "change a role") ?? roleForm(member, call);
  return actDialog(call, { action: "role", label: "Change role", title: "Change the role", body, guards: true });
}

function roleForm({ email, role }: ListedMember, call: PageCall): Html {
  return form({
    id: "change-role",
    action: call.path,
    hidden: hiddenFields(call, "role"),
    fields: [
      { kind: "radios", name: "role", label: "Role in this workspace", choices: roleChoices(call, { email, adds: "everyone" }) },
    ],
    state: formState(call, { action: "role", values: { role } }),
    submit: "Change the role",
    cancelPath: call.path,
  });
}

async function setRole(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const email = call.params["id"] ?? "";
  const { role } = await call.control(memberEndpoints.edit, { id: email, role: typed.text("role") });
  return { goTo: call.path, said: `${email} has the role ${roleName(role).toLowerCase()} now.` };
}

function limitDialog(member: ListedMember, call: PageCall) {
  const body = limitForm(member, call);
  return actDialog(call, { action: "limit", label: "Set limit", title: "Monthly spend limit", body, guards: true });
}

function limitForm({ monthly_spend_limit_usd: limit }: ListedMember, call: PageCall): Html {
  const hint = "For all keys of this member and the Workbench together, for each calendar month in UTC. If empty, there is none.";
  return form({
    id: "change-limit",
    action: call.path,
    hidden: hiddenFields(call, "limit"),
    fields: [{ kind: "money", name: "monthly_spend_limit_usd", label: "Monthly spend limit in USD", hint }],
    state: formState(call, { action: "limit", values: { monthly_spend_limit_usd: typedUsd(limit) } }),
    submit: "Save",
    cancelPath: call.path,
  });
}

async function setLimit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const limit = typed.text("monthly_spend_limit_usd") || null;
  await call.control(memberEndpoints.edit, { id: call.params["id"] ?? "", monthly_spend_limit_usd: limit });
  return { goTo: call.path, said: "The limit is saved. It is in force within 30 seconds." };
}

async function reactivate(call: PageCall): Promise<ActionResult> {
  const { email } = await call.control(memberEndpoints.reactivate, { id: call.params["id"] ?? "" });
  return { goTo: call.path, said: `${email} is an active member again. Revoked keys stay revoked.` };
}
