/**
 * requirements.txt: only exact pins. Its generator may name the dependents in comments (`# via flask`).
 * Source: https://pip.pypa.io/en/stable/reference/requirements-file-format/ and
 * https://packaging.python.org/en/latest/specifications/dependency-specifiers/
 */
import { LockGraphBuilder, type LockGraph, type LockScope } from "../lock-graph.ts";
import { LockedProjects } from "./locked-projects.ts";
import { requirementName } from "./project-name.ts";

interface Requirement {
  text: string;
  /** The names in its comments: packages, or files after `-r`. */
  via: string[];
}

/** @param path its name may mark it as development only @throws LockFileError */
export function readRequirements(text: string, path: string): LockGraph {
  const graph = new LockGraphBuilder();
  const index = new LockedProjects();
  const scope: LockScope | null = /(?:^|[-_./])(?:dev|develop|development|tests?|testing)(?=[-_./])/i.test(path)
    ? "excluded"
    : null;
  const pinned = requirementsOf(text).flatMap(({ text: requirement, via }) => {
    const name = requirementName(requirement);
    const version = name === null ? null : exactVersion(requirement.slice(requirement.indexOf(name) + name.length));
    if (name === null || version === null) {
      graph.skip(name ?? requirement, name === null ? "it is no requirement by name" : "it is pinned to no exact version");
      return [];
    }
    const purl = graph.add({ ecosystem: "PyPI", name, version, scope });
    index.add(name, { version, purl });
    return { purl, via };
  });
  for (const { purl, via } of pinned) {
    const needing = via.flatMap((name) => (name.startsWith("-") ? [] : index.find(name)));
    for (const from of needing) if (from !== purl) graph.need(from, purl);
    if (needing.length < via.length || via.length === 0) graph.need(null, purl);
  }
  return graph.finish();
}

/**
 * `==1.2.3` after an optional extra, before markers and options. `==1.*` and several clauses are not exact pins. Adjacent parts
 * never match the same blanks; otherwise the expression would try every division of a line of blanks.
 */
const exactPin = /^\s*(?:\[[^\]]*\]\s*)?(?:\(\s*)?={2,3}\s*([^\s,;)*]+)(?:\s*\))?(?:\s*(?:;|$)|\s+--?\w)/;

function exactVersion(rest: string): string | null {
  return exactPin.exec(rest)?.[1] ?? null;
}

/** A comment begins the line or follows a blank; null if there is none. */
function partedAtComment(line: string): { requirement: string; comment: string | null } {
  const at = /(?:^|\s)#/.exec(line)?.index ?? -1;
  if (at === -1) return { requirement: line.trim(), comment: null };
  return { requirement: line.slice(0, at).trim(), comment: line.slice(line.indexOf("#", at) + 1).trim() };
}

/** Joins lines that a backslash continues, without pip's options. */
function requirementsOf(text: string): Requirement[] {
  const requirements: Requirement[] = [];
  let isVia = false;
  for (const line of text.replaceAll(/\\\r?\n/g, " ").split(/\r?\n/)) {
    const { requirement, comment } = partedAtComment(line);
    if (requirement !== "") {
      if (!requirement.startsWith("-")) requirements.push({ text: requirement, via: [] });
      isVia = false;
    }
    const named = /^via\b/.test(comment ?? "") ? comment?.slice("via".length).trim() : undefined;
    isVia = named !== undefined || (isVia && comment !== null);
    const names = (named ?? (isVia ? comment : "") ?? "").split(",").map((name) => name.trim());
    requirements.at(-1)?.via.push(...names.filter((name) => name !== ""));
  }
  return requirements;
}
