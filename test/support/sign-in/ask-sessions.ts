/** Signs a person in to a running service, and calls every operation of sessions. The session opens no API but the control API. */
import { jsonOf } from "../described.ts";
import type { DocumentedApi } from "../documented-api.ts";

interface Asked {
  api: DocumentedApi;
  url: string;
}

export async function askSessions(api: DocumentedApi, { url, email }: { url: string; email: string }): Promise<void> {
  const session = await sessionOf(email, { api, url });
  await api.ask("get /api/console/session", 200, { session });
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  await api.ask("get /gpt/v1/models", 401, { session });
  await api.ask("post /api/tools/platform_get_active_scope", 401, { session, headers, body: {} });
  await api.ask("post /mcp", 401, { session, headers, body: {} });
  for (const verb of ["accept", "decline"]) {
    const id = await inviting(email, { api, url });
    await api.ask(`post /api/console/invitations/{id}/${verb}`, 200, { session, id, body: {} });
    await api.ask(`post /api/console/invitations/{id}/${verb}`, 404, { session, id, body: {} });
    await api.ask(`post /api/console/invitations/{id}/${verb}`, 403, { id, body: {} });
  }
  const { data } = await api.ask("get /api/console/sessions", 200, { session });
  const id = String(jsonOf(Array.isArray(data) ? data[0] : {})["id"]);
  await api.ask("delete /api/console/sessions/{id}", 200, { session, id });
  await api.ask("get /api/console/session", 401, { session });
}

/** A workspace whose admin has invited the person. */
async function inviting(email: string, { api, url }: Asked): Promise<string> {
  const admin = `${crypto.randomUUID()}@example.test`;
  const { id: workspace } = await api.ask("post /api/console/workspaces", 201, { body: { name: admin } });
  await api.ask("post /api/console/members", 201, { body: { workspace, email: admin, role: "admin" } });
  const asked = { session: await sessionOf(admin, { api, url }), body: { workspace, email, role: "member", invite: true } };
  await api.ask("post /api/console/members", 201, asked);
  await api.ask("post /api/console/members", 429, asked);
  return String(workspace);
}

async function sessionOf(email: string, { api, url }: Asked): Promise<string> {
  const link = await api.ask("post /api/console/session-links", 201, { body: { email } });
  return followed(url + new URL(String(link["url"])).pathname);
}

/** Follows a link that signs in once. @returns the cookie's value */
async function followed(link: string): Promise<string> {
  const opened = await fetch(link, { method: "POST", headers: { "sec-fetch-site": "same-origin" }, redirect: "manual" });
  const [, session] = /^weir=([\w-]+)/.exec(opened.headers.get("set-cookie") ?? "") ?? [];
  if (session === undefined) throw new Error(`The link answered ${opened.status}: ${await opened.text()}`);
  return session;
}
