/**
 * The operation `list_findings`. `status` also accepts the specification's words: `fixed` means resolved, `suppressed` means ignored. An id
 * of another workspace is refused in the same words as one that does not exist.
 */
import { Type, type Static } from "@sinclair/typebox";
import type { Queries } from "../../../backing/backing.ts";
import { nameCharactersMax } from "../../../accounts/limits.ts";
import { listRowsMax } from "../../../http/limits.ts";
import { findingPageBytesMax, findingRowsDefault } from "../../limits.ts";
import { lineOf, choiceField, listData, nextOffset, pageFields, shortPageAnswer } from "../../fields.ts";
import { type Caller, operation, reading } from "../../operation.ts";
import { DomainError } from "../../../accounts/errors.ts";
import * as store from "./finding-list-store.ts";
import { FindingRow, viewFinding } from "./list-rows.ts";
import { fitPage, type Shorten } from "../fit-page.ts";
import { requireResource } from "../../resource.ts";
import { listMessage, blindProjects, activeScope } from "./list-answer.ts";
import type { ListScope } from "./list-store.ts";
import { findingStatuses, projectId, ranksOf, severities } from "../schema.ts";

/** Two hundred rows share a page, so only what is unusual is said. */
const Row = Type.Object({
  ...FindingRow.properties,
  severity_basis: Type.Optional(
    Type.Unsafe<"word" | "malware">(
      Type.Union([Type.Literal("word"), Type.Literal("malware")], {
        description:
          "Where the severity comes from: the word of an advisory without a valid CVSS vector, or malware, which is critical; absent: the score of a vector, or no severity",
      }),
    ),
  ),
});

function viewRow(finding: store.ListedFinding, shorten: Shorten): Static<typeof Row> {
  const { severity_basis: basis, ...row } = viewFinding(finding, shorten);
  return basis === "word" || basis === "malware" ? { ...row, severity_basis: basis } : row;
}

export const listFindings = operation({
  title: "List findings",
  description:
    "Lists findings, each a vulnerability of one component of one project, with status, fix version and why it matched: the most " +
    "severe first. Without sbom_id and project_id it lists the active scope; these two take its place.",
  annotations: reading,
  input: Type.Object({
    sbom_id: Type.Optional(lineOf({ title: "Findings of this SBOM", min: 1, max: nameCharactersMax })),
    project_id: Type.Optional(projectId),
    severity: choiceField([...severities, "all"], {
      title: "Findings of this severity; `all` includes those without one",
      normal: "all",
    }),
    status: choiceField([...findingStatuses, "false_positive", "fixed", "suppressed", "all"], {
      title: "Findings of this status (fixed: resolved, suppressed: ignored), or false positives whatever their status",
      normal: "all",
    }),
    ...pageFields({ normal: findingRowsDefault, max: listRowsMax }),
  }),
  data: listData("findings", Row, { next_offset: nextOffset }),
  async handle({ input, caller, isForMcp, parts: { sql } }) {
    const { severity, status, limit, offset } = input;
    const filter = { shown: shownBy(status), ranks: ranksOf(severity), page: { limit, offset } };
    const { total, rows, scope } = await select({ ...filter, sbom: input.sbom_id, project: input.project_id, caller }, sql);
    const fitted = fitPage({ items: rows, bytesMax: findingPageBytesMax, isShortened: isForMcp }, viewRow);
    const page = shortPageAnswer({ limit, offset }, { total, rows: fitted.rows.length });
    const advice = status === "all" ? null : `None has the status "${status}": ask again with the status "all"`;
    return {
      data: { findings: fitted.rows, ...page },
      message: listMessage({
        plural: "findings",
        page,
        rows: fitted.rows.length,
        cut: fitted.cut,
        emptyAdvice: advice,
        blind: total > 0 ? null : await blindProjects(scope, sql),
      }),
    };
  },
});

type StatusWord = store.FindingFilter["shown"] | "fixed" | "suppressed";

function shownBy(word: StatusWord): store.FindingFilter["shown"] {
  if (word === "fixed") return "resolved";
  return word === "suppressed" ? "ignored" : word;
}

interface FindingQuery extends store.FindingFilter {
  sbom: string | undefined;
  project: string | undefined;
  caller: Caller;
}

/** @returns the page and the scope it belongs to @throws DomainError for an id that is not in the caller's workspace */
async function select(
  { sbom, project, caller, ...filter }: FindingQuery,
  sql: Queries,
): Promise<store.Listed<store.ListedFinding> & { scope: ListScope }> {
  const { workspace } = caller;
  if (project !== undefined) await requireResource("project", { workspace, id: project }, sql);
  if (sbom === undefined) {
    const scope = project === undefined ? activeScope(caller) : ({ kind: "project", id: project } as const);
    return { ...(await store.selectFindingPage({ ...filter, scope }, sql)), scope };
  }
  const owner = await store.selectProjectOfSbom({ id: sbom, workspace }, sql);
  if (owner === undefined) throw new DomainError("not_found", `There is no SBOM with the id "${sbom}"`);
  const scope = { kind: "project", id: owner } as const;
  if (project !== undefined && project !== owner) return { total: 0, rows: [], scope };
  return { ...(await store.selectOccurrencePage({ ...filter, sbom }, sql)), scope };
}
