/**
 * Who sells and who buys, as statements name them: the details of the operator, with the tax that charges include, and those of each
 * workspace. An open statement shows today's; a closed one keeps those of the day on which it closed, under its hash.
 *
 * Weir computes no tax by itself: it does not know where a buyer is, what they are, or whether any tax is due. The operator states a rate,
 * and that charges include it. A tax on top would not be part of the credit that was charged, so the statement would no longer add up to
 * the ledger. Admins change their workspace's details, and the operator the seller's.
 */
import { Type, type Static } from "@sinclair/typebox";
import { type Actor, authorize, managers, operatorOnly, overseers } from "../../accounts/audit/actor.ts";
import { change, changedFields, type AuditEvent, type Sources } from "../../accounts/audit/change.ts";
import { DomainError } from "../../accounts/errors.ts";
import { line } from "../../accounts/workspaces/fields.ts";
import type { Queries, Transaction } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import type { Month } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { formatUsd, type NanoUsd } from "../../kernel/money.ts";
import { lockParty, selectParty, selectWorkspaceNumber, upsertParty, type PartyRow } from "./store.ts";

/** Longest name of a seller or a buyer. */
export const partyNameCharactersMax = 200;
/** Longest address. */
export const partyAddressCharactersMax = 500;
/** Longest tax number, and longest name of a tax. */
export const taxNumberCharactersMax = 60;

const address = Type.String({
  // Line ends are allowed, and no other control characters.
  pattern: "^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f]*$",
  maxLength: partyAddressCharactersMax,
  title: "The postal address, in lines",
  description: "a postal address",
});

export const PartyEdit = Type.Object({
  name: Type.Optional(line("a name", { maxLength: partyNameCharactersMax, title: "The name of the company or person" })),
  address: Type.Optional(address),
  tax_number: Type.Optional(
    line("a tax number", { maxLength: taxNumberCharactersMax, title: "The tax number, such as a VAT ID" }),
  ),
});
export type PartyEdit = Static<typeof PartyEdit>;

export const SellerEdit = Type.Composite([
  PartyEdit,
  Type.Object({
    tax_name: Type.Optional(line("a name", { maxLength: taxNumberCharactersMax, title: "The name of the tax, such as VAT" })),
    tax_percent: Type.Optional(
      Type.Union([Type.String({ pattern: "^\\d{1,2}(\\.\\d{1,2})?$" }), Type.Null()], {
        title: "The tax that charges include, in percent; null: statements show none",
        description: 'a percentage as a string, such as "19" or "8.1", or null',
      }),
    ),
  }),
]);
export type SellerEdit = Static<typeof SellerEdit>;

const party = {
  name: text("The name; empty: none is set"),
  address: text("The postal address in lines; empty: none is set"),
  tax_number: text("The tax number; empty: none is set"),
};
export const PartyView = Type.Object(party);
export type PartyView = Static<typeof PartyView>;

export const SellerView = Type.Object({
  ...party,
  tax_name: text("The name of the tax; empty: none is set"),
  tax_percent: textOrNull("The tax that charges include, in percent; null: statements show none"),
});
export type SellerView = Static<typeof SellerView>;

/** @throws DomainError forbidden except for the operator */
export async function showSeller(actor: Actor, sql: Queries): Promise<SellerView> {
  authorize(actor, { roles: operatorOnly, action: "see the seller's details" });
  return viewSeller(await selectParty("", sql));
}

/** @throws DomainError forbidden for members */
export async function showBuyer({ actor, workspace }: Owned, sql: Queries): Promise<PartyView> {
  authorize(actor, { roles: overseers, action: "see the billing details" });
  return viewParty(await selectParty(workspace, sql));
}

interface Owned {
  actor: Actor;
  workspace: WorkspaceId;
}

/**
 * Changes the seller's details; omitted fields stay.
 * @throws DomainError invalid_field for a rate of zero; forbidden except for the operator
 */
export async function editSeller({ actor, edit }: { actor: Actor; edit: SellerEdit }, sources: Sources): Promise<SellerView> {
  authorize(actor, { roles: operatorOnly, action: "change the seller's details" });
  const given = {
    ...parseParty(edit),
    ...(edit.tax_name !== undefined && { taxName: edit.tax_name.trim() }),
    ...(edit.tax_percent !== undefined && { taxBasisPoints: parsePercent(edit.tax_percent) }),
  };
  const saved = await save({ actor, workspace: null, given, view: viewSeller, event: "seller.updated" }, sources);
  return viewSeller(saved);
}

/**
 * Changes the details under which a workspace buys; omitted fields stay.
 * @throws DomainError forbidden except for admins, super admins and the operator
 */
export async function editBuyer({ actor, workspace, edit }: Owned & { edit: PartyEdit }, sources: Sources): Promise<PartyView> {
  authorize(actor, { roles: managers, action: "change the billing details" });
  const given = parseParty(edit);
  return viewParty(await save({ actor, workspace, given, view: viewParty, event: "workspace.billing.updated" }, sources));
}

interface Saved {
  actor: Actor;
  /** null: the seller's. */
  workspace: WorkspaceId | null;
  given: Partial<PartyRow>;
  view: (row: PartyRow) => Record<string, string | null>;
  event: "seller.updated" | "workspace.billing.updated";
}

function save({ actor, workspace, given, view, event }: Saved, sources: Sources): Promise<PartyRow> {
  const subject = workspace ?? "";
  return change(actor, sources, async (tx) => {
    const before = await lockParty(subject, tx);
    const after = { ...before, ...given };
    const changes = changedFields({ before: view(before), after: view(after) });
    if (Object.keys(changes).length === 0) return { result: before, event: null };
    await upsertParty(subject, after, tx);
    const recorded: AuditEvent = { event, workspace, target: workspace, changes };
    return { result: after, event: recorded };
  });
}

function parseParty({ name, address: lines, tax_number: number }: PartyEdit): Partial<PartyRow> {
  return {
    ...(name !== undefined && { name: name.trim() }),
    ...(lines !== undefined && { address: lines.trim() }),
    ...(number !== undefined && { taxNumber: number.trim() }),
  };
}

/** In hundredths of a percent. @throws DomainError invalid_field */
function parsePercent(text: string | null): number | null {
  if (text === null) return null;
  const [whole = "", part = ""] = text.split(".");
  const points = Number(whole) * 100 + Number(part.padEnd(2, "0"));
  if (points > 0) return points;
  throw new DomainError("invalid_field", "Cannot take a rate of zero: leave it empty to show no tax", { field: "tax_percent" });
}

function viewParty({ name, address: lines, taxNumber }: PartyRow): PartyView {
  return { name, address: lines, tax_number: taxNumber };
}

function viewSeller(row: PartyRow): SellerView {
  return { ...viewParty(row), tax_name: row.taxName, tax_percent: percentOf(row.taxBasisPoints) };
}

function percentOf(points: number | null): string | null {
  return points === null ? null : String(points / 100);
}

// What a statement says of them

export const StatementParties = {
  seller: Type.Union([PartyView, Type.Null()], { description: "Who sells; null: the operator has set no name" }),
  buyer: Type.Union([PartyView, Type.Null()], { description: "Who buys; null: the workspace has set no name" }),
  tax: Type.Union(
    [
      Type.Object({
        name: text("The name of the tax"),
        percent: text("Its rate in percent"),
        net_usd: text("The charges without it, in USD with nine decimals"),
        included_usd: text("The tax that the charges include, in USD with nine decimals, rounded half up"),
      }),
      Type.Null(),
    ],
    { description: "The tax that the charges include, as the operator states it; null: the operator has set no rate" },
  ),
};

export const reference = text(
  "The statement's number: its month and the workspace's own number, such as `2026-10-0007`. It never changes",
);

/** @returns the fields of a statement that name it and its parties */
export async function partiesOf(
  { workspace, month, charges }: { workspace: WorkspaceId; month: Month; charges: NanoUsd },
  tx: Transaction,
) {
  const seller = await selectParty("", tx);
  const buyer = await selectParty(workspace, tx);
  return {
    reference: await referenceOf({ workspace, month }, tx),
    seller: seller.name === "" ? null : viewParty(seller),
    buyer: buyer.name === "" ? null : viewParty(buyer),
    tax: includedTax(seller, charges),
  };
}

export async function referenceOf({ workspace, month }: { workspace: WorkspaceId; month: Month }, sql: Queries): Promise<string> {
  return `${month}-${String(await selectWorkspaceNumber(workspace, sql)).padStart(4, "0")}`;
}

function includedTax({ taxName, taxBasisPoints: points }: PartyRow, charges: NanoUsd) {
  if (points === null) return null;
  const whole = BigInt(10_000 + points);
  const included = (charges * BigInt(points) * 2n + whole) / (2n * whole);
  return {
    name: taxName === "" ? "Tax" : taxName,
    percent: percentOf(points) ?? "",
    net_usd: formatUsd(charges - included),
    included_usd: formatUsd(included),
  };
}
