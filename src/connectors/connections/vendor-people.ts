/**
 * Who has an account at a vendor: login, state and second factor, from the list that the vendor documents. Nothing is changed there.
 *
 * A login is unique at each of these vendors, so names are neither asked for nor kept; of several spellings the first is kept. People are
 * bounded, and a reading that leaves some out says so. How lists are called and paged is in vendor-calls.ts.
 */
import { isJsonObject, type JsonObject } from "../../http/json.ts";
import * as limits from "../limits.ts";
import { headerText, VendorError } from "./probe.ts";
import {
  entraToken,
  gitHub,
  gitHubAppHeaders,
  gitHubHeaders,
  gitHubInstallation,
  gitHubOrganizations,
  googleToken,
  oktaAccess,
  oktaOrigin,
  oktaToken,
} from "./probes.ts";
import type { PersonState } from "./schema.ts";
import {
  lacksGrant,
  linkedPage,
  pagesOf,
  vendorRefusal,
  rowsIn,
  textAt,
  wrongForm,
  type PagedList,
  type VendorAnswer,
  type VendorCalls,
} from "./vendor-calls.ts";

export interface Person {
  login: string;
  state: PersonState;
  /** null: the vendor does not tell. */
  secondFactor: boolean | null;
}

export interface FoundPeople {
  /** Sorted by login. */
  people: Person[];
  /** Whether there are no more than these. */
  isComplete: boolean;
  /** Why the second factor of some is not known; null: that of everyone is. */
  unknownFactor: string | null;
}

type Value = (key: string) => string;

export interface PeopleSource {
  /** Id of the connector. */
  connector: string;
  /** Keys of the fields that it uses. */
  needs: readonly string[];
  /** The vendor's list, as its documentation names it. */
  list: string;
  /** @throws VendorError, CredentialError, and what a call rejects with */
  read(value: Value, calls: VendorCalls): Promise<FoundPeople>;
}

function loginIn(row: JsonObject, field: string): string {
  const login = row[field];
  const isLogin = typeof login === "string" && login.length <= limits.peopleLoginCharactersMax && /^[^\s\p{C}]+$/u.test(login);
  if (isLogin) return login;
  throw wrongForm();
}

function flagIn(row: JsonObject, field: string): boolean | null {
  const value = row[field];
  if (value === undefined || value === null) return null;
  if (typeof value === "boolean") return value;
  throw wrongForm();
}

/** The people that a reading found so far. */
class Gathered {
  readonly #people = new Map<string, Person>();
  #isComplete = true;

  /** @returns whether there is room for more */
  add(people: readonly Person[]): boolean {
    for (const person of people) {
      const key = person.login.toLowerCase();
      if (this.#people.has(key)) continue;
      if (this.#people.size >= limits.peopleMax) {
        this.#isComplete = false;
        return false;
      }
      this.#people.set(key, person);
    }
    return true;
  }

  /** Undefined: the reading does not have the person. */
  find(login: string): Person | undefined {
    return this.#people.get(login.toLowerCase());
  }

  /** @param why the second factor of those is unknown whose vendor does not tell it */
  found(why: string): FoundPeople {
    const sorted = [...this.#people].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const people = sorted.map(([, person]) => person);
    const isUnknown = people.some(({ secondFactor }) => secondFactor === null);
    return { people, isComplete: this.#isComplete, unknownFactor: isUnknown ? why : null };
  }
}

/** @returns whether there is room for more */
async function gather(
  list: PagedList,
  into: Gathered,
  { calls, read }: { calls: VendorCalls; read(page: unknown): Person[] },
): Promise<boolean> {
  for await (const page of pagesOf(list, calls)) if (!into.add(read(page))) return false;
  return true;
}

// Okta

/** https://developer.okta.com/docs/reference/api/users/#user-status */
const oktaStates: Readonly<Record<string, PersonState>> = {
  ACTIVE: "active",
  PASSWORD_EXPIRED: "active",
  RECOVERY: "active",
  STAGED: "pending",
  PROVISIONED: "pending",
  LOCKED_OUT: "locked",
  SUSPENDED: "suspended",
  DEPROVISIONED: "disabled",
};

const oktaList = "GET /api/v1/users";
const oktaRight = "an admin role that may view users, such as Read-only Administrator";

const okta: PeopleSource = {
  connector: "okta",
  needs: ["okta_domain", "api_token"],
  list: oktaList,
  read: (value, calls) => readOkta({ ...oktaAccess(value), right: oktaRight }, calls),
};

const oktaApp: PeopleSource = {
  connector: "okta",
  needs: ["okta_domain", "client_id", "private_key"],
  list: oktaList,
  async read(value, calls) {
    const right = `the scope okta.users.read, and ${oktaRight}`;
    const headers = bearer(await calls.token(oktaToken(value, calls.clock), right));
    return readOkta({ origin: oktaOrigin(value), headers, right }, calls);
  },
};

/**
 * https://developer.okta.com/docs/api/openapi/okta-management/management/tag/User/#tag/User/operation/listUsers: without a filter, the list
 * leaves out those who are deprovisioned, so they are asked for too. `okta-response` leaves out of each row what is not read.
 */
async function readOkta(
  { origin, headers, right }: { origin: URL; headers: Record<string, string>; right: string },
  calls: VendorCalls,
): Promise<FoundPeople> {
  const people = new Gathered();
  for (const filter of ["", `&filter=${encodeURIComponent('status eq "DEPROVISIONED"')}`]) {
    const list = {
      url: new URL(`/api/v1/users?limit=200${filter}`, origin),
      headers: { ...headers, "content-type": "application/json; okta-response=omitCredentials,omitCredentialsLinks" },
      right,
      next: linkedPage,
    };
    if (!(await gather(list, people, { calls, read: (page) => rowsIn(page).map(oktaPerson) }))) break;
  }
  return people.found("Okta’s list does not tell it: Okta lists factors of one person at a time");
}

function oktaPerson(row: JsonObject): Person {
  const { profile, status } = row;
  if (!isJsonObject(profile)) throw wrongForm();
  return { login: loginIn(profile, "login"), state: oktaStates[String(status)] ?? "unknown", secondFactor: null };
}

// Google Workspace

/** https://developers.google.com/workspace/admin/directory/reference/rest/v1/users/list */
const googleWorkspace: PeopleSource = {
  connector: "google-workspace",
  needs: ["customer_id", "administrator_email", "credentials"],
  list: "GET /admin/directory/v1/users",
  async read(value, calls) {
    const right = "domain-wide delegation of admin.directory.user.readonly, and an administrator who may read users";
    const token = await calls.token(googleToken(value, calls.clock), right);
    const url = new URL("https://admin.googleapis.com/admin/directory/v1/users?maxResults=500&orderBy=email");
    url.searchParams.set("customer", value("customer_id"));
    url.searchParams.set("fields", "nextPageToken,users(primaryEmail,suspended,archived,isEnrolledIn2Sv)");
    const next = ({ json }: VendorAnswer, page: URL): string | null => {
      const pageToken = textAt(json, "nextPageToken");
      if (pageToken === null) return null;
      const following = new URL(page);
      following.searchParams.set("pageToken", pageToken);
      return following.href;
    };
    const people = new Gathered();
    const read = (page: unknown) =>
      (isJsonObject(page) && page["users"] === undefined ? [] : rowsIn(page, "users")).map(googlePerson);
    await gather({ url, headers: bearer(token), right, next }, people, { calls, read });
    return people.found("Google left it out for some people");
  },
};

function googlePerson(row: JsonObject): Person {
  const [suspended, archived] = [flagIn(row, "suspended"), flagIn(row, "archived")];
  const state = archived ? "archived" : suspended ? "suspended" : "active";
  return { login: loginIn(row, "primaryEmail"), state, secondFactor: flagIn(row, "isEnrolledIn2Sv") };
}

function bearer(token: string): Record<string, string> {
  return { accept: "application/json", authorization: `Bearer ${token}` };
}

// Microsoft Entra ID

const graph = "https://graph.microsoft.com/v1.0";

/**
 * https://learn.microsoft.com/en-us/graph/api/user-list, and for the second factor
 * https://learn.microsoft.com/en-us/graph/api/authenticationmethodsroot-list-userregistrationdetails, which needs a right and a licence of
 * its own. Without them the people are read all the same.
 */
const microsoftEntraId: PeopleSource = {
  connector: "microsoft-entra-id",
  needs: ["entra_tenant_id", "entra_client_id", "entra_client_secret"],
  list: "GET /v1.0/users",
  async read(value, calls) {
    const right = "the application permission User.Read.All, with an administrator's consent";
    const headers = bearer(await calls.token(entraToken(value), right));
    const next = ({ json }: VendorAnswer): string | null => textAt(json, "@odata.nextLink");
    const users = { url: new URL(`${graph}/users?$select=userPrincipalName,accountEnabled&$top=999`), headers, right, next };
    const people = new Gathered();
    await gather(users, people, { calls, read: (page) => rowsIn(page, "value").map(entraPerson) });
    const url = new URL(`${graph}/reports/authenticationMethods/userRegistrationDetails`);
    const report = { url, headers, right: "AuditLog.Read.All", next };
    const isTold = await toldFactors(async () => {
      for await (const page of pagesOf(report, calls)) addFactors(page, people);
    });
    return people.found(
      isTold
        ? "Microsoft’s report of authentication methods does not have these people"
        : "Microsoft tells it only with the application permission AuditLog.Read.All and a licence for Microsoft Entra ID P1 or P2",
    );
  },
};

function entraPerson(row: JsonObject): Person {
  const enabled = flagIn(row, "accountEnabled");
  const state = enabled === null ? "unknown" : enabled ? "active" : "disabled";
  return { login: loginIn(row, "userPrincipalName"), state, secondFactor: null };
}

/** Reads second factors, whose list may need a right of its own. @returns false: the vendor does not show it */
async function toldFactors(read: () => Promise<void>): Promise<boolean> {
  try {
    await read();
    return true;
  } catch (error) {
    if (error instanceof VendorError && (error.outcome === "lacks_grant" || error.status === 422)) return false;
    throw error;
  }
}

function addFactors(page: unknown, people: Gathered): void {
  for (const row of rowsIn(page, "value")) {
    const person = people.find(loginIn(row, "userPrincipalName"));
    if (person !== undefined) person.secondFactor = flagIn(row, "isMfaRegistered");
  }
}

// GitHub

const gitHubList = "GET /orgs/{org}/members";
const gitHubRight = "a token of a member of the organization, with Members: Read (read:org of a classic token)";
const gitHubAppRight = "an app that is installed in the organization, with Members: Read";
const gitHubFactors = "GitHub tells it to owners of the organization alone";

/**
 * https://docs.github.com/en/rest/orgs/members: who is no member is shown only those that made their membership public, so the membership
 * of the token's owner is asked for first. The second factor is shown to owners alone, as a list of those without one.
 */
const github: PeopleSource = {
  connector: "github",
  needs: ["personal_access_token", "orgs"],
  list: gitHubList,
  async read(value, calls) {
    const headers = gitHubHeaders(headerText("personal_access_token", value("personal_access_token")));
    const people = new Gathered();
    for (const organization of gitHubOrganizations("orgs", value("orgs"), limits.peopleOrganizationsMax)) {
      const isOwner = await ownsOrganization(organization, { headers, calls });
      const asked = { organization, headers, right: gitHubRight };
      const logins = await readMembers(asked, people, calls);
      if (isOwner) await readFactors(asked, { logins, people, calls });
    }
    return people.found(gitHubFactors);
  },
};

/**
 * The app gets a token of its installation that may read members and nothing else:
 * https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
 */
const githubApp: PeopleSource = {
  connector: "github",
  needs: ["github_app_id", "github_app_private_key", "organization"],
  list: gitHubList,
  async read(value, calls) {
    const [organization = ""] = gitHubOrganizations("organization", value("organization"), 1);
    const headers = await installationHeaders(gitHubInstallation(organization), gitHubAppHeaders(value, calls.clock), calls);
    const people = new Gathered();
    await readMembers({ organization, headers, right: gitHubAppRight }, people, calls);
    return people.found(gitHubFactors);
  },
};

/** @throws VendorError */
async function installationHeaders(
  url: URL,
  headers: Record<string, string>,
  calls: VendorCalls,
): Promise<Record<string, string>> {
  const installed = await calls.get(url, headers);
  if (installed.status === 404) throw lacksGrant(installed.status, gitHubAppRight);
  if (installed.status !== 200) throw vendorRefusal(installed, gitHubAppRight);
  const id = isJsonObject(installed.json) ? installed.json["id"] : null;
  if (!Number.isSafeInteger(id)) throw wrongForm();
  const tokenUrl = new URL(`${gitHub}/app/installations/${String(id)}/access_tokens`);
  const answer = await calls.post(tokenUrl, { headers, json: { permissions: { members: "read" } } });
  // 422: the installation lacks the permission that is asked for.
  if (answer.status === 422) throw lacksGrant(answer.status, gitHubAppRight);
  if (answer.status !== 201) throw vendorRefusal(answer, gitHubAppRight);
  const token = textAt(answer.json, "token");
  if (token === null || !/^[\u0021-\u007e]+$/.test(token)) throw wrongForm();
  return gitHubHeaders(token);
}

interface AskedOrganization {
  organization: string;
  headers: Record<string, string>;
  right: string;
}

function membersOf({ organization, headers, right }: AskedOrganization, query = ""): PagedList {
  const url = new URL(`${gitHub}/orgs/${organization}/members?per_page=100${query}`);
  return { url, headers, right, next: linkedPage };
}

const memberLogins = (page: unknown): string[] => rowsIn(page).map((row) => loginIn(row, "login"));

/** @returns the logins */
async function readMembers(asked: AskedOrganization, people: Gathered, calls: VendorCalls): Promise<string[]> {
  const logins: string[] = [];
  const read = (page: unknown): Person[] =>
    memberLogins(page).map((login) => {
      logins.push(login);
      return { login, state: "active", secondFactor: null };
    });
  await gather(membersOf(asked), people, { calls, read });
  return logins;
}

async function readFactors(
  asked: AskedOrganization,
  { logins, people, calls }: { logins: readonly string[]; people: Gathered; calls: VendorCalls },
): Promise<void> {
  const without = new Set<string>();
  const isTold = await toldFactors(async () => {
    for await (const page of pagesOf(membersOf(asked, "&filter=2fa_disabled"), calls))
      for (const login of memberLogins(page)) without.add(login.toLowerCase());
  });
  if (!isTold) return;
  for (const login of logins) {
    const person = people.find(login);
    if (person !== undefined) person.secondFactor = !without.has(login.toLowerCase());
  }
}

/** https://docs.github.com/en/rest/orgs/members#get-an-organization-membership-for-the-authenticated-user @throws VendorError for no member */
async function ownsOrganization(
  organization: string,
  { headers, calls }: { headers: Record<string, string>; calls: VendorCalls },
): Promise<boolean> {
  const answer = await calls.get(new URL(`${gitHub}/user/memberships/orgs/${organization}`), headers);
  // GitHub hides from others that an organization exists.
  if (answer.status === 404) throw lacksGrant(answer.status, gitHubRight);
  if (answer.status !== 200) throw vendorRefusal(answer, gitHubRight);
  if (!isJsonObject(answer.json)) throw wrongForm();
  const { state, role } = answer.json;
  if (state !== "active") throw lacksGrant(answer.status, gitHubRight);
  return role === "admin";
}

const sources: readonly PeopleSource[] = [github, githubApp, googleWorkspace, microsoftEntraId, okta, oktaApp];

/** @returns undefined: Weir does not read people with these fields */
export function peopleSourceFor({
  connector,
  fields,
}: {
  connector: string;
  fields: readonly string[];
}): PeopleSource | undefined {
  return sources.find((source) => source.connector === connector && source.needs.every((key) => fields.includes(key)));
}

/** The fields that a connection needs for a reading, for each way to sign in; undefined: Weir reads no people of the vendor. */
export function peopleFieldsOf(connector: string): readonly (readonly string[])[] | undefined {
  const ways = sources.filter((source) => source.connector === connector);
  return ways.length === 0 ? undefined : ways.map(({ needs }) => needs);
}
