/**
 * The rules for one connector beyond its schema. Each is a function that returns wrong fields and what to change. The most important: a
 * grant names only read scopes, secrets have no example, and every claim has a source.
 */
import { isJson } from "../../../http/json.ts";
import { canonicalText } from "./format.ts";
import { claims, keysIn, type Claim, type Connector, type Field, type Grant, type DeclaredProbe } from "./schema.ts";

/** What the rules depend on. */
export interface Surroundings {
  /** Names of categories.json. */
  categories: ReadonlySet<string>;
  /** Texts of grant-notes.json by their codes, in the order of the file. */
  notes: ReadonlyMap<string, string>;
  /** Ids of connectors in oauth-apps.json. */
  oauthApps: ReadonlySet<string>;
}

/** A wrong field, and what to change. */
export type Finding = [field: string, message: string];

type Rule = (connector: Connector, surroundings: Surroundings) => Finding[];

const rules: readonly Rule[] = [category, connectMethods, form, fields, setProbes, grant, setGrants, docs, evidence];

export function findingsOf(connector: Connector, surroundings: Surroundings): Finding[] {
  return rules.flatMap((rule) => rule(connector, surroundings));
}

/** The claims of the connector that need a source. */
export function claimsOf({ form, grant, docs, mcp, vendor_oauth }: Connector): ReadonlySet<Claim> {
  const made: Record<Claim, boolean> = {
    fields: form === "specific",
    grant: grant !== null,
    docs: docs !== null,
    mcp: mcp !== null,
    oauth: vendor_oauth === true,
  };
  return new Set(claims.filter((claim) => made[claim]));
}

/** Compares the text with the canonical one and reports the first line that differs. */
export function spellingOf({ connector, text, notes }: { connector: Connector; text: string; notes: string[] }): Finding[] {
  return differs(text, canonicalText(connector, notes)).map((message) => ["", message]);
}

/** @returns at most one message */
export function differs(text: string, expected: string): string[] {
  if (text === expected) return [];
  const lines = text.split("\n");
  const line = expected.split("\n").findIndex((wanted, index) => wanted !== lines[index]);
  const wanted = expected.split("\n")[line];
  if (wanted === undefined) return ["has more lines than its facts need: end it with one line break, or run weir catalog fmt"];
  return [`line ${line + 1} would make the order unstable: write ${JSON.stringify(wanted)} there, or run weir catalog fmt`];
}

function category({ category }: Connector, { categories }: Surroundings): Finding[] {
  if (categories.has(category)) return [];
  return [["category", `"${category}" is not in categories.json: write one of its names`]];
}

function connectMethods({ id, methods, mcp }: Connector, { oauthApps }: Surroundings): Finding[] {
  const has = (method: Connector["methods"][number]): boolean => methods.includes(method);
  const problems: (string | false)[] = [
    new Set(methods).size < methods.length && "names a method twice: remove one",
    has("record_only") && methods.length > 1 && '"record_only" excludes other methods: remove it or the others',
    !has("record_only") && !has("api_token") && '"api_token" is missing: add it, for every connector takes a credential',
    has("mcp") && mcp === null && '"mcp" has no address: remove it, or write the address as mcp.url',
    !has("mcp") && mcp !== null && '"mcp" is missing although mcp.url has an address: add it',
    has("oauth") && !oauthApps.has(id) && '"oauth" has no app in oauth-apps.json: remove it',
    !has("oauth") && oauthApps.has(id) && '"oauth" is missing: add it, because oauth-apps.json names an app',
  ];
  return problems.filter((message) => message !== false).map((message) => ["methods", message]);
}

function form({ form, methods, credential_sets }: Connector): Finding[] {
  const recordOnly = methods.includes("record_only");
  if (recordOnly && form !== "none") return [["form", `is "${form}": write "none", because a record asks for nothing`]];
  if (!recordOnly && form === "none") return [["form", 'is "none": write "generic", or "specific" with credential_sets']];
  if (form === "specific" && !credential_sets) return [["credential_sets", 'is missing: write the fields, or form "generic"']];
  if (form !== "specific" && credential_sets) {
    return [["credential_sets", `does not fit form "${form}": remove it, or write form "specific"`]];
  }
  return [];
}

function fields({ credential_sets = [] }: Connector): Finding[] {
  return credential_sets.flatMap(({ fields }, set) => {
    const at = (index: number, name: string): string => `credential_sets[${set}].fields[${index}].${name}`;
    return fields.flatMap(({ key, label, secret, example }, index) => {
      const before = fields.slice(0, index);
      const found: Finding[] = [];
      if (before.some((other) => other.key === key)) found.push([at(index, "key"), `"${key}" occurs twice: rename one`]);
      if (before.some((other) => other.label === label)) found.push([at(index, "label"), `"${label}" occurs twice: rename one`]);
      if (secret && example !== undefined)
        found.push([at(index, "example"), "remove it: a secret has no example and no default"]);
      return found;
    });
  });
}

// Probes. What a field's value may do in an address is in connections/declared-probe.ts.

function setProbes({ credential_sets = [] }: Connector): Finding[] {
  return credential_sets.flatMap(({ fields, probe }, index) => {
    if (probe === undefined) return [];
    const at = `credential_sets[${index}].probe`;
    return problemsOf(probe, fields).map(([field, message]): Finding => [`${at}.${field}`, message]);
  });
}

function problemsOf(probe: DeclaredProbe, fields: readonly Field[]): Finding[] {
  const keys = new Set([...fields.map(({ key }) => key), ...(probe.token === undefined ? [] : ["access_token"])]);
  const unknown = keysIn(JSON.stringify(probe)).filter((key) => !keys.has(key));
  const found = [...new Set(unknown)].map((key): Finding => ["url", `{${key}} is no field of this set: write the key of one`]);
  const secrets = new Set(fields.filter(({ secret }) => secret).map(({ key }) => key));
  const addresses: [string, string, readonly string[] | undefined][] = [
    ["url", probe.url, probe.hosts],
    ...(probe.token === undefined ? [] : [["token.url", probe.token.url, undefined] as [string, string, undefined]]),
  ];
  for (const [field, url, hosts] of addresses) found.push(...hostProblems({ field, url, hosts, secrets }));
  if (probe.body !== undefined && probe.method === "GET") found.push(["body", "does not go with GET: remove it, or write POST"]);
  if (probe.body !== undefined && !isJson(probe.body))
    found.push(["body", "is not JSON: write a document with {key} inside its texts"]);
  return found;
}

interface JudgedAddress {
  field: string;
  url: string;
  hosts: readonly string[] | undefined;
  secrets: ReadonlySet<string>;
}

/** A value may complete a host of the vendor, and may be a whole host only where it is not a secret. */
function hostProblems({ field, url, hosts, secrets }: JudgedAddress): Finding[] {
  const [, host = ""] = /^(?:https:\/\/)?([^/?]+)/.exec(url) ?? [];
  const [, own] = /^\{([a-z0-9_]+)\}$/.exec(host) ?? [];
  const found: Finding[] = [];
  if (keysIn(host).some((key) => secrets.has(key)))
    found.push([field, "has a secret in its host: a host is looked up in the open"]);
  if (own === undefined && !/(^|\.)[a-z0-9-]+\.[a-z0-9-]+$/i.test(host))
    found.push([field, `"${host}" does not end with the vendor's domain: a value must not be able to lead elsewhere`]);
  if (own === undefined && hosts !== undefined) found.push(["hosts", "bounds a host that is one field alone: remove it"]);
  return found;
}

/** Words for a right to change something, in scopes such as `repo:write`, `Directory.ReadWrite.All` and `manage_users`. */
const changing = word("read-?write|write|rw|manage|modify|delete|create|update|edit");
/** Words for all rights, unless a read word restricts them, as in `admin.users:read`. */
const everything = word("admin|full|full[_ -]?access");
const reading = word("read|readonly|view|list|get");

/** Whether a scope's name says that it allows changes at the vendor. */
function writes(scope: string): boolean {
  const words = scope.replace(/([a-z])([A-Z])/g, "$1-$2");
  if (changing.test(words)) return true;
  return (everything.test(words) || words.split(/[\s:.]/).includes("*")) && !reading.test(words);
}

function word(alternatives: string): RegExp {
  return new RegExp(`(^|[^a-z])(${alternatives})([^a-z]|$)`, "i");
}

function grant({ grant }: Connector, { notes }: Surroundings): Finding[] {
  if (grant === null) return [];
  return [...scopes(grant), ...grantNotes(grant, notes)];
}

function scopes({ text, scopes, notes, plan }: Grant): Finding[] {
  const found = scopes.flatMap((scope, index): Finding[] => {
    const field = `grant.scopes[${index}]`;
    if (scopes.indexOf(scope) < index) return [[field, `"${scope}" occurs twice: remove one`]];
    return writes(scope) ? [[field, `"${scope}" lets the service write: name a reading scope, or none`]] : [];
  });
  if (text !== null && /\bwrite\b|\bfull access\b/i.test(text)) {
    found.push(["grant.text", `"${text}" lets the service write: name a reading role or permission, or write null`]);
  }
  if (text !== null && /[.;]$/.test(text)) found.push(["grant.text", `ends with "${text.slice(-1)}": remove it`]);
  if (text === null && scopes.length === 0 && notes.length === 0 && plan === undefined) {
    found.push(["grant", "says nothing: write null"]);
  }
  return found;
}

function grantNotes({ notes: codes, plan }: Grant, notes: ReadonlyMap<string, string>): Finding[] {
  const found = codes.flatMap((code, index): Finding[] => {
    const field = `grant.notes[${index}]`;
    if (codes.indexOf(code) < index) return [[field, `"${code}" occurs twice: remove one`]];
    return notes.has(code) ? [] : [[field, `"${code}" is not in grant-notes.json: write one of ${[...notes.keys()].join(", ")}`]];
  });
  const speaksOfPlan = codes.some((code) => notes.get(code)?.includes("{plan}"));
  if (speaksOfPlan && plan === undefined) found.push(["grant.plan", "is missing: write the plan that the note mentions"]);
  if (!speaksOfPlan && plan !== undefined) found.push(["grant.plan", "has no note that mentions it: add the note"]);
  return found;
}

/** Each part of a connector's grant must belong to a set, and each part of a set's grant to the connector's. */
function setGrants({ credential_sets = [], grant }: Connector): Finding[] {
  if (credential_sets.every((set) => set.grant === undefined)) return [];
  const all = partsOf(grant);
  const foreign = credential_sets.flatMap((set, index): Finding[] => {
    const [part] = partsOf(set.grant ?? null).filter((one) => !all.includes(one));
    return part === undefined
      ? []
      : [[`credential_sets[${index}].grant`, `"${part}" is not in grant: add it there, or remove it`]];
  });
  if (credential_sets.some((set) => set.grant === undefined)) return foreign;
  const [idle] = all.filter((part) => !credential_sets.some((set) => partsOf(set.grant ?? null).includes(part)));
  return [...foreign, ...(idle === undefined ? [] : [["grant", `"${idle}" is in no set's grant: add it to one`] as Finding])];
}

function partsOf(grant: Grant | null): string[] {
  return grant === null ? [] : [grant.text, ...grant.scopes, ...grant.notes].filter((part) => part !== null);
}

function docs({ docs }: Connector): Finding[] {
  if (docs === null || URL.canParse(docs)) return [];
  return [["docs", `"${docs}" is not an address: write the page's https address, or null`]];
}

function evidence(connector: Connector): Finding[] {
  const made = claimsOf(connector);
  const borneOut = new Set(connector.evidence.flatMap((one) => one.for));
  const urls = connector.evidence.map(({ url }) => url);
  return [
    ...claims
      .filter((claim) => made.has(claim) && !borneOut.has(claim))
      .map((claim): Finding => ["evidence", `has no source for "${claim}": add one, or withdraw the claim`]),
    ...claims
      .filter((claim) => borneOut.has(claim) && !made.has(claim))
      .map((claim): Finding => ["evidence", `has a source for "${claim}", which is not claimed: remove it`]),
    ...urls.flatMap((url, index): Finding[] =>
      urls.indexOf(url) < index ? [[`evidence[${index}].url`, `"${url}" occurs twice: remove one`]] : [],
    ),
  ];
}
