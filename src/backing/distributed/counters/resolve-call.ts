/** The words of resolve.lua: releases and pushes as its arguments. */
import type { AccountPush, KeyMonthPush, Resolve, ResolveBatch } from "../../counters.ts";
import { countableBalance } from "../../credit-bound.ts";
import { monthBounds, monthOf } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { tombstoneMs } from "../../../limits/constants.ts";
import { baseName, callsFor } from "./calls.ts";

export interface ResolveCall {
  keys: string[];
  values: string[];
  /** For each reply, which resolve of the batch it answers. */
  places: number[];
}

/** What is done to one workspace. */
interface Part {
  resolve: [place: number, resolve: Resolve][];
  accounts: AccountPush[];
  keyMonths: KeyMonthPush[];
}

/** @param clustered whether a call must stay within a cluster's slot */
export function resolveCalls(batch: ResolveBatch, clustered: boolean): ResolveCall[] {
  const parts = partsByWorkspace(batch);
  return callsFor(parts.keys(), clustered).map((workspaces) => {
    const call: ResolveCall = { keys: workspaces.map(baseName), values: [String(tombstoneMs)], places: [] };
    for (const workspace of workspaces) pushPart(call, parts.get(workspace) ?? emptyPart());
    return call;
  });
}

function partsByWorkspace({ resolve, accounts, keyMonths }: ResolveBatch): Map<WorkspaceId, Part> {
  const parts = new Map<WorkspaceId, Part>();
  const partOf = ({ workspace }: { workspace: WorkspaceId }): Part => {
    const part = parts.get(workspace) ?? emptyPart();
    parts.set(workspace, part);
    return part;
  };
  for (const [place, one] of resolve.entries()) partOf(one).resolve.push([place, one]);
  for (const push of accounts) partOf(push).accounts.push(push);
  for (const push of keyMonths) partOf(push).keyMonths.push(push);
  return parts;
}

function emptyPart(): Part {
  return { resolve: [], accounts: [], keyMonths: [] };
}

function pushPart({ values, places }: ResolveCall, { resolve, accounts, keyMonths }: Part): void {
  values.push(String(resolve.length));
  for (const [place, { generation, as }] of resolve) {
    places.push(place);
    values.push(generation, as);
  }
  values.push(String(accounts.length));
  for (const { balance, sequence, months } of accounts) {
    values.push(String(countableBalance(balance)), String(sequence), String(months.length));
    for (const { month, spent } of months) values.push(month, String(spent), monthOf(monthBounds(month).startMs - 1));
  }
  values.push(String(keyMonths.length));
  for (const { key, month, spent, version, sequence } of keyMonths)
    values.push(key, month, String(spent), String(version), String(sequence));
}
