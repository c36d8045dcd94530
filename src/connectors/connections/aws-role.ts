/**
 * Access to an account of AWS by a role: the customer's role trusts this service's account, and no key of the customer is kept.
 *
 * A role's trust must name an external id, or any other customer of this service could connect that role as theirs and read with it (the
 * confused deputy: https://docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html). It is the
 * connection's id: unique, random, permanent and not chosen by the customer. It is no secret. A test assumes the role with it, and then with another one, which
 * AWS must refuse: otherwise the trust does not ask for it, and the role counts as unusable. What AWS lends is never used and not kept.
 *
 * The two requests are signed here by Signature Version 4, which is one digest and five HMACs for requests of one form; the client of AWS is
 * a megabyte of packages that reads credentials from places of its own.
 */
import { createHash, createHmac } from "node:crypto";
import { isoTime, type Clock } from "../../kernel/clock.ts";
import { newInternalId } from "../../kernel/ids.ts";
import type { AwsAccount } from "../../process/environment/services.ts";
import { CredentialError, VendorError, type Probe, type ProbeAnswer, type ProbeFetch } from "./probe.ts";
import type { RoleAccess } from "./schema.ts";

const connector = "amazon-web-services";
const roleField = "role_arn";
const roleForm = /^arn:aws:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/;

interface Connected {
  id: string;
  connector: string;
  fields: readonly string[];
}

function isRole({ connector: of, fields }: Connected): boolean {
  return of === connector && fields.includes(roleField);
}

/** What the customer's role must trust. @param account null: the operator has set no account @returns null: it is no role */
export function viewRole(row: Connected, account: AwsAccount | null): RoleAccess | null {
  if (!isRole(row)) return null;
  const policy = account && trustPolicy({ accountId: account.id, externalId: row.id });
  return { account_id: account?.id ?? null, external_id: row.id, trust_policy: policy };
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_create_for-user_externalid.html */
function trustPolicy({ accountId, externalId }: { accountId: string; externalId: string }): string {
  const statement = {
    Effect: "Allow",
    Principal: { AWS: `arn:aws:iam::${accountId}:root` },
    Action: "sts:AssumeRole",
    Condition: { StringEquals: { "sts:ExternalId": externalId } },
  };
  return JSON.stringify({ Version: "2012-10-17", Statement: [statement] }, null, 2);
}

/** @returns undefined: it is no role, or the service has no credentials of its own to assume it with */
export function roleProbe(row: Connected, account: AwsAccount | null): Probe | undefined {
  const credentials = account?.credentials ?? null;
  if (!isRole(row) || credentials === null) return undefined;
  return {
    connector,
    needs: [roleField],
    async call(value, { probeFetch, clock }) {
      const role = value(roleField);
      if (!roleForm.test(role))
        throw new CredentialError(roleField, "the ARN of a role is needed, such as arn:aws:iam::123456789012:role/name");
      const assume = (externalId: string) => assumeRole({ role, externalId, credentials }, { probeFetch, clock });
      const own = await assume(row.id);
      if (own.status !== 200) return own;
      const other = await assume(newInternalId(clock.now()));
      if (other.status === 403) return { status: 200, body: "{}" };
      if (other.status !== 200) return other;
      throw new CredentialError(roleField, "the role's trust policy must require the external id of this connection");
    },
  };
}

interface Assumed {
  role: string;
  externalId: string;
  credentials: NonNullable<AwsAccount["credentials"]>;
}

/** @returns the status alone, of an answer that has credentials @throws VendorError where AWS refuses the service's own credentials */
async function assumeRole(
  { role, externalId, credentials }: Assumed,
  { probeFetch, clock }: { probeFetch: ProbeFetch; clock: Clock },
): Promise<ProbeAnswer> {
  const body = new URLSearchParams({
    Action: "AssumeRole",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: "weir-test",
    DurationSeconds: "900",
    ExternalId: externalId,
  }).toString();
  const url = new URL("https://sts.amazonaws.com/");
  const headers = { "content-type": "application/x-www-form-urlencoded", host: url.host, "x-amz-date": amzDate(clock.now()) };
  const authorization = signature({ method: "POST", path: "/", query: "", headers, body, service: "sts", credentials });
  const { status, body: answer } = await probeFetch({ method: "POST", url, headers: { ...headers, authorization }, body });
  const [, code] = /<Code>(\w{1,64})<\/Code>/.exec(answer) ?? [];
  if (status === 200 && answer.includes("<AssumeRoleResult>")) return { status, body: "{}" };
  if (code === "AccessDenied") return { status: 403, body: "" };
  if (code === "Throttling") return { status: 429, body: "" };
  if (code !== undefined && ownFaults.includes(code)) {
    throw new VendorError("AWS refuses this service’s own credentials: its operator has to look", {
      outcome: "unexpected",
      status,
    });
  }
  if (code === "ValidationError") throw new CredentialError(roleField, "AWS knows no role of this form");
  return { status: status === 200 ? 502 : status, body: "" };
}

/** https://docs.aws.amazon.com/IAM/latest/APIReference/CommonErrors.html */
const ownFaults = ["InvalidClientTokenId", "SignatureDoesNotMatch", "IncompleteSignature", "ExpiredToken", "RequestExpired"];

/** Such as 20150830T123600Z. */
function amzDate(ms: number): string {
  return isoTime(ms).replaceAll(/[-:]|\.\d{3}/g, "");
}

export interface SignedRequest {
  method: string;
  path: string;
  query: string;
  /** In lower case and in order of their names, with `host` and `x-amz-date`. */
  headers: Record<string, string>;
  body: string;
  service: string;
  credentials: NonNullable<AwsAccount["credentials"]>;
}

/** The header that signs a request: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
export function signature({ method, path, query, headers, body, service, credentials }: SignedRequest): string {
  const date = headers["x-amz-date"] ?? "";
  const names = Object.keys(headers).join(";");
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const request = [method, path, query, lines.join(""), names, sha256(body)].join("\n");
  const scope = [date.slice(0, 8), "us-east-1", service, "aws4_request"];
  const text = ["AWS4-HMAC-SHA256", date, scope.join("/"), sha256(request)].join("\n");
  const seed: Buffer = Buffer.from(`AWS4${credentials.secretKey.reveal()}`);
  const key = scope.reduce((parent, part) => hmac(parent, part), seed);
  const signed = hmac(key, text).toString("hex");
  return `AWS4-HMAC-SHA256 Credential=${credentials.keyId}/${scope.join("/")}, SignedHeaders=${names}, Signature=${signed}`;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
