/**
 * MCP over stdio: `npm run -s mcp -- [--attach-root DIR]`, a client of the running service that WEIR_URL names, with the tools key
 * in WEIR_TOOLS_KEY. It writes only the protocol to stdout.
 *
 * If a call names a file, it uploads the file before the call. Agents choose the files, so only those below one folder are sent, and none
 * that looks secret.
 */
import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { resolve, basename, relative, sep } from "node:path";
import { parseArgs } from "node:util";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DomainError } from "../src/accounts/errors.ts";
import { folderOfCaller, readMcpConfig } from "../src/config.ts";
import type { Secret } from "../src/kernel/secret.ts";
import { ConfigError } from "../src/process/environment/variables.ts";
import { failure, Failure, successOf, type CallAnswer } from "../src/security/api/envelope.ts";
import { mcpServer } from "../src/security/api/mcp-server.ts";
import {
  attachmentHeader,
  attachmentNameHeader,
  attachmentsPath,
  toolsPrefix,
  fullName,
} from "../src/security/api/operations.ts";
import {
  longCallWaitMs,
  sbomReadMs,
  sbomReaderWaitMs,
  toolsBodyMs,
  toolsDeadlineMs,
  attachmentBytesMax,
} from "../src/security/limits.ts";
import { checkInput, type Operation } from "../src/security/operation.ts";
import { help } from "./bootstrap/help.mjs";

function main(): void {
  const attachRoot = readAttachRoot();
  const { url, key } = readMcpConfig();
  // The service's slug begins its keys and the names of its operations.
  const [, slug] = /^([a-z][a-z0-9-]*)-mcp-[0-9a-f]{64}$/.exec(key?.reveal() ?? "") ?? [];
  if (key === null || slug === undefined) {
    throw new ConfigError(
      "WEIR_TOOLS_KEY holds no tools key: npm run -s weir -- key create --kind tools --workspace default --owner owner@localhost makes one",
    );
  }
  const service = { url, key, slug, attachRoot: resolve(folderOfCaller("mcp"), attachRoot) };
  serveStdio(() => mcpServer(slug, (operation, input) => callService({ operation, input }, service)), {
    onerror: (error) => process.stderr.write(`mcp: ${error.message}\n`),
  });
}

/** @throws ConfigError */
function readAttachRoot(): string {
  try {
    return parseArgs({ options: { "attach-root": { type: "string", default: "." } } }).values["attach-root"];
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : String(error)}\n\n${help.mcp}`, { cause: error });
  }
}

interface Service {
  url: string;
  key: Secret;
  /** The service's slug, such as "weir". */
  slug: string;
  /** The only folder whose files may be attached. */
  attachRoot: string;
}

/** Time in addition to the operation's own: for its body to arrive, for its turn, and for reading an SBOM. */
const arrivalMsMax = toolsBodyMs + longCallWaitMs + sbomReaderWaitMs + sbomReadMs;

/** Never rejects. */
async function callService(
  { operation, input }: { operation: Operation; input: Record<string, unknown> },
  service: Service,
): Promise<CallAnswer> {
  try {
    const attachment = await uploadAttachment(operation, input, service);
    return await post({
      path: `${toolsPrefix}/${fullName(service.slug, operation)}`,
      headers: { "content-type": "application/json", ...(attachment !== null && { [attachmentHeader]: attachment }) },
      body: JSON.stringify(input),
      waitMs: operation.deadlineMs,
      service,
    });
  } catch (error) {
    if (error instanceof DomainError) return failure(400, error.message);
    return failure(500, `Cannot reach Weir at ${service.url}: ${reason(error)}; is it running? WEIR_URL names its address`);
  }
}

/**
 * Checks the call's fields before it reads the file.
 * @returns the attachment's id; null: the call names no file, or the service takes text only, which its answer then reports
 */
async function uploadAttachment(operation: Operation, input: Record<string, unknown>, service: Service): Promise<string | null> {
  if (!("attachment_path" in operation.input.properties) || input["attachment_path"] === undefined) return null;
  const checked: Record<string, unknown> = checkInput(operation.input, input);
  const file = await readAttachment({ path: String(checked["attachment_path"]), root: service.attachRoot });
  const headers = { "content-type": "application/octet-stream", [attachmentNameHeader]: encodeURIComponent(file.name) };
  const { status, body } = await post({ path: attachmentsPath, headers, body: file.bytes, waitMs: toolsDeadlineMs, service });
  if (status === 404) return null;
  if (!body.success) throw new DomainError("invalid_field", `Cannot attach the file: ${body.error}`);
  return String(body.data["id"]);
}

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer>;
  /** The deadline of the service's own work. */
  waitMs: number;
  service: Service;
}

async function post({ path, headers, body, waitMs, service: { url, key } }: Sent): Promise<CallAnswer> {
  const authorization = `Bearer ${key.reveal()}`;
  const signal = AbortSignal.timeout(waitMs + arrivalMsMax);
  const response = await fetch(`${url}${path}`, { method: "POST", headers: { ...headers, authorization }, body, signal });
  const answered: unknown = await response.json().catch(() => null);
  if (Value.Check(envelope, answered)) return { status: response.status, body: answered };
  return failure(500, `The server at ${url} is not Weir's tools API: status ${response.status}`);
}

const envelope = Type.Union([successOf(Type.Record(Type.String(), Type.Unknown())), Failure]);

function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === "TimeoutError" ? "it does not answer" : error.message;
}

/** The usual names of key files. Hidden files and folders (.env, .ssh, .weir) are refused as well. */
const secretNames = /^id_|\.(pem|key|p12|pfx|ppk|jks|kdbx)$/i;

/**
 * Reads a regular file of at most 50 MiB within the root, and follows no symbolic link out of it.
 * @throws DomainError with the reason
 */
async function readAttachment({ path, root }: Record<"path" | "root", string>) {
  const refuse = (cause: string) => new DomainError("invalid_field", `Cannot attach ${JSON.stringify(path)}: ${cause}`);
  const top = await realpath(root);
  const file = await realpath(resolve(top, path)).catch(() => {
    throw refuse("the file does not exist");
  });
  const inside = relative(top, file).split(sep);
  if (inside[0] === "" || inside[0] === "..") throw refuse(`it is not in ${top}; --attach-root names another folder`);
  for (const name of [...inside, basename(path)]) {
    if (name.startsWith(".") || secretNames.test(name)) throw refuse("hidden files and keys are never attached");
  }
  if (!(await lstat(file)).isFile()) throw refuse("it is not a regular file");
  // If another file has taken its place meanwhile, a link is not followed and a pipe does not block.
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(() => {
    throw refuse("it cannot be read");
  });
  try {
    const { size } = await handle.stat();
    if (size > attachmentBytesMax) throw refuse(`it has ${size} bytes, more than the limit of ${attachmentBytesMax}`);
    const bytes = new Uint8Array(size);
    const { bytesRead } = await handle.read(bytes, 0, size, 0);
    return { name: basename(file), bytes: bytes.subarray(0, bytesRead) };
  } finally {
    await handle.close();
  }
}

try {
  main();
} catch (error) {
  process.stderr.write(`mcp: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
