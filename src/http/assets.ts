/**
 * Styles, scripts and fonts: files that pages load from this service and keep for good, since the address has the digest of the bytes. Each
 * is made at the start of the process, and compressed at the first request for it.
 *
 * The type "text/css" or that of a script is given to nothing else, and no answer's type is guessed (nosniff), so `style-src 'self'` takes
 * only these styles. A script's element has its digest, and the policy of its page names the same one: a script of another version does not
 * run, and each page works without.
 *
 * During a rolling restart a page may come from one gateway and its style be asked of another. A style of an unknown digest is therefore
 * answered with this version's of the same name, which is not kept; the next page gets its own.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../kernel/clock.ts";
import { answer, documentOf, packedDocument, type Document } from "./document.ts";
import { type RouteContext, Router, type Routes } from "./router.ts";

const prefix = "/assets";

interface AssetFile {
  path: string;
  digest: Buffer;
  document: () => Promise<Document>;
}

/** @param name what the versions of a file have in common @param content text is compressed, bytes are so already */
export function assetFile({
  name,
  type,
  content,
}: {
  name: string;
  type: string;
  content: string | Uint8Array<ArrayBuffer>;
}): AssetFile {
  const digest = createHash("sha256").update(content).digest();
  // As many characters as no two versions share.
  const path = `${prefix}/${digest.toString("hex").slice(0, 16)}/${name}`;
  let made: Promise<Document> | null = null;
  const make = async (): Promise<Document> =>
    typeof content === "string" ? documentOf(content, type) : packedDocument(content, type);
  const file = { path, digest, document: () => (made ??= make()) };
  byPath.set(path, file);
  byName.set(name, file);
  return file;
}

export function assetRoutes(clock: Clock): Routes {
  const router = new Router({ clock });
  const none = (): Response => Response.json({ detail: "Not Found" }, { status: 404, headers: { "cache-control": "no-store" } });
  const handle = async ({ request, params }: RouteContext): Promise<Response> => {
    const { digest = "", name = "" } = params ?? {};
    const own = byPath.get(`${prefix}/${digest}/${name}`);
    const other = own === undefined && name.endsWith(".css") ? byName.get(name) : undefined;
    const file = own ?? other;
    if (file === undefined) return none();
    const stays = own === undefined ? "until changed" : "for good";
    return answer(request, await file.document(), { stays, ranges: false, version: null, headers });
  };
  router.add({ path: `${prefix}/:digest/:name`, methods: ["GET", "HEAD"], handle, writeError: none });
  return router.app;
}

const headers = { "cross-origin-resource-policy": "same-origin" };

/** All of this process, which are as many as its sources name. */
const byPath = new Map<string, AssetFile>();
const byName = new Map<string, AssetFile>();
