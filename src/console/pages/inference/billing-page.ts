/**
 * Who statements name: the details under which a workspace buys, and for the operator those of the seller with the tax that charges
 * include. Closed statements keep what they say. Only what differs from what the form showed is saved, so that two tabs do not undo each
 * other's changes.
 */
import { managers } from "../../../accounts/audit/actor.ts";
import { asTyped } from "../../../control-api/endpoint.ts";
import { billingEndpoints, sellerEndpoints } from "../../../control-api/endpoints/billing.ts";
import {
  partyAddressCharactersMax,
  partyNameCharactersMax,
  taxNumberCharactersMax,
} from "../../../gateway/statements/parties.ts";
import type { PartyView } from "../../../gateway/statements/parties.ts";
import { markup, type Html } from "../../../http/html.ts";
import { form, type Field } from "../../look/forms.ts";
import { userLines } from "../../look/documents.ts";
import { facts } from "../../look/parts.ts";
import { formState, hiddenFields } from "../../page-forms.ts";
import type { ActionResult, FormFields, Page, PageCall, PageContent } from "../../page.ts";
import { roleName } from "../../viewer.ts";

export const billingPage: Page = {
  of: "workspace",
  path: "/billing",
  navigation: null,
  roles: ["auditor", "admin", "super_admin"],
  earlyAccess: "usage_statements",
  render: renderBuyer,
  actions: { save: saveBuyer },
};

const partyFields: readonly Field[] = [
  { kind: "text", name: "name", label: "Name", hint: "Of the company or person.", charactersMax: partyNameCharactersMax },
  { kind: "lines", name: "address", label: "Address", rows: 4, charactersMax: partyAddressCharactersMax },
  { kind: "text", name: "tax_number", label: "Tax number", hint: "Such as a VAT ID.", charactersMax: taxNumberCharactersMax },
];

async function renderBuyer(call: PageCall): Promise<PageContent> {
  const buyer = await call.control(billingEndpoints.show);
  const { role } = call.workspace;
  const may = role === "operator" || managers.includes(role);
  return {
    title: "Billing details",
    lead: "Statements name the workspace’s company. A closed statement keeps the details of the day on which it closed.",
    trail: [{ path: call.link("/statements"), label: "Statements" }],
    main: may
      ? partyForm({ fields: partyFields, values: { ...buyer } }, call)
      : markup`<p class="hint">Only admins change them. Your role is ${roleName(role).toLowerCase()}.</p>${partyFacts(buyer)}`,
  };
}

function partyFacts({ name, address, tax_number: number }: PartyView): Html {
  const shown = (text: string): Html | null => (text === "" ? null : userLines(text));
  return facts([
    ["Name", shown(name)],
    ["Address", shown(address)],
    ["Tax number", shown(number)],
  ]);
}

/** Names the hidden field with the value that the form showed. */
function shownName(name: string): string {
  return `was.${name}`;
}

function partyForm({ fields, values }: { fields: readonly Field[]; values: Record<string, string> }, call: PageCall): Html {
  const shown = Object.fromEntries(Object.entries(values).map(([name, value]) => [shownName(name), value]));
  return form({
    id: "billing",
    action: call.path,
    hidden: hiddenFields(call, "save", shown),
    fields,
    state: formState(call, { action: "save", values }),
    submit: "Save",
  });
}

/** What was changed. Browsers send line ends as two characters. */
function changedIn(fields: readonly Field[], typed: FormFields): Record<string, string> {
  const plain = (text: string): string => text.replaceAll("\r\n", "\n");
  const changed = fields.filter(({ name }) => plain(typed.text(name)) !== plain(typed.text(shownName(name))));
  return Object.fromEntries(changed.map(({ name }) => [name, plain(typed.text(name))]));
}

async function saveBuyer(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const changed = changedIn(partyFields, typed);
  if (Object.keys(changed).length === 0) return { goTo: call.path, said: "Nothing was changed." };
  await call.control(billingEndpoints.edit, changed);
  return { goTo: call.path, said: "The billing details are saved. Statements that are closed stay as they are." };
}

// The seller

export const sellerPage: Page = {
  of: "operator",
  path: "/seller",
  navigation: { section: "Operator", label: "Seller", icon: "ledger" },
  roles: [],
  render: renderSeller,
  actions: { save: saveSeller },
};

const sellerFields: readonly Field[] = [
  ...partyFields,
  { kind: "text", name: "tax_name", label: "Name of the tax", hint: "Such as VAT.", charactersMax: taxNumberCharactersMax },
  {
    kind: "text",
    name: "tax_percent",
    label: "Tax in percent",
    hint: "Charges are taken to include it: statements show how much, and nothing is added to a charge. If empty, statements show no tax.",
    charactersMax: 5,
  },
];

async function renderSeller(call: PageCall): Promise<PageContent> {
  const seller = await call.control(sellerEndpoints.show);
  return {
    title: "Seller",
    lead: "Statements of all workspaces name who sells. Weir computes no tax by itself, and does not decide whether any is due.",
    main: partyForm({ fields: sellerFields, values: { ...seller, tax_percent: seller.tax_percent ?? "" } }, call),
  };
}

async function saveSeller(call: PageCall, typed: FormFields): Promise<ActionResult> {
  const { tax_percent: percent, ...changed } = changedIn(sellerFields, typed);
  if (percent === undefined && Object.keys(changed).length === 0) return { goTo: call.path, said: "Nothing was changed." };
  const rate = percent === undefined ? {} : { tax_percent: percent === "" ? null : asTyped(percent) };
  await call.control(sellerEndpoints.edit, { ...changed, ...rate });
  return { goTo: call.path, said: "The seller is saved. Statements that are closed stay as they are." };
}
