/** Five vendors on one local port: each answers only the call that its documentation requires. */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import type { ProbeFetch } from "../../../src/connectors/connections/probe.ts";

export interface Asked {
  method: string;
  /** The vendor's host, as the client requested it. */
  url: string;
  headers: Headers;
  body: string;
}

export type Vendor = (asked: Asked) => Response | undefined;

export interface VendorStub extends AsyncDisposable {
  /** Redirects calls to vendors here, with the vendor's host in the header. */
  probeFetch: ProbeFetch;
  asked: Asked[];
}

export function startVendorStub(vendors: readonly Vendor[]): VendorStub {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const url = `https://${request.headers.get("host")}${pathname}${search}`;
      const one = { method: request.method, url, headers: request.headers, body: await request.text() };
      asked.push(one);
      const answers = vendors.map((vendor) => vendor(one)).filter((answer) => answer !== undefined);
      return answers[0] ?? Response.json({ error: "There is nothing here" }, { status: 404 });
    },
  });
  return {
    asked,
    async probeFetch({ method, url, headers, body }) {
      const here = `http://127.0.0.1:${server.port}${url.pathname}${url.search}`;
      const sent = { method, headers: { ...headers, host: url.host }, body: body ?? null, redirect: "manual" as const };
      const answer = await fetch(here, sent);
      return { status: answer.status, body: await answer.text() };
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const yes = (body: unknown): Response => Response.json(body);
const no = (status = 401): Response => Response.json({ error: "It is canary-of-the-vendor that is wrong" }, { status });

export const oktaVendor: Vendor = ({ method, url, headers }) => {
  if (`${method} ${url}` !== "GET https://acme.okta.com/api/v1/users?limit=1") return;
  return headers.get("authorization") === "SSWS right" ? yes([]) : no();
};

export const jiraVendor: Vendor = ({ method, url, headers }) => {
  if (`${method} ${url}` !== "GET https://acme.atlassian.net/rest/api/3/myself") return;
  const pair = Buffer.from((headers.get("authorization") ?? "").replace(/^Basic /, ""), "base64").toString();
  return pair === "it@acme.example:right" ? yes({ accountId: "1" }) : no();
};

export const datadogVendor: Vendor = ({ method, url, headers }) => {
  if (`${method} ${url}` !== "GET https://api.datadoghq.eu/api/v2/users?page[size]=1") return;
  const pair = [headers.get("dd-api-key"), headers.get("dd-application-key")];
  return pair.join() === "key,right" ? yes({ data: [] }) : no(403);
};

export const entraVendor: Vendor = ({ method, url, headers, body }) => {
  if (`${method} ${url}` === "POST https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token") {
    const form = Object.fromEntries(new URLSearchParams(body));
    const wanted = { grant_type: "client_credentials", client_id: "client", scope: "https://graph.microsoft.com/.default" };
    const typed = headers.get("content-type") === "application/x-www-form-urlencoded";
    const right = typed && Object.entries(wanted).every(([field, value]) => form[field] === value);
    return right && form["client_secret"] === "right & proper" ? yes({ access_token: "entra-token" }) : no(400);
  }
  if (`${method} ${url}` !== "GET https://graph.microsoft.com/v1.0/users?$top=1&$select=id") return;
  return headers.get("authorization") === "Bearer entra-token" ? yes({ value: [] }) : no();
};

/** Accepts the assertions that the account's key signed, at the time of the test. */
export function googleVendor(accountKey: KeyObject, nowSeconds: () => number): Vendor {
  return ({ method, url, headers, body }) => {
    if (`${method} ${url}` === "POST https://oauth2.googleapis.com/token") {
      const form = new URLSearchParams(body);
      if (form.get("grant_type") !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return no(400);
      return isTrusted(form.get("assertion") ?? "", accountKey, nowSeconds()) ? yes({ access_token: "google-token" }) : no(400);
    }
    if (`${method} ${url}` !== "GET https://admin.googleapis.com/admin/directory/v1/users?maxResults=1&customer=C01") return;
    return headers.get("authorization") === "Bearer google-token" ? yes({ users: [] }) : no(403);
  };
}

function isTrusted(assertion: string, key: KeyObject, now: number): boolean {
  const [header = "", claims = "", signature = ""] = assertion.split(".");
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, "base64url").toString());
  if (!verify("sha256", Buffer.from(`${header}.${claims}`), createPublicKey(key), Buffer.from(signature, "base64url")))
    return false;
  const { alg, typ, kid } = read(header);
  const { iss, sub, scope, aud, iat, exp } = read(claims);
  const named = [alg, typ, kid, iss, sub, scope, aud].join(" ");
  const wanted =
    "RS256 JWT key-1 reader@acme.iam.gserviceaccount.com admin@acme.example " +
    "https://www.googleapis.com/auth/admin.directory.user.readonly https://oauth2.googleapis.com/token";
  return named === wanted && iat === now && Number(exp) > now && Number(exp) <= now + 3_600;
}
