/**
 * `weir advisories sync`: downloads each OSV archive that changed, stores its records, and reports that to the service; then EPSS scores
 * and CISA's catalog.
 *
 * They are handled one after another, and a failure of one does not stop the others. An interrupted download or import resumes where
 * it stopped: the state next to an archive has its ETag, so that parts of two versions never mix, and the last stored record.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Type, type Static } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { osvArchives } from "../../src/config.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import type { EcosystemAge } from "../../src/security/advisories/ecosystem-ages.ts";
import { CursorError } from "../../src/security/advisories/read-advisories.ts";
import { exploitSources, type SyncSource } from "../../src/security/advisories/sync-store.ts";
import type { ExploitAge } from "../../src/security/findings/lists/exploits.ts";
import { advisoryArchiveBytesMax, advisoryEtagCharactersMax } from "../../src/security/limits.ts";
import { ecosystems, type Ecosystem } from "../../src/security/versions/ecosystem.ts";
import { cacheFolder } from "../services/find-servers.ts";
import { answerAs, CallError } from "./call.ts";
import { UsageError } from "./value.ts";
import type { LocalAnswer, Sending } from "./verb.ts";
import { atIntervals, failureLines, storeAdvisories, tallyText, type Tally } from "./verbs/advisories.ts";
import { syncExploits } from "./verbs/exploits.ts";

interface Synced {
  ecosystem: SyncSource;
  /** null: the archive or file did not change, or failed. */
  tally: Tally | null;
  text: string;
  /** Why it failed; null: it did not. */
  failure: string | null;
}

/** One ecosystem after another; a failure of one does not stop the others. @throws UsageError */
export async function syncAdvisories(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const named = namedSources(fields["ecosystems"]);
  const base = baseOf(String(fields["from"] ?? osvArchives));
  const folder = String(fields["folder"] ?? join(cacheFolder(), "advisories"));
  const known = answerAs<{ data: EcosystemAge[]; exploits: ExploitAge[] }>(await sending.get("/advisories", {}));
  const done: Synced[] = [];
  for (const ecosystem of named) {
    if (ecosystem === "EPSS" || ecosystem === "KEV") {
      const age = known.exploits.find(({ source }) => source === ecosystem);
      done.push(await failingAlone(ecosystem, () => syncExploits({ source: ecosystem, base, age, clock: systemClock }, sending)));
    } else {
      const age = known.data.find((one) => one.ecosystem === ecosystem);
      const sync = { ecosystem, url: `${base}/${ecosystem}/all.zip`, folder, age };
      done.push(await failingAlone(ecosystem, () => syncOne(sync, sending)));
    }
  }
  const failed = done.filter(({ failure }) => failure !== null);
  const results = done.map(({ ecosystem, tally, failure }) => ({ ecosystem, changed: tally !== null, ...tally, failure }));
  return {
    body: { data: results, ...(failed.length > 0 && { ok: false }) },
    text: done.map(({ ecosystem, text }) => `${ecosystem}: ${text}`).join("\n"),
    errors: [
      ...done.flatMap(({ tally }) => (tally === null ? [] : failureLines(tally))),
      ...failed.map(({ ecosystem, failure }) => `${ecosystem}: ${failure ?? ""}`),
    ],
  };
}

function namedSources(given: unknown): SyncSource[] {
  const sources = [...ecosystems, ...exploitSources];
  const words = Array.isArray(given) ? given.map(String) : sources;
  return words.map((word) => {
    const known = sources.find((name) => name.toLowerCase() === word.toLowerCase());
    if (known === undefined) throw new UsageError(`--ecosystems: "${word}" is not one of ${sources.join(", ")}`);
    return known;
  });
}

function baseOf(text: string): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "")
    throw new UsageError(`--from: "${text}" is not an address such as ${osvArchives}`);
  return text.replace(/\/$/, "");
}

interface Sync {
  ecosystem: Ecosystem;
  url: string;
  folder: string;
  age: EcosystemAge | undefined;
}

async function syncOne({ ecosystem, url, folder, age }: Sync, sending: Sending): Promise<Tally | null> {
  const files = new SyncFiles(folder, ecosystem);
  const state = await download({ ecosystem, url, known: age?.etag ?? null, files }, sending);
  if (state === null) {
    await sending.note({ ecosystem, etag: age?.etag ?? null, published_at: age?.published_at ?? null });
    return null;
  }
  const note = { ecosystem, etag: state.etag === "" ? null : state.etag, published_at: state.publishedAt };
  await sending.note({ ...note, ended: false });
  const tally = await store({ ecosystem, state, files }, sending);
  files.remove();
  await sending.note(note);
  return tally;
}

/** @param sync resolves to null if nothing changed @throws UsageError */
async function failingAlone(ecosystem: SyncSource, sync: () => Promise<Tally | null>): Promise<Synced> {
  try {
    const tally = await sync();
    return { ecosystem, tally, text: tally === null ? "unchanged" : tallyText(tally), failure: null };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof UsageError) throw error;
    if (!(error instanceof CallError) && !("code" in error)) throw error;
    return { ecosystem, tally: null, text: "failed", failure: error.message };
  }
}

interface Downloading {
  ecosystem: Ecosystem;
  url: string;
  known: string | null;
  files: SyncFiles;
}

function download({ ecosystem, url, known, files }: Downloading, { showProgress }: Sending): Promise<SyncState | null> {
  let progress: ReturnType<typeof downloadProgress> | null = null;
  const show = atIntervals(showProgress);
  return downloadArchive({
    url,
    files,
    known,
    onPiece(done, total) {
      const nowMs = performance.now();
      const write = (progress ??= downloadProgress(ecosystem, { startAt: done, startMs: nowMs }));
      show(() => write({ done, total, nowMs }));
    },
  });
}

interface Storing {
  ecosystem: Ecosystem;
  state: SyncState;
  files: SyncFiles;
}

/** @throws CallError also for an archive that cannot be read to its end; then it is removed, since reading it again would not help */
async function store({ ecosystem, state, files }: Storing, { post, showProgress }: Sending): Promise<Tally> {
  const show = atIntervals(showProgress);
  const name = `${ecosystem}.zip`;
  let damage: string | null = null;
  try {
    const after = state.cursor ?? undefined;
    const tally = await storeAdvisories(
      {
        source: { path: files.archive },
        after,
        onStored({ tally: soFar, cursor, progress, failures }) {
          damage ??= failures.find(({ record }) => record === name)?.reason ?? null;
          if (state.etag !== "") files.write({ ...state, cursor });
          show(() => `${ecosystem}: ${tallyText(soFar, progress)}`);
        },
      },
      post,
    );
    if (damage === null) return tally;
  } catch (error) {
    if (!(error instanceof CursorError)) throw error;
    damage = error.message;
  }
  files.remove();
  throw new CallError(`The archive ${damage ?? ""}`);
}

/** Longest silence before the server's answer, and between two pieces of it. */
const silenceMsMax = 60_000;

interface Download {
  url: string;
  files: SyncFiles;
  /** The ETag of the archive whose records are already stored; null: none. */
  known: string | null;
  bytesMax?: number;
  onPiece(done: number, total: number | null): void;
}

/** @returns the state of the complete archive; null: the records of the server's archive are already stored @throws CallError */
export async function downloadArchive(download: Download): Promise<SyncState | null> {
  const { url, files, known } = download;
  const left = files.read();
  const state = left?.url === url && left.bytesTotal >= files.size() ? left : null;
  if (state === null) files.remove();
  const from = state === null ? 0 : files.size();
  const isWhole = state !== null && from === state.bytesTotal;
  const headers: Record<string, string> = isWhole
    ? { "if-none-match": state.etag }
    : state === null || from === 0
      ? known === null
        ? {}
        : { "if-none-match": known }
      : { range: `bytes=${from}-`, "if-range": state.etag };
  const silence = silenceBounded();
  try {
    const response = await fetch(url, { headers: { ...headers, "accept-encoding": "identity" }, signal: silence.signal });
    silence.heard();
    if (response.status === 304) return isWhole ? state : null;
    if (response.status === 206 && state !== null && startOf(response) === from) {
      return await receive({ response, state, from, ...download }, silence);
    }
    files.remove();
    if (response.status === 200) return await receive({ response, state: stateOf(url, response), from: 0, ...download }, silence);
    await response.body?.cancel();
    if (response.status === 416) throw new CallError(`${url} changed during the download: start again`);
    throw new CallError(`${url} answers with status ${response.status}`);
  } catch (error) {
    if (error instanceof CallError) throw error;
    throw new CallError(`Cannot download ${url}: ${reasonOf(error, silence)}; the same command continues`, { cause: error });
  } finally {
    silence.end();
  }
}

interface Receiving extends Download {
  response: Response;
  state: SyncState | null;
  from: number;
}

/** Writes pieces as they come, so that an interrupted download keeps them. */
async function receive(
  { response, state, from, url, files, bytesMax, onPiece }: Receiving,
  silence: Silence,
): Promise<SyncState> {
  const most = bytesMax ?? advisoryArchiveBytesMax;
  const announced = state?.bytesTotal ?? null;
  if (announced !== null && announced > most) {
    await response.body?.cancel();
    throw new CallError(`${url} has ${announced} bytes: at most ${most} are taken`);
  }
  if (state !== null && state.etag !== "") files.write(state);
  const file = await open(files.archive, from === 0 ? "w" : "r+", 0o600);
  let done = from;
  try {
    for await (const piece of response.body ?? []) {
      silence.heard();
      if (done + piece.length > (announced ?? most))
        throw new CallError(`${url} has more bytes than ${announced === null ? "are taken" : "it announced"}`);
      await file.write(piece, 0, piece.length, done);
      done += piece.length;
      onPiece(done, announced);
    }
  } finally {
    await file.close();
  }
  if (announced !== null && done < announced) throw new Error(`the answer ended after ${done} of ${announced} bytes`);
  return state ?? { url, etag: "", publishedAt: null, bytesTotal: done, cursor: null };
}

/** @returns null if the server does not give the length */
function stateOf(url: string, { headers }: Response): SyncState | null {
  const bytesTotal = headers.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(bytesTotal)) return null;
  const etag = headers.get("etag") ?? "";
  const isUsable = /^"[\x21\x23-\x7e]*"$/.test(etag) && etag.length <= advisoryEtagCharactersMax;
  const published = new Date(headers.get("last-modified") ?? "");
  return {
    url,
    etag: isUsable ? etag : "",
    publishedAt: Number.isNaN(published.getTime()) ? null : published.toISOString(),
    bytesTotal: Number(bytesTotal),
    cursor: null,
  };
}

/** The position of a partial answer's first byte, by RFC 9110, 14.4. */
function startOf({ headers }: Response): number | null {
  const [, start] = /^bytes (\d{1,15})-/.exec(headers.get("content-range") ?? "") ?? [];
  return start === undefined ? null : Number(start);
}

type Silence = ReturnType<typeof silenceBounded>;

/** Aborts a download that is silent for too long. */
function silenceBounded() {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), silenceMsMax);
  return { signal: controller.signal, heard: () => timer.refresh(), end: () => clearTimeout(timer) };
}

function reasonOf(error: unknown, { signal }: Silence): string {
  if (signal.aborted) return "the server is silent";
  return error instanceof Error ? error.message : String(error);
}

interface Arrived {
  done: number;
  total: number | null;
  nowMs: number;
}

/**
 * Writes lines such as `npm: 12.0 of 240.0 MiB (5 %), 3.1 MiB/s, 74 s left`.
 * @param startAt the bytes of an earlier download, which do not count towards the rate
 */
export function downloadProgress(name: string, { startAt, startMs }: Record<"startAt" | "startMs", number>) {
  const size = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
  return ({ done, total, nowMs }: Arrived): string => {
    const rate = nowMs > startMs ? ((done - startAt) * 1_000) / (nowMs - startMs) : 0;
    const part = total ? ` of ${size(total)} MiB (${Math.floor((100 * done) / total)} %)` : " MiB";
    const seconds = total && rate > 0 ? Math.ceil((total - done) / rate) : null;
    const left = seconds === null ? "" : seconds < 120 ? `, ${seconds} s left` : `, ${Math.ceil(seconds / 60)} min left`;
    return `${name}: ${size(done)}${part}, ${size(rate)} MiB/s${left}`;
  };
}

const SyncState = Type.Object({
  url: Type.String(),
  /** A strong ETag, without which nothing is resumed. */
  etag: Type.String(),
  /** ISO 8601; null: the server does not say. */
  publishedAt: Type.Union([Type.String(), Type.Null()]),
  /** The archive's length. */
  bytesTotal: Type.Integer(),
  /** The last stored record; null: none. */
  cursor: Type.Union([Type.Object({ document: Type.String(), record: Type.Integer() }), Type.Null()]),
});

export type SyncState = Static<typeof SyncState>;

export class SyncFiles {
  /** The archive, whole or in part. */
  readonly archive: string;
  readonly #state: string;

  /** Creates the folder if it is missing. @throws an error of the file system */
  constructor(folder: string, ecosystem: Ecosystem) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.archive = join(folder, `${ecosystem}.zip`);
    this.#state = join(folder, `${ecosystem}.json`);
  }

  /** @returns null if there is no state, or it is invalid */
  read(): SyncState | null {
    try {
      const state: unknown = JSON.parse(readFileSync(this.#state, "utf8"));
      return Value.Check(SyncState, state) ? state : null;
    } catch {
      return null;
    }
  }

  write(state: SyncState): void {
    writeFileSync(this.#state, JSON.stringify(state), { mode: 0o600 });
  }

  /** Bytes of the archive so far. */
  size(): number {
    return statSync(this.archive, { throwIfNoEntry: false })?.size ?? 0;
  }

  remove(): void {
    rmSync(this.archive, { force: true });
    rmSync(this.#state, { force: true });
  }
}
