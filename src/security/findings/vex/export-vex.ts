/**
 * The findings of a project and the decisions about them, as a VEX document of one of three formats.
 *
 * Exports of thousands of findings take turns: one per person, one per workspace, two per process.
 */
import { Type, type Static } from "@sinclair/typebox";
import { DomainError } from "../../../accounts/errors.ts";
import { FairSemaphore } from "../../../accounts/quotas/fair-semaphore.ts";
import type { Database } from "../../../backing/backing.ts";
import type { Clock } from "../../../kernel/clock.ts";
import type { WorkspaceId } from "../../../kernel/ids.ts";
import { EventLoopYielder } from "../../../process/event-loop-yielder.ts";
import * as limits from "../limits.ts";
import { contentOf } from "./content.ts";
import { csafOf, CsafDocument } from "./csaf.ts";
import { cycloneDxOf, CycloneDxDocument } from "./cyclonedx.ts";
import { openVexOf, OpenVexDocument } from "./openvex.ts";

export const vexFormats = ["cyclonedx", "openvex", "csaf"] as const;
export type VexFormat = (typeof vexFormats)[number];

export const VexDocument = Type.Union([CycloneDxDocument, OpenVexDocument, CsafDocument], {
  description: `The findings of the current SBOM, at most the ${limits.vexFindingsMax} most severe, as CycloneDX 1.6, OpenVEX 0.2.0 or CSAF 2.0`,
});

interface Documents {
  cyclonedx: Static<typeof CycloneDxDocument>;
  openvex: Static<typeof OpenVexDocument>;
  csaf: Static<typeof CsafDocument>;
}

const writers = { cyclonedx: cycloneDxOf, openvex: openVexOf, csaf: csafOf };

interface Export<Format extends VexFormat> {
  /** Must exist. */
  project: string;
  format: Format;
}

/** @throws DomainError conflict for a project without a finding in a format that has no document without one */
export async function exportVex<Format extends VexFormat>(
  { project, format }: Export<Format>,
  { sql, clock, publicUrl }: { sql: Database; clock: Clock; publicUrl: string },
): Promise<Documents[Format]> {
  const yielder = new EventLoopYielder(clock);
  const content = { ...(await contentOf(project, { sql, clock, yielder })), publicUrl };
  const { groups } = content;
  if (groups.length === 0 && format !== "cyclonedx")
    throw new DomainError(
      "conflict",
      `The project has no findings, and ${names[format]} has no document without one: export CycloneDX`,
    );
  const writing: Generator<null, Documents[VexFormat]> = writers[format]({ content, groups });
  for (let step = writing.next(); ; step = writing.next()) {
    // Each format's writer writes its document.
    if (step.done === true) return step.value as Documents[Format];
    await yielder.yieldIfDue();
  }
}

const names: Record<VexFormat, string> = { cyclonedx: "CycloneDX", openvex: "OpenVEX", csaf: "CSAF" };

const perPerson = {
  runningMax: Infinity,
  runningPerHolderMax: 1,
  waitingMax: limits.vexExportsWaitingMax,
  waitingPerHolderMax: 1,
  waitMs: limits.vexExportWaitMs,
};
const perWorkspace = { ...perPerson, runningMax: limits.vexExportsAtOnceMax, waitingPerHolderMax: limits.vexExportsWaitingMax };

export class ExportTurns {
  readonly #people: FairSemaphore;
  readonly #workspaces: FairSemaphore;

  constructor(clock: Clock) {
    this.#people = new FairSemaphore({
      clock,
      limits: perPerson,
      busy: "Another export of yours is running: wait until it ends",
    });
    this.#workspaces = new FairSemaphore({ clock, limits: perWorkspace, busy: "Too many exports are running" });
  }

  /** @returns the turn; disposing of it ends it @throws LimitReachedError if the person already has one waiting, or after a long wait */
  async acquire({ person, workspace }: { person: string; workspace: WorkspaceId }): Promise<Disposable> {
    using turn = new DisposableStack();
    turn.defer(await this.#people.acquire(person));
    turn.defer(await this.#workspaces.acquire(workspace));
    return turn.move();
  }
}
