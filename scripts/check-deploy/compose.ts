import { run, ToolMissingError } from "./tool.ts";

/** Docker reads the compose files. */
export async function checkCompose(): Promise<string> {
  const command = ["docker", "compose"];
  const hasPlugin =
    Bun.which("docker") !== null &&
    (await run([...command, "version"]).then(
      () => true,
      () => false,
    ));
  if (!hasPlugin) throw new ToolMissingError("needs docker compose");
  const environment = { SECRETS_GID: "1000" };
  for (const file of ["one-process.yaml", "fleet.yaml"]) {
    await run([...command, "-f", `deploy/compose/${file}`, "config", "--quiet"], { environment });
  }
  return "docker compose reads both files";
}
