/** Vendors on one local port: each answers only the call that its documentation requires. */
import { createPublicKey, verify, type KeyObject } from "node:crypto";
import type { ProbeFetch } from "../../../src/connectors/connections/probe.ts";
import { createSafeFetch, type SafeFetch } from "../../../src/http/safe-fetch.ts";
import { systemClock } from "../../../src/kernel/clock.ts";

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
  /** The same under the bounds of real calls. */
  callVendors: SafeFetch;
  asked: Asked[];
}

export function startVendorStub(vendors: readonly Vendor[]): VendorStub {
  const call = createSafeFetch({ clock: systemClock, configured: () => true });
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
    callVendors({ url, headers, ...request }) {
      if (url.protocol !== "https:") throw new Error(`A vendor is called by ${url.protocol}`);
      const here = new URL(`http://127.0.0.1:${server.port}${url.pathname}${url.search}`);
      return call({ ...request, url: here, headers: { ...headers, host: url.host } });
    },
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

/** A list of people at Okta in pages of two, linked by headers. */
export function oktaPeople(people: readonly [login: string, status: string][]): Vendor {
  return ({ method, url, headers }) => {
    const { origin, pathname, searchParams } = new URL(url);
    if (method !== "GET" || origin !== "https://acme.okta.com" || pathname !== "/api/v1/users") return;
    const isKnown = ["SSWS right", "Bearer okta-token"].includes(headers.get("authorization") ?? "");
    const filter = searchParams.get("filter");
    if (!isKnown || searchParams.get("limit") !== "200" || (filter !== null && filter !== 'status eq "DEPROVISIONED"'))
      return no();
    const from = Number(searchParams.get("after") ?? 0);
    const listed = people.filter(([, status]) => (status === "DEPROVISIONED") === (filter !== null));
    const rows = listed.slice(from, from + 2).map(([login, status]) => ({
      id: `id of ${login}`,
      status,
      profile: { login, email: `mail+${login}`, firstName: "canary-first-name", lastName: "Doe" },
    }));
    const next = new URLSearchParams({ ...Object.fromEntries(searchParams), after: String(from + 2) });
    const answer = yes(rows);
    answer.headers.append("link", `<${origin}/api/v1/users?limit=200>; rel="self"`);
    if (from + 2 < listed.length) answer.headers.append("link", `<${origin}/api/v1/users?${next}>; rel="next"`);
    return answer;
  };
}

const tokens: Record<string, string> = {
  "https://oauth2.googleapis.com/token": "google-token",
  "https://login.microsoftonline.com/tenant-1/oauth2/v2.0/token": "entra-token",
};

/** Gives each of the two vendors its token. */
export const tokenVendor: Vendor = ({ method, url }) => {
  const token = method === "POST" ? tokens[url] : undefined;
  return token === undefined ? undefined : yes({ access_token: token, token_type: "Bearer", expires_in: 3599 });
};

/** https://developers.google.com/workspace/admin/directory/v1/guides/manage-users#get_all_users */
export const googlePeople: Vendor = ({ method, url, headers }) => {
  const { origin, pathname, searchParams } = new URL(url);
  if (method !== "GET" || origin + pathname !== "https://admin.googleapis.com/admin/directory/v1/users") return;
  const { pageToken, ...asked } = Object.fromEntries(searchParams);
  const wanted = { customer: "C01", maxResults: "500", orderBy: "email", fields: asked["fields"] };
  if (headers.get("authorization") !== "Bearer google-token" || !Bun.deepEquals(asked, wanted)) return no(400);
  if (pageToken === undefined) {
    const users = [
      { primaryEmail: "liz@acme.example", suspended: false, archived: false, isEnrolledIn2Sv: true },
      { primaryEmail: "bob@acme.example", suspended: true, archived: false, isEnrolledIn2Sv: false },
    ];
    return yes({ kind: "admin#directory#users", users, nextPageToken: "page + 2" });
  }
  return pageToken === "page + 2"
    ? yes({ users: [{ primaryEmail: "old@acme.example", suspended: true, archived: true, isEnrolledIn2Sv: false }] })
    : no(400);
};

/** @param report false: the tenant has no licence for the report of authentication methods */
export function entraPeople(report: boolean): Vendor {
  const base = "https://graph.microsoft.com/v1.0";
  return ({ method, url, headers }) => {
    if (method !== "GET" || !url.startsWith(base)) return;
    if (headers.get("authorization") !== "Bearer entra-token") return no();
    const user = (userPrincipalName: string, accountEnabled: boolean) => ({ userPrincipalName, accountEnabled });
    if (url === `${base}/users?$select=userPrincipalName,accountEnabled&$top=999`) {
      const value = [user("Adams@contoso.example", true), user("guest_acme.example#EXT#@contoso.onmicrosoft.com", true)];
      return yes({ "@odata.nextLink": `${base}/users?$top=999&$skiptoken=RFN`, value });
    }
    if (url === `${base}/users?$top=999&$skiptoken=RFN`) return yes({ value: [user("left@contoso.example", false)] });
    if (url !== `${base}/reports/authenticationMethods/userRegistrationDetails`) return;
    if (!report)
      return Response.json({ error: { code: "Authentication_RequestFromNonPremiumTenantOrB2CTenant" } }, { status: 403 });
    const details = (userPrincipalName: string, isMfaRegistered: boolean) => ({ userPrincipalName, isMfaRegistered });
    return yes({ value: [details("adams@contoso.example", true), details("left@contoso.example", false)] });
  };
}

/** The claims of a JSON Web Token that the key signed; undefined: another key did. */
function claimsOf(token: string, key: KeyObject): Record<string, unknown> | undefined {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const signed = Buffer.from(`${header}.${claims}`);
  const isRight = verify(
    "sha256",
    signed,
    { key: createPublicKey(key), dsaEncoding: "ieee-p1363" },
    Buffer.from(signature, "base64url"),
  );
  const read = (part: string): Record<string, unknown> => JSON.parse(Buffer.from(part, "base64url").toString());
  const alg = key.asymmetricKeyType === "rsa" ? "RS256" : "ES256";
  return isRight && read(header)["alg"] === alg ? { ...read(claims), kid: read(header)["kid"] } : undefined;
}

/** An app of Okta with `key`: https://developer.okta.com/docs/guides/implement-oauth-for-okta-serviceapp/main/ */
export function oktaApp(key: () => KeyObject, keyId: string, nowSeconds: () => number): Vendor {
  const tokenUrl = "https://acme.okta.com/oauth2/v1/token";
  return ({ method, url, headers, body }) => {
    if (`${method} ${url}` === "GET https://acme.okta.com/api/v1/users?limit=1")
      return headers.get("authorization") === "Bearer okta-token" ? yes([]) : undefined;
    if (`${method} ${url}` !== `POST ${tokenUrl}`) return;
    const { client_assertion: assertion = "", ...form } = Object.fromEntries(new URLSearchParams(body));
    const wanted = {
      grant_type: "client_credentials",
      scope: "okta.users.read",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    };
    const { iss, sub, aud, iat, exp, kid } = claimsOf(assertion, key()) ?? {};
    const isInTime = iat === nowSeconds() && Number(exp) > nowSeconds() && Number(exp) <= nowSeconds() + 3_600;
    const isRight = Bun.deepEquals([iss, sub, aud, kid], ["0oa1", "0oa1", tokenUrl, keyId]);
    return isInTime && isRight && Bun.deepEquals(form, wanted) ? yes({ access_token: "okta-token" }) : no(400);
  };
}

/** The app 77 of GitHub with `key`, which is installed in `acme` as 5: https://docs.github.com/en/rest/apps/apps */
export function gitHubApp(key: KeyObject, nowSeconds: () => number): Vendor {
  const api = "https://api.github.com";
  return ({ method, url, headers, body }) => {
    const bearer = (headers.get("authorization") ?? "").replace("Bearer ", "");
    if (url === `${api}/orgs/acme/members?per_page=100` && bearer === "installation-token")
      return yes([{ login: "octocat" }, { login: "hubot" }]);
    if (!/\/installation|\/app\//.test(url)) return;
    const { iss, iat, exp } = claimsOf(bearer, key) ?? {};
    const [from, to] = [Number(iat), Number(exp)];
    if (iss !== "77" || from > nowSeconds() || to <= nowSeconds() || to - from > 600) return no();
    if (`${method} ${url}` === `GET ${api}/orgs/acme/installation`) return yes({ id: 5 });
    const isAsked = body === '{"permissions":{"members":"read"}}';
    if (`${method} ${url}` === `POST ${api}/app/installations/5/access_tokens`)
      return isAsked ? Response.json({ token: "installation-token" }, { status: 201 }) : no(422);
    return no(404);
  };
}

/** Organizations of GitHub: `acme`, whose owner asks, and `guests`, whose member asks. */
export const gitHubPeople: Vendor = ({ method, url, headers }) => {
  const { origin, pathname, searchParams } = new URL(url);
  if (method !== "GET" || origin !== "https://api.github.com") return;
  if (headers.get("authorization") !== "Bearer right" || headers.get("x-github-api-version") === null) return no();
  const member = /^\/user\/memberships\/orgs\/(acme|guests)$/.exec(pathname)?.[1];
  if (member !== undefined) return yes({ state: "active", role: member === "acme" ? "admin" : "member" });
  if (pathname === "/orgs/guests/members") {
    return searchParams.has("filter") ? no(422) : yes([{ login: "octocat" }, { login: "visitor" }]);
  }
  if (searchParams.get("filter") === "2fa_disabled") return yes([{ login: "HUBOT" }]);
  if (pathname === "/orgs/acme/members") {
    const answer = yes([{ login: "octocat" }, { login: "hubot" }]);
    answer.headers.set("link", `<${origin}/organizations/1/members?per_page=100&page=2>; rel="next", <${origin}/x>; rel="last"`);
    return answer;
  }
  return pathname === "/organizations/1/members" ? yes([{ login: "monalisa" }]) : undefined;
};

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
