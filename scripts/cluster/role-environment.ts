/** What each process of a fleet is given of the supervisor's environment: no secret that it does not use. */

type Environment = Record<string, string | undefined>;

/** What a process needs of the machine and its runtime. */
const ofTheMachine = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TMPDIR|LANG|(LC|XDG|LD|NODE|BUN|MIMALLOC|SSL)_\w+)$/;

/** Variables of ours that hold no secret. */
const open = new Set([
  "PORT",
  "HOST",
  "DATA_DIR",
  "PLAINTEXT_HOSTS",
  "SERVICE_SLUG",
  "CATALOG_DIR",
  "SANDBOX",
  "MAIL_FROM",
  "GITHUB_API_URL",
  "GITLAB_API_URL",
  "METRICS_PORT",
  "METRICS_HOST",
  "LOG_LEVEL",
  "SHUTDOWN_LEAVE_MS",
  "CONNECT_TIMEOUT_MS",
  "FIRST_BYTE_TIMEOUT_MS",
  "IDLE_TIMEOUT_MS",
  "STREAM_DURATION_MS",
  "BODY_TIMEOUT_MS",
  "SBOMS_KEPT",
]);

/** "address": without the user and the password in it, for who needs to know that it is set. */
type Share = "whole" | "address" | "nothing";

/** Secrets of ours, and who gets how much of them; who is not named gets what `others` says. */
const secrets: Record<string, { roles: Record<string, Share>; others: Share }> = {
  SECRETS_KEY: { roles: { gateway: "whole" }, others: "nothing" },
  OPERATOR_TOKEN: { roles: { gateway: "whole" }, others: "nothing" },
  DATABASE_URL: { roles: {}, others: "whole" },
  NATS_URL: { roles: {}, others: "whole" },
  REDIS_URL: { roles: { admission: "whole", metering: "whole" }, others: "address" },
  SMTP_URL: { roles: { mailer: "whole", gateway: "address" }, others: "nothing" },
  WEIR_URL: { roles: {}, others: "nothing" },
  WEIR_TOKEN: { roles: {}, others: "nothing" },
  WEIR_TOOLS_KEY: { roles: {}, others: "nothing" },
};

/** Who calls providers. Their keys stand in variables that catalog files name, hence in any that is not known here. */
const callsProviders = ["gateway", "prober"];
/** Who decides whether a model can be called wants to know which keys are there, and not what they are. */
const countsProviders = ["admission"];
const set = "set";

/** Every variable of ours; a test compares them with what the configuration reads. */
export const knownVariables: ReadonlySet<string> = new Set([...open, ...Object.keys(secrets)]);

export function environmentFor(role: string, environment: Environment): Record<string, string> {
  const given = Object.entries(environment).map(([name, value]) => [name, value ? share(role, name, value) : null] as const);
  return Object.fromEntries(given.flatMap(([name, value]) => (value === null ? [] : [[name, value]])));
}

function share(role: string, name: string, value: string): string | null {
  if (ofTheMachine.test(name) || open.has(name)) return value;
  const secret = secrets[name];
  if (secret !== undefined) return cut(value, secret.roles[role] ?? secret.others);
  if (callsProviders.includes(role)) return value;
  return countsProviders.includes(role) ? set : null;
}

function cut(value: string, how: Share): string | null {
  if (how === "nothing") return null;
  // Up to the last @ before the path, as addresses are read.
  return how === "whole" ? value : value.replace(/^(\w+:\/\/)[^/?#]*@/, "$1");
}
