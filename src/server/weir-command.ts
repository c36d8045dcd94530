/**
 * The command line as a person types it in another terminal in the project's folder, whatever settings this process has. Secrets are shown
 * as their variables, never printed.
 */
import { resolve } from "node:path";
import type { Config } from "../config.ts";

export type CommandSettings = Pick<Config, "host" | "port" | "dataDir" | "operatorToken">;

/** `npm run -s weir --`, after the variables that it needs to find this service and its token. */
export function weirCommand({ host, port, dataDir, operatorToken }: CommandSettings): string {
  return [...addressOf(host, port), ...tokenOf(operatorToken !== null, resolve(dataDir)), "npm run -s weir --"].join(" ");
}

/** Where a process on this machine reaches the service. */
export function ownAddress({ host, port }: Pick<Config, "host" | "port">): string {
  const reached = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  return `http://${reached.includes(":") ? `[${reached}]` : reached}:${port}`;
}

function addressOf(host: string, port: number): string[] {
  if (!/^(127\.0\.0\.1|localhost|0\.0\.0\.0|::)$/.test(host)) {
    return [`WEIR_URL=http://${host.includes(":") ? `[${host}]` : host}:${port}`];
  }
  return port === 8080 ? [] : [`PORT=${port}`];
}

function tokenOf(isGiven: boolean, folder: string): string[] {
  if (isGiven) return ['WEIR_TOKEN="$OPERATOR_TOKEN"'];
  return folder === resolve("./.weir") ? [] : [`DATA_DIR=${quoted(folder)}`];
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./@:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
