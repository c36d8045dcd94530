/** Compose reads its files, with secrets that are made for this. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run, toolOf } from "./tool.ts";

export async function checkCompose(): Promise<string> {
  const { name, command, readsVariables } = await readerOfCompose();
  const folder = mkdtempSync(join(tmpdir(), "weir-compose-"));
  try {
    cpSync(join(root, "deploy"), folder, { recursive: true, filter: (path) => !/compose\/(secrets.*|\.env)$/.test(path) });
    const compose = join(folder, "compose");
    await run(["sh", join(compose, "make-secrets.sh")]);
    writeFileSync(join(compose, "weir.env"), "LOG_LEVEL=warn\n");
    const seen: string[] = [];
    for (const file of ["one-process.yaml", "fleet.yaml"]) {
      const read = await run(command(join(compose, file)), { folder: compose });
      const model = Bun.YAML.parse(read) as { services: Record<string, { environment?: Record<string, string> }> };
      const services = Object.entries(model.services);
      seen.push(`${services.length} service${services.length === 1 ? "" : "s"} of ${file}`);
      if (!readsVariables) continue;
      const deaf = services.filter(([, { environment }]) => environment?.["PUBLIC_URL"] && environment["LOG_LEVEL"] !== "warn");
      if (deaf.length > 0) throw new Error(`weir.env does not reach ${deaf.map(([service]) => service).join(", ")}`);
    }
    return `${name} reads ${seen.join(" and ")}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

interface Reader {
  name: string;
  command: (file: string) => string[];
  /** Whether it follows env_file. */
  readsVariables: boolean;
}

/** Compose itself, as Docker's plugin or alone, or the reader of Compose (`go install github.com/compose-spec/compose-go/v2/cmd`). */
async function readerOfCompose(): Promise<Reader> {
  const config = (words: string[]) => (file: string) => [...words, "-f", file, "config"];
  const plugin = ["docker", "compose"];
  if (Bun.which("docker") !== null && (await succeeds([...plugin, "version"])))
    return { name: "docker compose", command: config(plugin), readsVariables: true };
  const tool = toolOf("docker-compose", "compose-spec");
  // Version 1 does not know the files of today.
  if (tool === "docker-compose" && !(await succeeds([tool, "version", "--short"])))
    throw new ToolMissingError("needs Compose 2.24");
  const isCompose = tool === "docker-compose";
  return { name: tool, command: isCompose ? config([tool]) : (file) => [tool, file], readsVariables: isCompose };
}

function succeeds(command: string[]): Promise<boolean> {
  return run(command).then(
    () => true,
    () => false,
  );
}
