/** nginx as a reverse proxy in front of the provider: what a proxy in C costs here. It knows neither keys nor accounts. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { freePort } from "../../scripts/services/ports.ts";
import { dataFolder } from "../paths.ts";
import type { Contender, Running } from "./contender.ts";
import { answers, startOneProcess } from "./one-process.ts";
import { agentModel, agentTarget, openaiTarget, sameName, warmUpSeconds, type Provider } from "./provider.ts";

const folder = join(dataFolder, "nginx");

export function nginx(program: string, provider: Provider): Contender {
  return { name: "nginx", warmUpSeconds, model: sameName, agentModel: () => agentModel, start: () => start(program, provider) };
}

async function start(program: string, provider: Provider): Promise<Running> {
  const port = await freePort();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "nginx.conf"), nginxSettings({ port, provider: provider.port, workers: availableParallelism() }));
  return startOneProcess({
    child: { name: "nginx", program, arguments: ["-p", folder, "-c", "nginx.conf", "-e", "stderr"] },
    serves: () => answers(`http://127.0.0.1:${port}/`),
    prepare: async () => ({ target: openaiTarget(port), agentTarget: (api) => agentTarget(port, api) }),
  });
}

/** Connections are kept on both sides (https://nginx.org/en/docs/http/ngx_http_upstream_module.html#keepalive), and events pass at once. */
export function nginxSettings({ port, provider, workers }: { port: number; provider: number; workers: number }): string {
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `  ${kind}_temp_path ${kind};`);
  return `daemon off;
worker_processes ${workers};
pid nginx.pid;
events {
  worker_connections 16384;
}
http {
  access_log off;
  client_max_body_size 64m;
  keepalive_requests 1000000000;
${temporary.join("\n")}
  upstream provider {
    server 127.0.0.1:${provider};
    keepalive 256;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://provider;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`;
}
