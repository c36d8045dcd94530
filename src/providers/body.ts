/** Reading an answer whole, within a bound on its decoded bytes. */
import { upstreamSmallAnswerBytesMax } from "../limits/constants.ts";
import type { Exchange } from "./exchange.ts";
import { UpstreamFailure } from "./provider.ts";

/** @throws UpstreamFailure when it is larger, late or broke off */
export async function readWhole(exchange: Exchange, headers: Headers, bytesMax: number): Promise<string> {
  if (saysItIsSmall(headers)) return exchange.text();
  const { text, whole } = await readUpTo(exchange, bytesMax);
  if (!whole) throw new UpstreamFailure("upstream_error", `the answer is larger than ${bytesMax} bytes`);
  return text;
}

/** HTTP holds a body to the length that it announces, unless it unpacks to more. */
function saysItIsSmall(headers: Headers): boolean {
  const length = headers.get("content-length");
  return length !== null && Number(length) <= upstreamSmallAnswerBytesMax && headers.get("content-encoding") === null;
}

/** What there is of an error's body: its beginning tells enough, and a body that breaks off does not hide the status. */
export async function readBeginning(exchange: Exchange, bytesMax: number): Promise<string> {
  try {
    return (await readUpTo(exchange, bytesMax)).text;
  } catch (error) {
    if (error instanceof UpstreamFailure && error.code === "upstream_timeout") throw error;
    return "";
  }
}

async function readUpTo(exchange: Exchange, bytesMax: number): Promise<{ text: string; whole: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let chunk = await exchange.read(); chunk !== null; chunk = await exchange.read()) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > bytesMax) return { text: decode(chunks), whole: false };
  }
  return { text: decode(chunks), whole: true };
}

function decode(chunks: Uint8Array[]): string {
  return new TextDecoder().decode(Buffer.concat(chunks));
}
