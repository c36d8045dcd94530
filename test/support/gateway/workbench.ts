/** Requests of members in the Workbench, sent with the operator token and `X-Act-As`. */
import type { Operator } from "../operator.ts";

export interface WorkbenchPlan {
  url: string;
  operator: Operator;
  workspace: string;
  /** The email of the member; null: the operator. */
  as: string | null;
  body?: Record<string, unknown> | string;
  signal?: AbortSignal;
}

export function workbench({ url, operator, workspace, as, body = {}, signal }: WorkbenchPlan): Promise<Response> {
  const chat = { model: "stub/model", messages: [{ role: "user", content: "Hello" }] };
  const headers = { authorization: `Bearer ${operator.token}`, "content-type": "application/json" };
  return fetch(`${url}/api/console/workbench?workspace=${workspace}`, {
    method: "POST",
    headers: { ...headers, ...(as !== null && { "x-act-as": as }) },
    body: typeof body === "string" ? body : JSON.stringify({ ...chat, ...body }),
    ...(signal && { signal }),
  });
}
