/** A first request with a key, as text to paste. */
import type { Sample } from "../../look/code.ts";

/** Callable without an account at a provider where the sandbox is on. */
const model = "sandbox/echo";

/** @param key the full key, or a placeholder where it is not known any more */
export function samplesFor(publicUrl: string, key: string): Sample[] {
  const url = `${publicUrl}/gpt/v1`;
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
