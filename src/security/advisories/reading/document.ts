/** Recognizes files of advisories, and reads their values. */
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

/** The format by the extension; null: not a file of advisories, such as a readme file or a hidden file. */
export function formatOf(name: string): DocumentFormat | null {
  const parts = name.split("/").filter((part) => part !== "." && part !== "..");
  if (parts.some((part) => part.startsWith(".") || part === "__MACOSX")) return null;
  return formats[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""] ?? null;
}

/** The format of a stream without a name: a text that does not begin like a JSON object or list is YAML. */
export function formatByContent(first: Bytes): DocumentFormat {
  return /^[\s\ufeff]*[[{]/.test(new TextDecoder().decode(first)) ? "json" : "yaml";
}

/** The text of each record, or the reason why it is invalid. */
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
