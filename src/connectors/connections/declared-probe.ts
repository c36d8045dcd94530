/**
 * Makes a test of credentials from the `probe` of a connector's file: one request that only reads, or one for a token before it (RFC 6749).
 *
 * `{key}` stands for a field's value. In an address it is encoded, and it can complete a host but never replace the vendor's domain: a value
 * for `{account}.vendor.com` is a name, or a host below `vendor.com`. Only a template that begins with a field sends credentials to a host
 * that the customer named, which is a server of their own unless `hosts` bounds it. In a header a value must be printable ASCII, in a JSON
 * body it is escaped.
 */
import { BaseUrlError, parseBaseUrl } from "../../http/public-address.ts";
import { keysIn, placeholder, type DeclaredProbe, type Pair } from "../catalog/files/schema.ts";
import {
  CredentialError,
  headerText,
  requestToken,
  vendorOrigin,
  type Probe,
  type ProbeAnswer,
  type ProbeFetch,
} from "./probe.ts";

type Value = (key: string) => string;

export function probeOf(connector: string, declared: DeclaredProbe): Probe {
  return {
    connector,
    needs: fieldsIn(declared),
    lacksGrant: declared.lacks_grant ?? [],
    async call(value, { probeFetch }) {
      if (declared.token === undefined) return probeFetch(requestOf(declared, value));
      const { answer, token } = await tokenFor(declared.token, value, probeFetch);
      if (token === null) return answer;
      return probeFetch(requestOf(declared, (key) => (key === "access_token" ? token : value(key))));
    },
  };
}

/** The keys of the form's fields that a probe uses. */
export function fieldsIn({ token, ...probe }: DeclaredProbe): string[] {
  const texts = [...textsOf(probe), ...(token === undefined ? [] : [token.url, ...(token.basic ?? []), ...valuesOf(token.form)])];
  const keys = texts.flatMap(keysIn);
  return [...new Set(keys)].filter((key) => token === undefined || key !== "access_token");
}

function textsOf({ url, basic = [], headers = [], body = "" }: Omit<DeclaredProbe, "token">): string[] {
  return [url, ...basic, ...valuesOf(headers), body];
}

function valuesOf(pairs: readonly Pair[]): string[] {
  return pairs.map(({ value }) => value);
}

function filled(template: string, write: (key: string) => string): string {
  return template.replaceAll(placeholder, (_, key: string) => write(key));
}

function requestOf({ method, url, hosts, basic, headers = [], body }: DeclaredProbe, value: Value) {
  const written = headers.map(({ name, value: template }) => [name, filled(template, (key) => headerText(key, value(key)))]);
  return {
    method,
    url: addressOf({ template: url, hosts }, value),
    headers: {
      accept: "application/json",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(basic && { authorization: basicOf(basic, value) }),
      ...Object.fromEntries(written),
    },
    ...(body !== undefined && { body: filled(body, (key) => JSON.stringify(value(key)).slice(1, -1)) }),
  };
}

/** https://www.rfc-editor.org/rfc/rfc7617#section-2 */
function basicOf([user, password]: readonly string[], value: Value): string {
  const pair = `${filled(user ?? "", value)}:${filled(password ?? "", value)}`;
  return `Basic ${Buffer.from(pair).toString("base64")}`;
}

// Addresses

/** @throws CredentialError for a value that leads elsewhere */
function addressOf({ template, hosts }: { template: string; hosts: readonly string[] | undefined }, value: Value): URL {
  const text = template.replace(/^https:\/\//, "");
  const end = text.search(/[/?]/);
  const host = end < 0 ? text : text.slice(0, end);
  const rest = filled(end < 0 ? "" : text.slice(end), (key) => encodeURIComponent(value(key).trim()));
  const [, own] = /^\{([a-z0-9_]+)\}$/.exec(host) ?? [];
  return new URL((own === undefined ? originOf(host, value) : baseOf(own, value(own), hosts)) + rest);
}

/** A base address that the customer gave, with its path and without a slash at its end. */
function baseOf(field: string, text: string, hosts: readonly string[] | undefined): string {
  if (hosts !== undefined) return vendorOrigin({ field, text, ends: hosts }).origin;
  const typed = text.trim();
  try {
    const { origin, pathname } = parseBaseUrl(/^[a-z]+:\/\//i.test(typed) ? typed : `https://${typed}`);
    return origin + (pathname.endsWith("/") ? pathname.slice(0, -1) : pathname);
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
    throw new CredentialError(field, "an https address that is reachable from everywhere is needed");
  }
}

/** The vendor's host, in which a value is one name. */
function originOf(template: string, value: Value): string {
  const [, first, domain] = /^\{([a-z0-9_]+)\}\.([^{}]+)$/.exec(template) ?? [];
  if (first !== undefined && domain !== undefined)
    return vendorOrigin({ field: first, text: value(first), ends: [domain] }).origin;
  const host = filled(template, (key) => {
    const name = value(key).trim();
    if (/^[a-z0-9-]{1,63}$/i.test(name)) return name;
    throw new CredentialError(key, "letters, digits and hyphens are needed");
  });
  return `https://${host}`;
}

// Tokens

async function tokenFor(
  { url, basic, form }: NonNullable<DeclaredProbe["token"]>,
  value: Value,
  probeFetch: ProbeFetch,
): Promise<{ answer: ProbeAnswer; token: string | null }> {
  return requestToken(
    {
      tokenUrl: addressOf({ template: url, hosts: undefined }, value),
      grant: Object.fromEntries(form.map(({ name, value: template }) => [name, filled(template, value)])),
      headers: basic === undefined ? {} : { authorization: basicOf(basic, value) },
    },
    probeFetch,
  );
}
