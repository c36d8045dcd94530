/**
 * One member: their role, their limit, the state of their membership, and for the operator their account. It says what the viewer may not
 * do, by the rule that the endpoints use.
 */
import type { KeyView } from "../../../accounts/keys/schema.ts";
import { managers } from "../../../accounts/audit/actor.ts";
import type { ListedMember } from "../../../accounts/workspaces/schema.ts";
import { memberEndpoints } from "../../../control-api/endpoints/members.ts";
import { markup, type Html } from "../../../http/html.ts";
import { formState, hiddenFields, signInFirst } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { chartScript } from "../../look/charts.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { actionButton, form } from "../../look/forms.ts";
import { dialog, opener, facts, section, time, userText } from "../../look/parts.ts";
import { roleName } from "../../viewer.ts";
import { zoneScript } from "../inference/day-zone.ts";
import { readUsageChart, usageAsked, usageChart } from "../inference/usage-chart.ts";
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
  return {
    title: member.email,
    trail: [{ path: call.link("/members"), label: "Members" }],
    badge: memberState(member.state),
    main: markup`${memberFacts(member, { keys, call })}${member.month_spent_usd === null ? null : await memberChart(member, call)}
      ${reason === null ? null : markup`<p class="hint">${reason}</p>`}
      ${reason === null && member.state !== "deleted" ? managed(member, keys, call) : null}
      ${accountSection(member, call)}`,
  };
}

async function memberChart({ email, monthly_spend_limit_usd: month }: ListedMember, call: PageCall): Promise<Html> {
  const asked = usageAsked(call, { usual: "30d", groups: ["key", "model"], only: { member: email } });
  return usageChart(call, { asked, view: await readUsageChart(call, asked), limits: { day: null, month } });
}

function memberFacts(
  { role, last_seen_at: seen, active_keys: count, ...member }: ListedMember,
  { keys, call }: { keys: readonly KeyView[]; call: PageCall },
): Html {
  const names =
    keys.length === 0
      ? String(count)
      : markup`${keys.map(({ id, name }, index) => markup`${index === 0 ? "" : ", "}<a href="${call.link(`/keys/${id}`)}">${userText(name)}</a>`)}`;
  const uses = [
    ["Active keys", names],
    ["Spent this month", spentOf(member)],
    ["Last seen", time(seen, { never: "never" })],
  ] as const;
  return facts([["Role", roleName(role)], ...(count === null ? [] : uses)]);
}

/** The month's spend and reservations, against the limit of the member; null: a member may not see those of others. */
function spentOf(member: Omit<ListedMember, "role" | "last_seen_at" | "active_keys">): Html | null {
  const { month_spent_usd: spent, monthly_spend_limit_usd: limit, reserved_usd: reserved, month_left_usd: left } = member;
  return spent === null ? null : limitMeter({ limit, spent, reserved, left });
}

function managed(member: ListedMember, keys: readonly KeyView[], call: PageCall): Html {
  const { state } = member;
  const refused = notAccepted[state];
  if (refused !== undefined)
    return section("membership", "Membership", markup`<p class="hint">${refused}</p>${inviteAgainButton(member, call)}`);
  const membership =
    state === "deactivated" ? ended(member, call) : state === "pending" ? pending(member, call) : inForce(member, keys, call);
  return markup`${section("role", "Role", signInFirst(call, "change a role") ?? roleForm(member, call))}
    ${state === "deactivated" ? null : section("limit", "Monthly spend limit", limitForm(member, call))}
    ${section("membership", "Membership", membership)}`;
}

function inForce(member: ListedMember, keys: readonly KeyView[], call: PageCall): Html {
  return markup`<p class="hint">${endOf(keys)}</p>
    <p>${opener({ dialog: "deactivate", path: call.link(`${memberPath(member.email)}/deactivate`), label: "Deactivate", quiet: true })}</p>
    ${dialog({ id: "deactivate", title: `Deactivate ${member.email}?`, body: deactivateForm(member, keys, call), asks: null })}`;
}

function pending(member: ListedMember, call: PageCall): Html {
  const takeBack = actionButton({
    action: call.path,
    label: "Take the invitation back",
    what: `of ${member.email}`,
    hidden: hiddenFields(call, "deactivate"),
  });
  return markup`<p class="hint">The invitation waits for this person's answer; until they accept, they may do nothing here.</p>
    <div class="form-end">${inviteAgainButton(member, call)}${takeBack}</div>`;
}

/** States in which the person can only be invited again. */
const notAccepted: Record<string, string> = {
  declined: "This person declined the invitation.",
  withdrawn: "The invitation was taken back before this person accepted.",
};

function ended(member: ListedMember, call: PageCall): Html {
  return markup`<p class="hint">Reactivating restores the role, but no revoked keys.</p>
    ${reactivateButton(member, call)}`;
}

function inviteAgainButton({ email, role }: ListedMember, call: PageCall): Html {
  const first = managers.includes(role) ? signInFirst(call, "invite an admin") : null;
  return (
    first ?? actionButton({ action: call.path, label: "Invite again", what: email, hidden: hiddenFields(call, "invite-again") })
  );
}

async function inviteAgain(call: PageCall): Promise<ActionResult> {
  const { email, role } = await findMember(call);
  const member = await call.control(memberEndpoints.add, { email, role, invite: true });
  return { goTo: call.path, said: invitedWords(member, call) };
}

function reactivateButton({ email, role }: ListedMember, call: PageCall): Html {
  const first = managers.includes(role) ? signInFirst(call, "reactivate an admin") : null;
  return first ?? actionButton({ action: call.path, label: "Reactivate", what: email, hidden: hiddenFields(call, "reactivate") });
}

function endOf(keys: readonly KeyView[]): string {
  const revoked = keys.length === 0 ? "" : ` and revokes ${keys.length} ${keys.length === 1 ? "key" : "keys"}`;
  return `Deactivating ends the membership${revoked}.`;
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
  });
}

async function setRole(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const email = call.params["id"] ?? "";
  const { role } = await call.control(memberEndpoints.edit, { id: email, role: typed.text("role") });
  return { goTo: call.path, said: `${email} has the role ${roleName(role).toLowerCase()} now.` };
}

function limitForm({ monthly_spend_limit_usd: limit }: ListedMember, call: PageCall): Html {
  const hint = "For all keys of this member and the Workbench together, for each calendar month in UTC. If empty, there is none.";
  return form({
    id: "change-limit",
    action: call.path,
    hidden: hiddenFields(call, "limit"),
    fields: [{ kind: "money", name: "monthly_spend_limit_usd", label: "Monthly spend limit in USD", hint }],
    state: formState(call, {
      action: "limit",
      values: { monthly_spend_limit_usd: limit === null ? "" : limit.replace(/0{1,7}$/, "") },
    }),
    submit: "Save",
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
