/**
 * A key's first use, as text to paste: a request with an inference key in a shell, Python and JavaScript, and the set-up of MCP clients
 * with a tools key. docs/how-to/connect-mcp-clients.md explains each client.
 */
import { keyPrefix } from "../../../kernel/ids.ts";
import { mcpPath } from "../../../security/api/operations.ts";
import type { Sample } from "../../look/parts.ts";

interface SampleRequest {
  /** Where people reach the service. */
  publicUrl: string;
  /** The full key, or a placeholder where it is no longer known. */
  key: string;
  /** Absent: a model of the sandbox, which needs no account at a provider where the sandbox is on. */
  model?: string;
  kind?: "chat" | "embeddings";
}

export function samplesFor({ publicUrl, key, model = "sandbox/echo", kind = "chat" }: SampleRequest): Sample[] {
  const call = { url: `${publicUrl}/gpt/v1`, key, model };
  return kind === "chat" ? chatSamples(call) : embeddingSamples(call);
}

interface Call {
  url: string;
  key: string;
  model: string;
}

function chatSamples({ url, key, model }: Call): Sample[] {
  return [
    {
      language: "curl",
      code: `curl -N ${url}/chat/completions \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
    },
    {
      language: "Python",
      code: `from openai import OpenAI

client = OpenAI(base_url="${url}", api_key="${key}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello"}],
)
print(answer.choices[0].message.content)`,
    },
    {
      language: "JavaScript",
      code: [
        `import OpenAI from 'openai';`,
        ``,
        `const client = new OpenAI({ baseURL: "${url}", apiKey: "${key}" });`,
        `const answer = await client.chat.completions.create({`,
        `  model: "${model}",`,
        `  messages: [{ role: "user", content: "Hello" }],`,
        `});`,
        `console.log(answer.choices[0].message.content);`,
      ].join("\n"),
    },
  ];
}

function embeddingSamples({ url, key, model }: Call): Sample[] {
  return [
    {
      language: "curl",
      code: `curl ${url}/embeddings \\
  -H "Authorization: Bearer ${key}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","input":["Hello"]}'`,
    },
    {
      language: "Python",
      code: `from openai import OpenAI

client = OpenAI(base_url="${url}", api_key="${key}")
answer = client.embeddings.create(model="${model}", input=["Hello"])
print(answer.data[0].embedding)`,
    },
    {
      language: "JavaScript",
      code: [
        `import OpenAI from 'openai';`,
        ``,
        `const client = new OpenAI({ baseURL: "${url}", apiKey: "${key}" });`,
        `const answer = await client.embeddings.create({ model: "${model}", input: ["Hello"] });`,
        `console.log(answer.data[0].embedding);`,
      ].join("\n"),
    },
  ];
}

interface ToolsClient {
  publicUrl: string;
  /** The service's name, the beginning of keys and operations. */
  slug: string;
  /** The full key; null: it is no longer known, and each client reads it from where it keeps secrets. */
  key: string | null;
}

/** Each client by its own file or command. Claude Desktop starts a local program, since it has no field for a key. */
export function toolsSamplesFor({ publicUrl, slug, key }: ToolsClient): Sample[] {
  const url = publicUrl + mcpPath;
  const bearer = (unknown: string): string => `Bearer ${key ?? unknown}`;
  const headers = (unknown: string) => ({ Authorization: bearer(unknown) });
  const asked = [{ type: "promptString", id: "weir-key", description: "Tools key of Weir", password: true }];
  const local = {
    command: "npm",
    args: ["--prefix", "/path/to/weir", "run", "-s", "mcp"],
    env: { WEIR_URL: publicUrl, WEIR_TOOLS_KEY: key ?? `${keyPrefix(slug, "tools")}…` },
  };
  return [
    {
      language: "Claude Code",
      code: `claude mcp add --transport http --scope user weir ${url} --header "Authorization: ${bearer("$WEIR_TOOLS_KEY")}"`,
    },
    {
      language: "VS Code",
      code: json({
        ...(key === null && { inputs: asked }),
        servers: { weir: { type: "http", url, headers: headers("${input:weir-key}") } },
      }),
    },
    { language: "Cursor", code: json({ mcpServers: { weir: { url, headers: headers("${env:WEIR_TOOLS_KEY}") } } }) },
    { language: "Claude Desktop", code: json({ mcpServers: { weir: local } }) },
    {
      language: "curl",
      code: `curl ${publicUrl}/api/tools/${slug}_list_projects \\
  -H "Authorization: ${bearer("$WEIR_TOOLS_KEY")}" \\
  -H "Content-Type: application/json" \\
  -d '{}'`,
    },
  ];
}

function json(settings: object): string {
  return JSON.stringify(settings, null, 2);
}
