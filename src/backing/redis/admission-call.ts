/** The arguments of admit.lua: a batch of requests. */
import type { AdmitBatch, AdmitRequest } from "../counters.ts";
import { monthBounds, type Month } from "../../kernel/clock.ts";
import type { KeyId, WorkspaceId } from "../../kernel/ids.ts";
import { holdMs, rateWindowMs, tombstoneMs } from "../limits.ts";
import { baseName, callsFor } from "./calls.ts";
import { headField, keyMonthField, monthField, windowField } from "./fields.ts";
import { packedArguments, type Packing } from "./packed-arguments.ts";

/** A request with its place in the batch: a call has them by workspace. */
type Placed = [place: number, request: AdmitRequest];

export interface AdmissionCall {
  key: string;
  values: (string | Buffer)[];
  /** In the order of the replies. */
  placed: Placed[];
}

/** @param store the store's current run, and whether a call must stay within a cluster's slot */
export function admissionCalls({ month, requests }: AdmitBatch, store: { run: number; clustered: boolean }): AdmissionCall[] {
  const { startMs, endMs } = monthBounds(month);
  const byWorkspace = placedByWorkspace(requests);
  return callsFor(byWorkspace.keys(), store.clustered).map((workspaces) => {
    const numbers = [workspaces.length, store.run, startMs, endMs, holdMs, rateWindowMs, tombstoneMs];
    const packing: Packing = { texts: [], numbers };
    const called: Placed[] = [];
    for (const workspace of workspaces) {
      const placed = byWorkspace.get(workspace) ?? [];
      packRequests(packing, { workspace, month, placed });
      called.push(...placed);
    }
    return { key: baseName(workspaces[0]), values: packedArguments(packing), placed: called };
  });
}

function placedByWorkspace(requests: AdmitRequest[]): Map<WorkspaceId, Placed[]> {
  const byWorkspace = new Map<WorkspaceId, Placed[]>();
  for (const [place, request] of requests.entries()) {
    const placed = byWorkspace.get(request.workspace);
    if (placed) placed.push([place, request]);
    else byWorkspace.set(request.workspace, [[place, request]]);
  }
  return byWorkspace;
}

function packRequests(
  { texts, numbers }: Packing,
  { workspace, month, placed }: { workspace: WorkspaceId; month: Month; placed: Placed[] },
): void {
  texts.push(baseName(workspace), headField, monthField(month));
  for (const [, { generation }] of placed) texts.push(generation);
  const keys = new Map<KeyId, number>();
  for (const [, { key }] of placed) {
    if (keys.has(key)) continue;
    keys.set(key, keys.size);
    texts.push(windowField(key), keyMonthField({ key, month }));
  }
  numbers.push(placed.length, keys.size);
  for (const [, request] of placed) {
    texts.push(request.fingerprint);
    numbers.push(
      keys.get(request.key) ?? 0,
      request.requestsPerMinute,
      Number(request.amount),
      Number(request.keyLimit ?? Infinity),
      Number(request.workspaceLimit ?? Infinity),
      request.deadline ?? Infinity,
      request.modelRefusal === null ? 0 : 1,
    );
  }
}
