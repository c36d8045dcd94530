/**
 * The webhooks that get alerts: created, listed, given a new secret, and deleted, with their forms and views.
 *
 * The secret is shown only in the answer that creates it. It is sealed with the workspace's data key and bound to its workspace and
 * webhook. For a day after a change both secrets sign, so that the receiver can change over. An address is checked here and again at each
 * delivery. Some receivers accept anything sent to their address, so only those who may set the address see it in full.
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
import { alertWebhookUrlCharactersMax, alertWebhooksMax, alertSecretOverlapMs } from "../limits.ts";
import { dataKeyOf, unwrap } from "../secrets/data-key.ts";
import type { Keyring } from "../secrets/keyring.ts";
import { line } from "../workspaces/fields.ts";
import * as store from "./webhook-store.ts";

export const AlertWebhookForm = Type.Object({
  url: line("an https address", { title: "Its https address", maxLength: alertWebhookUrlCharactersMax }),
});
export type AlertWebhookForm = Static<typeof AlertWebhookForm>;

const webhook = {
  id: text("Its id"),
  workspace_id: text("The workspace that it belongs to"),
  url: text("The address; auditors see only its host"),
  former_secret_until: textOrNull("Until when the former secret signs as well, ISO 8601 in UTC; null: only one signs"),
  created_at: text("When, ISO 8601 in UTC"),
};
export const AlertWebhookView = Type.Object(webhook);
export type AlertWebhookView = Static<typeof AlertWebhookView>;

export const NewAlertWebhookView = Type.Object({
  ...webhook,
  secret: text("Verifies the signatures. It is shown once"),
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

/**
 * Adds a webhook. Its address is checked like a connector's, now and at each delivery.
 * @returns it with its secret, which is shown only now
 * @throws DomainError invalid_field for an address that is not https or leads into a private network; conflict for a second one with
 *   the same address or for too many; forbidden except for admins, super admins and the operator
 */
export async function createWebhook(
  { actor, workspace, url: text }: { actor: Actor; workspace: WorkspaceId; url: string },
  sources: WebhookSources,
): Promise<NewAlertWebhookView> {
  authorize(actor, { roles: managers, action: "add a webhook" });
  const { href: url, host } = parseUrl(text);
  return change(actor, sources, async (tx) => {
    await store.lockWebhooksOf(workspace, tx);
    const present = await store.selectWebhooks(workspace, tx);
    if (present.some((row) => row.url === url)) {
      throw new DomainError("conflict", "Cannot add this webhook: the workspace has it already", { field: "url" });
    }
    if (present.length >= alertWebhooksMax) {
      throw new DomainError("conflict", `Cannot add this webhook: the workspace has ${alertWebhooksMax}; delete one`);
    }
    const at = sources.clock.now();
    const id = newAlertsId("hook", at);
    const secret = newWebhookSecret();
    const dataKey = await dataKeyOf(workspace, { sql: tx, keyring: sources.keyring });
    const sealed = sealWebhookSecret(secret, { workspace, webhook: id }, dataKey);
    await store.insertWebhook({ id, workspace, url, sealed, at: new Date(at) }, tx);
    const row = await store.selectWebhook(id, tx);
    if (!row) throw new Error(`The webhook "${id}" was created and cannot be found`);
    const result = { ...viewWebhook(row, { actor, nowMs: at }), secret: secret.reveal() };
    const changes = changedFields({ before: {}, after: { host } });
    return { result, event: { event: "alert.webhook.created", workspace, target: id, changes } };
  });
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
    const nowMs = sources.clock.now();
    const formerUntil = new Date(nowMs + alertSecretOverlapMs);
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

/** Shows the whole address only to those who may set it. */
function viewWebhook(row: store.AlertWebhook, { actor, nowMs }: { actor: Actor; nowMs: number }): AlertWebhookView {
  const manages = actor.kind !== "member" || managers.includes(actor.role);
  const overlaps = row.formerUntil !== null && row.formerUntil.getTime() > nowMs;
  return {
    id: row.id,
    workspace_id: row.workspace,
    url: manages ? row.url : `${new URL(row.url).origin}/…`,
    former_secret_until: overlaps && row.formerUntil ? isoTime(row.formerUntil.getTime()) : null,
    created_at: isoTime(row.createdAt.getTime()),
  };
}

function parseUrl(text: string): URL {
  try {
    return parseBaseUrl(text);
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
