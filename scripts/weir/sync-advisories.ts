/**
 * `weir advisories sync`: downloads each archive of OSV that changed, stores its records, and notes it at the service.
 *
 * One ecosystem follows the other, and a failure of one stops no other. An interrupted download or import continues where it was.
 */
import { join } from "node:path";
import { osvArchives } from "../../src/config.ts";
import type { EcosystemAge } from "../../src/security/advisories/ecosystem-ages.ts";
import { CursorError } from "../../src/security/advisories/read-advisories.ts";
import { ecosystems, type Ecosystem } from "../../src/security/versions/ecosystem.ts";
import { cacheFolder } from "../services/fetch-program.ts";
import { answerAs, CallError } from "./call.ts";
import { downloadArchive, downloadText, Pace, SyncFiles, type SyncState } from "./download-advisories.ts";
import { atIntervals, failureLines, storeAdvisories, tallyText, type Tally } from "./store-advisories.ts";
import { UsageError } from "./value.ts";
import type { LocalAnswer, Sending } from "./verb.ts";

interface Synced {
  ecosystem: Ecosystem;
  /** null: the archive did not change, or failed. */
  tally: Tally | null;
  text: string;
  /** Why not; null: it is done. */
  failure: string | null;
}

/** One ecosystem after another; a failure of one does not stop the others. @throws UsageError */
export async function syncAdvisories(fields: Record<string, unknown>, sending: Sending): Promise<LocalAnswer> {
  const named = namedEcosystems(fields["ecosystems"]);
  const base = baseOf(String(fields["from"] ?? osvArchives));
  const folder = String(fields["folder"] ?? join(cacheFolder(), "advisories"));
  const { data: ages } = answerAs<{ data: EcosystemAge[] }>(await sending.get("/advisories", {}));
  const done: Synced[] = [];
  for (const ecosystem of named) {
    const age = ages.find((one) => one.ecosystem === ecosystem);
    done.push(await syncOne({ ecosystem, url: `${base}/${ecosystem}/all.zip`, folder, age }, sending));
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

function namedEcosystems(given: unknown): Ecosystem[] {
  const words = Array.isArray(given) ? given.map(String) : [...ecosystems];
  return words.map((word) => {
    const known = ecosystems.find((name) => name.toLowerCase() === word.toLowerCase());
    if (known === undefined) throw new UsageError(`--ecosystems: "${word}" is not one of ${ecosystems.join(", ")}`);
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

async function syncOne({ ecosystem, url, folder, age }: Sync, sending: Sending): Promise<Synced> {
  try {
    const files = new SyncFiles(folder, ecosystem);
    const state = await download({ ecosystem, url, known: age?.etag ?? null, files }, sending);
    if (state === null) {
      await sending.note({ ecosystem, etag: age?.etag ?? null, published_at: age?.published_at ?? null });
      return { ecosystem, tally: null, text: "unchanged", failure: null };
    }
    const note = { ecosystem, etag: state.etag === "" ? null : state.etag, published_at: state.publishedAt };
    await sending.note({ ...note, ended: false });
    const tally = await store({ ecosystem, state, files }, sending);
    files.remove();
    await sending.note(note);
    return { ecosystem, tally, text: tallyText(tally), failure: null };
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
  let pace: Pace | null = null;
  const show = atIntervals(showProgress);
  return downloadArchive({
    url,
    files,
    known,
    onPiece(done, total) {
      const nowMs = performance.now();
      pace ??= new Pace(done, nowMs);
      const measured = pace;
      show(() => downloadText({ name: ecosystem, done, total, nowMs }, measured));
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
  let pace: Pace | null = null;
  try {
    const after = state.cursor ?? undefined;
    const tally = await storeAdvisories(
      {
        source: { path: files.archive },
        after,
        onStored({ tally: soFar, cursor, progress, failures }) {
          damage ??= failures.find(({ record }) => record === name)?.reason ?? null;
          if (state.etag !== "") files.write({ ...state, cursor });
          const nowMs = performance.now();
          const done = progress?.bytesRead ?? 0;
          pace ??= new Pace(done, nowMs);
          const left = pace.timeLeft({ done, total: progress?.bytesTotal ?? null, nowMs });
          show(() => `${ecosystem}: ${tallyText(soFar, progress)}${left === "" ? "" : `, ${left}`}`);
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
