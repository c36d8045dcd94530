/** Compose reads its files, with secrets that are made for this. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run, ToolMissingError } from "./tool.ts";

export async function checkCompose(): Promise<string> {
  const command = await composeCommand();
  const folder = mkdtempSync(join(tmpdir(), "weir-compose-"));
  try {
    // Without the secrets that somebody made here.
    const made = [join(root, "deploy/compose/secrets"), join(root, "deploy/compose/.env")];
    cpSync(join(root, "deploy"), folder, { recursive: true, filter: (path) => !made.includes(path) });
    const compose = join(folder, "compose");
    await run(["sh", join(compose, "make-secrets.sh")]);
    writeFileSync(join(compose, "weir.env"), "LOG_LEVEL=warn\n");
    const seen: string[] = [];
    for (const file of ["one-process.yaml", "fleet.yaml"]) {
      const read = await run([...command, "-f", join(compose, file), "config"]);
      const model = Bun.YAML.parse(read) as { services: Record<string, { environment?: Record<string, string> }> };
      const services = Object.entries(model.services);
      seen.push(`${services.length} service${services.length === 1 ? "" : "s"} of ${file}`);
      const deaf = services.filter(([, { environment }]) => environment?.["PUBLIC_URL"] && environment["LOG_LEVEL"] !== "warn");
      if (deaf.length > 0) throw new Error(`weir.env does not reach ${deaf.map(([service]) => service).join(", ")}`);
    }
    return `${command.join(" ")} reads ${seen.join(" and ")}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The command of Compose: Docker's plugin, or the program alone. Version 1 does not know these files. @throws ToolMissingError */
async function composeCommand(): Promise<string[]> {
  for (const command of [["docker", "compose"], ["docker-compose"]]) {
    const version = Bun.which(command[0] ?? "") === null ? "" : await run([...command, "version", "--short"]).catch(() => "");
    if (version !== "" && !version.startsWith("1.")) return command;
  }
  throw new ToolMissingError("needs docker compose or docker-compose 2");
}
