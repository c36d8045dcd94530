/** The secret that signs what a webhook gets: sealed with the workspace's data key, and bound to its workspace and webhook. */
import { randomBytes } from "node:crypto";
import { SealError, type SealKey } from "../../../kernel/seal-key.ts";
import { Secret } from "../../../kernel/secret.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { unwrap } from "../../secrets/data-key.ts";
import type { Keyring } from "../../secrets/keyring.ts";

interface Owner {
  workspace: WorkspaceId;
  webhook: string;
}

export function newWebhookSecret(): Secret {
  return new Secret(`whsec_${randomBytes(32).toString("base64url")}`);
}

export function sealWebhookSecret(secret: Secret, owner: Owner, dataKey: SealKey): Uint8Array {
  return dataKey.seal(Buffer.from(secret.reveal()), about(owner));
}

/** The secrets that sign now, the present one first. @throws SealError */
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

function about({ workspace, webhook }: Owner): string {
  return JSON.stringify([workspace, "alert_webhook", webhook]);
}
