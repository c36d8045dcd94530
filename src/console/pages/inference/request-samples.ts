/**
 * A first request with a key, as text to paste: for a shell, Python and JavaScript.
 */
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
