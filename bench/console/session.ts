/** Signs in to the Console as a browser does. */
import { workspaceName } from "./plan.ts";
import type { RunningFleet } from "../contenders/weir.ts";

type Place = Pick<RunningFleet, "url" | "operatorToken">;

/** Makes somebody a member of the largest workspace. */
export async function invite(member: { email: string; role: string }, { url, operatorToken }: Place): Promise<void> {
  const made = await fetch(`${url}/api/console/members`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ ...member, workspace: workspaceName(0) }),
  });
  if (!made.ok) throw new Error(`The invitation of ${member.email} answered ${made.status}: ${await made.text()}`);
}

/** By a one-time link, which the operator makes. @returns the cookie's header */
export async function personSession(email: string, { url, operatorToken }: Place): Promise<string> {
  const made = await fetch(`${url}/api/console/session-links`, {
    method: "POST",
    headers: { authorization: `Bearer ${operatorToken}`, "content-type": "application/json" },
    body: JSON.stringify({ email }),
  });
  if (!made.ok) throw new Error(`The link of ${email} answered ${made.status}: ${await made.text()}`);
  const link = new URL(String(((await made.json()) as { url: unknown }).url));
  return cookieOf(await post(url + link.pathname, ""));
}

/** By the operator token. @returns the cookie's header */
export async function operatorSession({ url, operatorToken }: Place): Promise<string> {
  return cookieOf(await post(`${url}/console/sign-in`, new URLSearchParams({ operator_token: operatorToken }).toString()));
}

function post(address: string, body: string): Promise<Response> {
  const headers = { "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" };
  return fetch(address, { method: "POST", headers, body, redirect: "manual" });
}

async function cookieOf(response: Response): Promise<string> {
  const text = await response.text();
  const [cookie] = response.headers.getSetCookie().flatMap((one) => /^weir=[\w-]+/.exec(one) ?? []);
  if (cookie === undefined) throw new Error(`The sign-in answered ${response.status}: ${text.slice(0, 500)}`);
  return cookie;
}
