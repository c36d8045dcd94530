import type { Actor } from "../../accounts/audit/actor.ts";
import { DomainError } from "../../accounts/errors.ts";
import { ownerSeenBy } from "../../accounts/workspaces/authorize.ts";
import type { Database } from "../../backing/backing.ts";
import type { Clock, Month } from "../../kernel/clock.ts";
import { parseDocument } from "./document.ts";
import { ownLines, showOpen } from "./open.ts";
import type { StatementDocument, StatementView } from "./schema.ts";
import { requireStatements, type StatementWorkspace } from "./feature.ts";
import { selectDocument } from "./statements-store.ts";

/**
 * The statement of a month: members see the lines of their own keys, overseers all.
 * @throws DomainError not_found
 */
export async function showStatement(
  { actor, workspace, number }: { actor: Actor; workspace: StatementWorkspace; number: Month },
  { sql, clock }: { sql: Database; clock: Clock },
): Promise<StatementView> {
  requireStatements(workspace);
  const owner = ownerSeenBy(actor);
  const stored = await selectDocument({ workspace: workspace.id, number }, sql);
  if (stored) return viewClosed({ document: parseDocument(stored.document), sha256: stored.sha256, owner });
  const { id, name } = workspace;
  const open = await showOpen({ workspace: { id, name }, number, owner, nowMs: clock.now() }, sql);
  if (open !== null) return open;
  throw new DomainError("not_found", `There is no statement "${number}" of this workspace`, { field: "number" });
}

interface Closed {
  document: StatementDocument;
  sha256: string;
  owner: string | null;
}

function viewClosed({ document, sha256, owner }: Closed): StatementView {
  if (owner === null) return { ...document, closed: true, sha256 };
  const { number, workspace, period, closed_at: closedAt, lines } = document;
  return {
    number,
    workspace,
    period,
    closed: true,
    closed_at: closedAt,
    ...ownLines(lines.filter(({ member }) => member === owner)),
  };
}
