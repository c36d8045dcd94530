/**
 * The webhooks that get alerts: created, listed, given a new secret, and deleted, with their forms and views.
 *
 * A secret is shown only in the answer that creates it, or never if it came from the receiver. It is sealed with the workspace's data key
 * and bound to its workspace and webhook. For a day after a change both secrets sign, so that the receiver can change over. An address is
 * checked here and again at each delivery. Some receivers accept anything sent to their address, so only those who may set the address see
 * it in full, and that of Slack or Teams no one does. A service that only its own machine reaches may also call that machine.
 */
import { randomBytes } from "node:crypto";
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../backing/backing.ts";
import { text, textOrNull } from "../../http/json-schema.ts";
import { BaseUrlError, parseBaseUrl } from "../../http/public-address.ts";
import { isoTime } from "../../kernel/clock.ts";
import { type WorkspaceId, newAlertsId } from "../../kernel/ids.ts";
import { SealError, type SealKey } from "../../kernel/seal-key.ts";
import { Secret } from "../../kernel/secret.ts";
import { type Actor, authorize, managers, overseers } from "../audit/actor.ts";
import { change, type Sources, changedFields } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import * as limits from "../limits.ts";
import { dataKeyOf, unwrap } from "../secrets/data-key.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { line } from "../workspaces/fields.ts";
import {
  integrationKeyCharacters,
  pagerDutyUrls,
  webhookFormatNames,
  webhookFormats,
  type WebhookFormatName,
} from "./webhook-formats.ts";
import * as store from "./webhook-store.ts";

const Format = Type.Unsafe<WebhookFormatName>(
  Type.Union(
    webhookFormatNames.map((name) => Type.Literal(name)),
    { title: "What it gets; by default weir", description: `one of ${webhookFormatNames.join(", ")}` },
  ),
);

export const AlertWebhookForm = Type.Object({
  format: Type.Optional(Format),
  name: Type.Optional(
    line("one line of text", { title: "Its name, such as a channel", maxLength: limits.alertWebhookNameCharactersMax }),
  ),
  url: Type.Optional(
    line("an https address", {
      title: "Its https address; for pagerduty by default that of the US region",
      maxLength: limits.alertWebhookUrlCharactersMax,
    }),
  ),
  integration_key: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9]{32}$",
      writeOnly: true,
      title: "For pagerduty: the integration key of a service's Events API v2 integration",
      description: `a key of ${integrationKeyCharacters} letters and digits`,
    }),
  ),
});
export type AlertWebhookForm = Static<typeof AlertWebhookForm>;

const webhook = {
  id: text("Its id"),
  workspace_id: text("The workspace that it belongs to"),
  format: Format,
  name: text("Its name; empty: none"),
  url: text("The address; auditors see only its host, and of slack and teams no one sees more"),
  former_secret_until: textOrNull("Until when the former secret signs as well, ISO 8601 in UTC; null: only one signs"),
  created_at: text("When, ISO 8601 in UTC"),
};
export const AlertWebhookView = Type.Object(webhook);
export type AlertWebhookView = Static<typeof AlertWebhookView>;

export const NewAlertWebhookView = Type.Object({
  ...webhook,
  secret: textOrNull("Verifies the signatures. It is shown once; null: only the format weir is signed"),
});
export type NewAlertWebhookView = Static<typeof NewAlertWebhookView>;

export const AlertWebhookDeleted = Type.Object({
  id: text("Its id"),
  deleted: Type.Literal(true, { description: "true" }),
});
export type AlertWebhookDeleted = Static<typeof AlertWebhookDeleted>;

/** In order of creation. @throws DomainError forbidden for members */
export async function listWebhooks(
  { actor, workspace, nowMs }: { actor: Actor; workspace: WorkspaceId; nowMs: number },
  sql: Queries,
): Promise<AlertWebhookView[]> {
  authorize(actor, { roles: overseers, action: "see the webhooks of alerts" });
  return (await store.selectWebhooks(workspace, sql)).map((row) => viewWebhook(row, { actor, nowMs }));
}

/** Finds a webhook in any workspace. @throws DomainError not_found */
export async function findWebhook(id: string, sql: Queries): Promise<store.AlertWebhook> {
  const row = await store.selectWebhook(id, sql);
  if (row) return row;
  throw noWebhook(id);
}

export function noWebhook(id: string): DomainError {
  return new DomainError("not_found", `There is no webhook of alerts with the id "${id}"`, { field: "id" });
}

/** @throws DomainError not_found, also for one of another workspace, so that existing ones stay hidden */
export function requireWebhook(
  row: store.AlertWebhook | undefined,
  { id, workspace }: { id: string; workspace: WorkspaceId },
): store.AlertWebhook {
  if (row?.workspace === workspace) return row;
  throw noWebhook(id);
}

type WebhookSources = Sources & { keyring: Keyring };

/** Which addresses a webhook may have. */
interface Reach {
  /** Whether only this machine reaches the service; then a webhook on this machine is allowed, too. */
  isLocal: boolean;
}

/**
 * Adds a webhook. Its address is checked like a connector's, now and at each delivery.
 * @returns it with the secret that signs, which is shown only now
 * @throws DomainError invalid_field for an address that is not https or leads into a private network, and for fields that do not belong to
 *   the format; conflict for a second one with the same address or for too many; forbidden except for admins, super admins and the operator
 */
export async function createWebhook(
  { actor, workspace, form }: { actor: Actor; workspace: WorkspaceId; form: AlertWebhookForm },
  sources: WebhookSources & Reach,
): Promise<NewAlertWebhookView> {
  authorize(actor, { roles: managers, action: "add a webhook" });
  const { format, name, url, secret } = targetOf(form, sources);
  const signs = webhookFormats[format].secret === "signs";
  return change(actor, sources, async (tx) => {
    await store.lockWebhooksOf(workspace, tx);
    const present = await store.selectWebhooks(workspace, tx);
    if (signs && present.some((row) => row.url === url)) {
      throw new DomainError("conflict", "Cannot add this webhook: the workspace has it already", { field: "url" });
    }
    if (present.length >= limits.alertWebhooksMax) {
      throw new DomainError("conflict", `Cannot add this webhook: the workspace has ${limits.alertWebhooksMax}; delete one`);
    }
    const at = sources.clock.now();
    const id = newAlertsId("hook", at);
    const dataKey = await dataKeyOf(workspace, { sql: tx, keyring: sources.keyring });
    const sealed = sealWebhookSecret(secret, { workspace, webhook: id }, dataKey);
    await store.insertWebhook({ id, workspace, format, name, url, sealed, at: new Date(at) }, tx);
    const row = await store.selectWebhook(id, tx);
    if (!row) throw new Error(`The webhook "${id}" was created and cannot be found`);
    const result = { ...viewWebhook(row, { actor, nowMs: at }), secret: signs ? secret.reveal() : null };
    const changes = changedFields({ before: {}, after: { format, name, host: new URL(url).host } });
    return { result, event: { event: "alert.webhook.created", workspace, target: id, changes } };
  });
}

interface Target {
  format: WebhookFormatName;
  name: string;
  /** What is stored in the open. */
  url: string;
  secret: Secret;
}

/** @throws DomainError invalid_field */
function targetOf({ format = "weir", name = "", url, integration_key: key }: AlertWebhookForm, reach: Reach): Target {
  if (format === "pagerduty") {
    if (key === undefined) throw refusedField("integration_key", "PagerDuty needs the integration key of a service");
    return { format, name, url: pagerDutyUrl(url), secret: new Secret(key) };
  }
  if (key !== undefined) throw refusedField("integration_key", `a webhook with the format ${format} has none`);
  if (url === undefined) throw refusedField("url", "its address is missing");
  const parsed = parseUrl(url, { query: format === "teams", reach });
  if (webhookFormats[format].secret === "address") return { format, name, url: parsed.origin, secret: new Secret(parsed.href) };
  return { format, name, url: parsed.href, secret: newWebhookSecret() };
}

function pagerDutyUrl(url: string = pagerDutyUrls.us): string {
  const known = Object.values(pagerDutyUrls).find((one) => one === url.trim());
  if (known !== undefined) return known;
  throw refusedField("url", `PagerDuty's address is ${pagerDutyUrls.us}, or for the EU region ${pagerDutyUrls.eu}`);
}

function refusedField(field: string, cause: string): DomainError {
  return new DomainError("invalid_field", `Cannot add this webhook: ${cause}`, { field });
}

/**
 * Gives a webhook a new secret. For a day, deliveries are signed with the former one as well, so that the receiver can change over.
 * @returns it with the secret, which is shown only now
 * @throws DomainError not_found, also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function rotateWebhookSecret(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: WebhookSources,
): Promise<NewAlertWebhookView> {
  authorize(actor, { roles: managers, action: "replace the secret of a webhook" });
  return change(actor, sources, async (tx) => {
    const row = requireWebhook(await store.lockWebhook(id, tx), { id, workspace });
    if (webhookFormats[row.format].secret !== "signs") {
      const cause = "its secret comes from its receiver; add a new webhook, and delete this one";
      throw new DomainError("conflict", `Cannot replace the secret of this webhook: ${cause}`);
    }
    const nowMs = sources.clock.now();
    const formerUntil = new Date(nowMs + limits.alertSecretOverlapMs);
    const secret = newWebhookSecret();
    const dataKey = await dataKeyOf(workspace, { sql: tx, keyring: sources.keyring });
    await store.updateSecret({ id, sealed: sealWebhookSecret(secret, { workspace, webhook: id }, dataKey), formerUntil }, tx);
    const result = { ...viewWebhook({ ...row, formerUntil }, { actor, nowMs }), secret: secret.reveal() };
    return { result, event: { event: "alert.webhook.rotated", workspace, target: id, changes: {} } };
  });
}

/**
 * Deletes a webhook with its secret and its deliveries, irrevocably. A delivery under way may still arrive.
 * @throws DomainError not_found, also for another workspace's; forbidden except for admins, super admins and the operator
 */
export async function deleteWebhook(
  { actor, workspace, id }: { actor: Actor; workspace: WorkspaceId; id: string },
  sources: Sources,
): Promise<AlertWebhookDeleted> {
  authorize(actor, { roles: managers, action: "delete a webhook" });
  return change(actor, sources, async (tx) => {
    const { url } = requireWebhook(await store.lockWebhook(id, tx), { id, workspace });
    await store.deleteWebhookRow(id, tx);
    const changes = { host: { from: new URL(url).host, to: null } };
    return { result: { id, deleted: true }, event: { event: "alert.webhook.deleted", workspace, target: id, changes } };
  });
}

interface Owner {
  workspace: WorkspaceId;
  webhook: string;
}

/** The secrets that sign now, the current one first. @throws SealError */
export function openWebhookSecrets(
  {
    sealed,
    former,
    dataKey: wrapped,
    ...owner
  }: Owner & { sealed: Uint8Array; former: Uint8Array | null; dataKey: Uint8Array | null },
  keyring: Keyring,
): Secret[] {
  if (wrapped === null) throw new SealError("The data key of its workspace is missing");
  const dataKey = unwrap({ workspace: owner.workspace, wrapped }, keyring);
  const blobs = former === null ? [sealed] : [sealed, former];
  return blobs.map((blob) => new Secret(Buffer.from(dataKey.open(blob, about(owner))).toString()));
}

/** Shows the whole address only to those who may set it, and to no one if it is a secret. */
function viewWebhook(row: store.AlertWebhook, { actor, nowMs }: { actor: Actor; nowMs: number }): AlertWebhookView {
  const manages = actor.kind !== "member" || managers.includes(actor.role);
  const isWhole = manages && webhookFormats[row.format].secret !== "address";
  const overlaps = row.formerUntil !== null && row.formerUntil.getTime() > nowMs;
  return {
    id: row.id,
    workspace_id: row.workspace,
    format: row.format,
    name: row.name,
    url: isWhole ? row.url : `${new URL(row.url).origin}/…`,
    former_secret_until: overlaps && row.formerUntil ? isoTime(row.formerUntil.getTime()) : null,
    created_at: isoTime(row.createdAt.getTime()),
  };
}

/** @param query whether the address may have one, in which Teams puts its secret */
function parseUrl(text: string, { query, reach }: { query: boolean; reach: Reach }): URL {
  try {
    return parseBaseUrl(text, { query, loopback: reach.isLocal });
  } catch (error) {
    if (!(error instanceof BaseUrlError)) throw error;
    throw new DomainError("invalid_field", `Cannot take this address: ${error.message}`, { field: "url" });
  }
}

/** A secret that signs what a webhook gets. */
function newWebhookSecret(): Secret {
  return new Secret(`whsec_${randomBytes(32).toString("base64url")}`);
}

function sealWebhookSecret(secret: Secret, owner: Owner, dataKey: SealKey): Uint8Array {
  return dataKey.seal(Buffer.from(secret.reveal()), about(owner));
}

function about({ workspace, webhook }: Owner): string {
  return JSON.stringify([workspace, "alert_webhook", webhook]);
}
