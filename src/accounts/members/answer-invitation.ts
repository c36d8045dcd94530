import type { Database } from "../../backing/backing.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { WorkspaceId } from "../../kernel/ids.ts";
import { change } from "../audit/change.ts";
import { DomainError } from "../errors.ts";
import { deleteInvitationLinks } from "../sessions/session-store.ts";
import { canonicalEmail } from "../workspaces/fields.ts";
import { lockMember, updateMember } from "./member-store.ts";
import type { Person } from "./principal.ts";

interface Answered {
  /** The person who is asked. */
  person: Person;
  workspace: WorkspaceId;
  accepts: boolean;
}

/**
 * Takes a person's answer to an invitation. Accepted, the membership is in force; declined, it grants nothing, and the workspace's list
 * says so. Mailed links of the invitation end.
 * @throws DomainError not_found where no invitation waits, also in a workspace that does not exist
 */
export async function answerInvitation(
  { person, workspace, accepts }: Answered,
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<void> {
  const email = canonicalEmail(person.email);
  await sql.begin(async (tx) => {
    const row = await lockMember({ workspace, email }, tx);
    if (row?.consent !== "asked" || row.account !== "active") throw noInvitation();
    const { role } = row;
    await updateMember(workspace, { ...row, active: accepts, consent: accepts ? "given" : "declined" }, tx);
    await deleteInvitationLinks({ email, workspace }, tx);
    const event = `workspace.member.${accepts ? "accepted" : "declined"}`;
    await change({ kind: "member", email, role, carriedBy: person.carriedBy }, { sql: tx, clock }, async () => ({
      result: undefined,
      event: { event, workspace, target: email, changes: {} },
    }));
  });
}

/** The same for a workspace that does not exist, so that existing ones stay hidden. */
export function noInvitation(): DomainError {
  return new DomainError("not_found", "No invitation of this workspace waits for you: it was answered already, or taken back");
}
