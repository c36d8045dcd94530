/**
 * Files that are sent to the service or come from it: SBOMs, lock files of repositories, and VEX documents.
 */
import { writeFileSync } from "node:fs";
import { vexBytesMax } from "../../../src/security/findings/limits.ts";
import type { ImportedVex } from "../../../src/security/findings/vex/import-vex.ts";
import { unmatchedWords } from "../../../src/security/findings/vex/match-statements.ts";
import { sbomBytesMax } from "../../../src/security/limits.ts";
import type { StoredSbom } from "../../../src/security/projects/schema.ts";
import { answerAs, readUpload, CallError } from "../call.ts";
import { passGate, readGate } from "../gate.ts";
import { packedRepository, type PackedRepository } from "../packed-repository.ts";
import { columns } from "../print.ts";
import type { LocalAnswer, Sending } from "../verb.ts";

export async function uploadSbom(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const { gate, rest } = readGate(fields);
  const { path: given, ...query } = rest;
  const path = String(given);
  const { body, filename } = readUpload(path, sbomBytesMax);
  const stored = await sending.upload({ query: { ...query, ...(filename !== null && { filename }) }, body });
  const { warnings, ...facts } = answerAs<StoredSbom>(stored);
  const errors = warnings.map((line) => `Warning: ${line}`);
  if (gate === null)
    return { body: stored, text: columns(Object.entries(facts).map(([name, value]) => [name, String(value)])), errors };
  const gated = { ...gate, workspace: query["workspace"], project: facts.project_id, stored };
  const answer = await passGate({ ...gated, path: filename === null ? null : path }, sending);
  return { ...answer, errors: [...errors, ...answer.errors] };
}

export async function importRepository(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const { gate, rest } = readGate(fields);
  const { source, ...form } = rest;
  const answer = await storeRepository(String(source), form, sending);
  if (gate === null) return answer;
  const { workspace } = form;
  const project = String(answer.body["project_id"]);
  const { lock_files: files, warnings } = answerAs<Imported>(answer.body);
  const place = { path: files[0]?.path ?? null, notWatched: warnings };
  const gated = await passGate({ ...gate, ...place, workspace, project, stored: answer.body }, sending);
  return { ...gated, errors: [...answer.errors, ...gated.errors] };
}

async function storeRepository(given: string, rest: Record<string, unknown>, { post, upload }: Sending): Promise<LocalAnswer> {
  if (/^(?:https?:\/\/|ssh:\/\/|git@)/.test(given)) return answered(await post({ ...rest, url: given }));
  const { body, name, provider, repository, refused } = await packedRepository(given);
  const query = { ...rest, name, provider, ...(repository !== null && { repository }) };
  return answered(await upload({ query, body }), refused);
}

interface Imported {
  project: string;
  project_id: string;
  scan_status: string;
  lock_files: { path: string; packages: number; not_pinned: number }[];
  /** Also of what is not watched. */
  warnings: string[];
}

/** @param unsent lock files that never reached the service */
function answered(body: Record<string, unknown>, unsent: PackedRepository["refused"] = []): LocalAnswer {
  const { project, project_id, scan_status, lock_files, warnings } = answerAs<Imported>(body);
  const files = lock_files.map(({ path, packages, not_pinned }) => {
    const unpinned = not_pinned === 0 ? "" : `, ${not_pinned} not pinned`;
    return `${path}: ${packages} packages${unpinned}`;
  });
  return {
    body,
    text: [`Project ${project} (${project_id}), scan ${scan_status}`, ...files].join("\n"),
    errors: [...unsent.map(({ path, reason }) => `Not read: ${path} ${reason}`), ...warnings.map((line) => `Warning: ${line}`)],
  };
}

export async function exportVex({ output, ...query }: Record<string, unknown>, { get }: Sending): Promise<LocalAnswer> {
  const body = await get("/vex", query);
  const document = JSON.stringify(body, null, 2);
  if (output === undefined) return { body, text: document, errors: [] };
  try {
    writeFileSync(String(output), `${document}\n`);
  } catch (error) {
    throw new CallError(`Cannot write "${String(output)}": ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  return { body: { output }, text: String(output), errors: [] };
}

export async function importVex({ path, ...query }: Record<string, unknown>, { upload }: Sending): Promise<LocalAnswer> {
  const answer = await upload({ query, body: readUpload(String(path), vexBytesMax).body });
  const { unmatched_first: first, ...counts } = answer;
  const unmatched: ImportedVex["unmatched_first"] = Array.isArray(first) ? first : [];
  const left = Number(counts["unmatched"]) - unmatched.length;
  return {
    body: answer,
    text: columns(Object.entries(counts).map(([name, count]) => [name, String(count)])),
    errors: [
      ...unmatched.map(
        ({ id, ref, reason }) => `Not matched: ${id}${ref === null ? "" : ` in ${ref}`}: ${unmatchedWords[reason]}`,
      ),
      ...(left > 0 ? [`And ${left} more`] : []),
    ],
  };
}
