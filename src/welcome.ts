/** What a person reads after a start: the first key once, and lines that work as pasted. */
import type { Config } from "./config.ts";

/** @param first null: this is a later start */
export function welcome({ host, port }: Pick<Config, "host" | "port">, first: { key: string } | null): void {
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  console.log(`\nWeir is ready at ${url}\n`);
  console.log(first === null ? laterStart : firstStart(`${url}/gpt/v1`, first.key));
}

const laterStart = `Keys are stored as hashes, so none can be shown again. Another one:

  npm run -s weir -- key create --workspace default --owner owner@localhost --name "another key"
`;

function firstStart(url: string, key: string): string {
  return `The workspace "default" has 10 USD of credit and this key, which is shown this once:

  ${key}

Stream a chat with the sandbox:

  curl -N ${url}/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"model":"sandbox/echo","stream":true,"messages":[{"role":"user","content":"Hello, weir"}]}'

See what the key may still spend:

  curl ${url}/key -H "Authorization: Bearer ${key}"

See what it cost:

  npm run -s weir -- log list --limit 1
`;
}
