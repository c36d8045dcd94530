/**
 * All workspaces with their money, the form that creates one, and one workspace as the operator sees it, with the form that adds credit.
 * One reference adds credit once, however often the form is sent.
 */
import type { WorkspaceView } from "../../../accounts/workspaces/schema.ts";
import { creditEndpoints } from "../../../control-api/endpoints/credit.ts";
import { workspaceEndpoints } from "../../../control-api/endpoints/workspaces.ts";
import { markup, type Html } from "../../../http/html.ts";
import { isoTime } from "../../../kernel/clock.ts";
import { parseUsd } from "../../../kernel/money.ts";
import { actDialog, formState, hiddenFields } from "../../page-forms.ts";
import type { FormFields, ActionResult, Page, PageCall, PageContent } from "../../page.ts";
import { limitMeter } from "../../look/limit-meter.ts";
import { form } from "../../look/forms.ts";
import { arrangedList, type ListColumn } from "../../look/list-view.ts";
import { badge, dialog, opener, emptyState, section, money, userText } from "../../look/parts.ts";
import { idToCopy, limitMeters, thingPage } from "../../look/thing.ts";
import { workspacePath } from "../../redirect.ts";
import { monthName } from "../inference/day-zone.ts";

const shared = { of: "operator", roles: [], actions: { open: openWorkspace } } as const;

export const workspacesPage: Page = {
  ...shared,
  path: "/",
  navigation: { section: "Operator", label: "Workspaces", icon: "operator" },
  render,
};

/** For browsers without script, where the dialog cannot open. */
export const newWorkspacePage: Page = {
  ...shared,
  path: "/workspaces/new",
  navigation: null,
  async render(call) {
    return { title: "Create a workspace", trail: trail(call), main: newWorkspaceForm(call, call.link("/workspaces/new")) };
  },
};

function trail(call: PageCall) {
  return [{ path: call.link(""), label: "Workspaces" }];
}

async function render(call: PageCall): Promise<PageContent> {
  const { data } = await call.control(workspaceEndpoints.list);
  const open = opener({ dialog: "new-workspace", path: call.link("/workspaces/new"), label: "Create a workspace" });
  const body = newWorkspaceForm(call, call.link(""));
  const { table, view } = list(data, call, open);
  return {
    title: "Workspaces",
    lead: "Each workspace has its own members, keys and credit.",
    actions: markup`${view}${open}`,
    main: markup`${table}${dialog({ id: "new-workspace", title: "Create a workspace", body, asks: "changes", opensAtOnce: call.refused?.action === "open" })}`,
  };
}

function list(rows: readonly WorkspaceView[], call: PageCall, open: Html) {
  const nameLink = ({ id, name }: WorkspaceView): Html =>
    markup`<a href="${call.link(`/workspaces/${id}`)}">${userText(name)}</a>`;
  return arrangedList<WorkspaceView>(
    {
      caption: "Workspaces",
      columns: [
        { name: "name", label: "Name", kind: "text", cell: nameLink, by: ({ name }) => name },
        {
          name: "platform",
          label: "Platform",
          kind: "badge",
          cell: ({ enabled }) => (enabled ? badge("good", "on") : badge("neutral", "off")),
          by: ({ enabled }) => Number(enabled),
        },
        moneyColumn({ name: "balance", label: "Balance", usd: (row) => row.balance_usd }),
        moneyColumn({ name: "reserved", label: "Reserved", usd: (row) => row.reserved_usd, none: "unknown" }),
        moneyColumn({ name: "month", label: "Spent this month", usd: (row) => row.month_spent_usd }),
        moneyColumn({ name: "limit", label: "Spend limit", usd: (row) => row.spend_limit_usd }),
        {
          label: "Go to",
          kind: "actions",
          cell: ({ name }) => markup`<a href="${workspacePath(name)}">Open<span class="unseen"> ${name}</span></a>`,
        },
      ],
      rows,
      empty: emptyState("No workspaces yet.", open),
      isWhole: true,
      order: "in order of creation",
    },
    call,
  );
}

interface MoneyColumn {
  name: string;
  label: string;
  usd(row: WorkspaceView): string | null;
  /** Shown in place of null. */
  none?: string;
}

function moneyColumn({ name, label, usd, none }: MoneyColumn): ListColumn<WorkspaceView> {
  const by = (row: WorkspaceView): bigint | null => {
    const amount = usd(row);
    return amount === null ? null : parseUsd(amount);
  };
  return { name, label, kind: "money", cell: (row) => money(usd(row), none), by };
}

function newWorkspaceForm(call: PageCall, action: string): Html {
  return form({
    id: "new-workspace",
    action,
    hidden: hiddenFields(call, "open"),
    fields: [
      { kind: "text", name: "name", label: "Name", required: true, charactersMax: 200 },
      { kind: "money", name: "credit_usd", label: "Starting credit in USD", hint: "If empty, it starts without credit." },
    ],
    state: formState(call, { action: "open" }),
    submit: "Create",
    cancelPath: call.link(""),
  });
}

async function openWorkspace(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const credit = typed.text("credit_usd");
  const view = await call.control(workspaceEndpoints.create, {
    name: typed.text("name"),
    ...(credit !== "" && { credit_usd: credit }),
  });
  return { goTo: call.link(`/workspaces/${view.id}`), said: `The workspace “${view.name}” is created. Add its members next.` };
}

// One workspace as the operator sees it: its credit, and the form that adds some.

export const operatorWorkspacePage: Page = {
  of: "operator",
  path: "/workspaces/:id",
  navigation: null,
  roles: [],
  render: renderWorkspace,
  actions: { credit: addCredit },
};

async function renderWorkspace(call: PageCall): Promise<PageContent> {
  const id = call.params["id"] ?? "";
  const view = await call.control(workspaceEndpoints.show, { id });
  const pages = workspacePath(view.name);
  const body = creditForm(call);
  const crediting = actDialog(call, {
    action: "credit",
    label: "Add credit",
    title: "Add credit",
    body,
    guards: true,
    isMain: true,
  });
  return {
    title: view.name,
    trail: trail(call),
    badge: view.enabled ? badge("good", "on") : badge("neutral", "off"),
    actions: markup`<a class="button quiet" href="${pages}">Open</a>${crediting.button}`,
    main: markup`${crediting.dialog}${thingPage({ facts: workspaceFacts(view), main: markup`${spendMeters(view)}${workspaceLinks(pages)}` })}`,
  };
}

function workspaceFacts(view: WorkspaceView): Parameters<typeof thingPage>[0]["facts"] {
  return [
    ["Id", idToCopy({ id: "workspace-id", value: view.id, what: "the id" })],
    ["Balance", money(view.balance_usd)],
    ["Reserved by current requests", money(view.reserved_usd, "unknown")],
    ["Available", money(view.available_usd, "unknown")],
  ];
}

function spendMeters(view: WorkspaceView): Html | null {
  const { month, spend_limit_usd: monthly, daily_spend_limit_usd: daily, day_spent_usd: today, reserved_usd: reserved } = view;
  const ofMonth = { limit: monthly, spent: view.month_spent_usd, reserved, left: view.month_left_usd };
  return limitMeters([
    [`Spent in ${monthName(month)}`, limitMeter(ofMonth)],
    ["Spent today", today === null ? null : limitMeter({ limit: daily, spent: today, reserved, left: view.day_left_usd })],
  ]);
}

function workspaceLinks(pages: string): Html {
  const links = [
    ["keys", "Keys"],
    ["members", "Members"],
    ["settings", "Settings"],
  ].map(([path, label]) => markup`<a class="button quiet" href="${pages}/${path ?? ""}">${label ?? ""}</a>`);
  return section("pages", "Pages", markup`<p class="actions">${links}</p>`);
}

function creditForm(call: PageCall) {
  const reference = `console ${isoTime(call.nowMs)}`;
  return form({
    id: "add-credit",
    action: call.path,
    hidden: hiddenFields(call, "credit"),
    fields: [
      { kind: "money", name: "usd", label: "Amount in USD", required: true },
      {
        kind: "text",
        name: "ref",
        label: "Reference",
        hint: "Such as the number of an invoice. Credit with the same reference is added only once.",
        required: true,
        charactersMax: 200,
      },
    ],
    state: formState(call, { action: "credit", values: { ref: reference } }),
    submit: "Add credit",
    cancelPath: call.path,
  });
}

async function addCredit(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const sent = { workspace: call.params["id"] ?? "", usd: typed.text("usd"), ref: typed.text("ref") };
  const { balance_usd: balance } = await call.control(creditEndpoints.add, sent);
  return { goTo: call.path, said: `The balance is now ${balance} USD.` };
}
