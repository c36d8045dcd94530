/** Files of advisories: which ones are, and the values that they hold. */
import { advisoryYamlBytesMax } from "../../limits.ts";
import { RecordError } from "./record-error.ts";
import type { Bytes } from "../../archives/byte-reader.ts";
import { jsonLines } from "./json-lines.ts";
import { jsonValues, ValueBytes, type Piece } from "./json-values.ts";
import { parseYaml } from "./parse-yaml.ts";

export type DocumentFormat = "json" | "ndjson" | "yaml";

const formats: Readonly<Record<string, DocumentFormat>> = {
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
  yaml: "yaml",
  yml: "yaml",
};

/** By the ending of its name; null: no file of advisories, like readme files and all that is hidden. */
export function formatOf(name: string): DocumentFormat | null {
  const parts = name.split("/").filter((part) => part !== "." && part !== "..");
  if (parts.some((part) => part.startsWith(".") || part === "__MACOSX")) return null;
  return formats[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? null;
}

/** Of a stream without a name: what does not begin like JSON is YAML, which no object nor list of JSON begins like. */
export function formatByContent(first: Bytes): DocumentFormat {
  return /^[\s\ufeff]*[[{]/.test(new TextDecoder().decode(first)) ? "json" : "yaml";
}

/** Whole texts of records, or why one is none. */
export function piecesOf(bytes: AsyncIterable<Bytes>, format: DocumentFormat): AsyncGenerator<Piece> {
  if (format === "yaml") return wholeText(bytes);
  return format === "json" ? jsonValues(bytes) : jsonLines(bytes);
}

/** @throws RecordError */
export function parsePiece(piece: Piece, format: DocumentFormat): unknown {
  if ("problem" in piece) throw new RecordError("", piece.problem);
  if (format === "yaml") return parseYaml(piece.text);
  try {
    return JSON.parse(piece.text);
  } catch (error) {
    throw new RecordError("", `is not valid JSON: ${error instanceof Error ? error.message : "unknown fault"}`);
  }
}

async function* wholeText(bytes: AsyncIterable<Bytes>): AsyncGenerator<Piece> {
  const value = new ValueBytes(advisoryYamlBytesMax);
  value.open();
  for await (const piece of bytes) value.keep(piece);
  yield { at: "", ...value.close(new Uint8Array(0)) };
}
