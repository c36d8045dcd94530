/**
 * Compresses a page as it is sent, off the main thread.
 *
 * A page may show what its address says beside what only its reader may see, and the size of a compressed text tells how alike the two are:
 * who may choose addresses for the reader's browser, and sees how much goes over the wire, could guess the text letter by letter (BREACH,
 * https://www.breachattack.com). So only a page that its reader asked for is compressed: by a link, form or script of the service itself, or
 * by typing its address. A request that another site made (Sec-Fetch-Site, which no page can set) gets it uncompressed, as does a browser
 * that does not say. Answers to forms, which may show a new secret, are never compressed. Besides, a form's token differs in each page.
 */
import { acceptsGzip, compressed } from "./document.ts";

/** Smaller ones fit in the first packet anyway. */
const bytesMin = 1_024;

export async function compressedPage(request: Request, page: Response): Promise<Response> {
  const { headers } = page;
  if (!(headers.get("content-type") ?? "").startsWith("text/")) return page;
  headers.append("vary", "accept-encoding, sec-fetch-site");
  if (request.method !== "GET" || !isOwnRequest(request) || !acceptsGzip(request.headers.get("accept-encoding"))) return page;
  const bytes = new Uint8Array(await page.arrayBuffer());
  if (bytes.length < bytesMin) return new Response(bytes, page);
  headers.set("content-encoding", "gzip");
  return new Response(await compressed(bytes), page);
}

function isOwnRequest({ headers }: Request): boolean {
  const site = headers.get("sec-fetch-site");
  return site === "same-origin" || site === "none";
}
