/**
 * Builds the image, starts it once as compose would, and stops it. Compose also reads its files, with secrets made for this check.
 */
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../test/support/temporary-folder.ts";
import { run, toolOf, root, ToolMissingError } from "./tool.ts";

const startMsMax = 60_000;
const lookMs = 500;
const name = "weir-check";
/** Keys of both kinds, and the link that signs in. */
const secrets = /-(api|mcp)-[0-9a-f]{16}|\/console\/link\//;
const confined = ["--read-only", "--tmpfs", "/tmp", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"];

export async function checkImage({ build, base }: Record<"build" | "base", string | null>): Promise<string> {
  const tool = toolOf("podman", "docker");
  const bases = [
    ...(build ? ["--build-arg", `BUILD_IMAGE=${build}`] : []),
    ...(base ? ["--build-arg", `BASE_IMAGE=${base}`] : []),
  ];
  // Podman's other format does not support HEALTHCHECK.
  const format = tool === "podman" ? ["--format", "docker"] : [];
  await run([tool, "build", ...format, "--file", "deploy/Dockerfile", "--tag", name, ...bases, "."]);
  await run([tool, "run", "--detach", "--name", name, "--volume", `${name}:/data`, "--env", "CONSOLE=on", ...confined, name]);
  try {
    await untilHealthy(tool);
    const status = await run([tool, "exec", name, "weir", "status"]);
    const keys = await run([tool, "exec", name, "cat", "/data/first-keys"]);
    if (!secrets.test(keys)) throw new Error("The file first-keys has no keys");
    const startedMs = performance.now();
    await run([tool, "stop", "--time", "75", name]);
    const stoppedMs = performance.now() - startedMs;
    const code = await run([tool, "inspect", "--format", "{{.State.ExitCode}}", name]);
    const log = await run([tool, "logs", name]);
    if (code !== "0" || !log.includes('"event":"stopped"')) throw new Error(`It ended with ${code} on SIGTERM:\n${log}`);
    if (secrets.test(log)) throw new Error("Its log shows keys or a link that signs in");
    return `${tool} builds it; it serves with a read-only root, says "${status.split("\n")[0]}", and stops in ${Math.round(stoppedMs)} ms`;
  } finally {
    await run([tool, "rm", "--force", name]);
    await run([tool, "volume", "rm", name]);
  }
}

async function untilHealthy(tool: string): Promise<void> {
  const endsAt = performance.now() + startMsMax;
  for (;;) {
    const problem = await run([tool, "exec", name, "bun", "scripts/healthy.ts"]).then(() => null, String);
    if (problem === null) return;
    if (performance.now() > endsAt) throw new Error(`${problem}\n${await run([tool, "logs", name])}`);
    await Bun.sleep(lookMs);
  }
}

export async function checkCompose(): Promise<string> {
  const command = await composeCommand();
  await using folder = await temporaryFolder();
  // Without secrets that were made in this folder.
  const made = [join(root, "deploy/compose/secrets"), join(root, "deploy/compose/.env")];
  cpSync(join(root, "deploy"), folder.path, { recursive: true, filter: (path) => !made.includes(path) });
  const compose = join(folder.path, "compose");
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
}

/** The command of Compose: Docker's plugin, or the program alone. Version 1 does not know these files. @throws ToolMissingError */
async function composeCommand(): Promise<string[]> {
  for (const command of [["docker", "compose"], ["docker-compose"]]) {
    const version = Bun.which(command[0] ?? "") === null ? "" : await run([...command, "version", "--short"]).catch(() => "");
    if (version !== "" && !version.startsWith("1.")) return command;
  }
  throw new ToolMissingError("needs docker compose or docker-compose 2");
}
