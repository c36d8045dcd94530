/**
 * The part of the supervisor's environment that each process of a fleet gets, without secrets that it does not use.
 */
import { backgroundRoles } from "../src/backing/fleet-state.ts";
import { addressesIn } from "../src/kernel/addresses.ts";
import { openVariables } from "../src/process/environment/known-variables.ts";
import { secretText, secretVariables } from "../src/process/environment/variables.ts";

type Environment = Record<string, string | undefined>;

/** Variables of the machine and the runtime, which every process gets. */
const machineVariables = /^(PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|TMPDIR|LANG|(LC|XDG|LD|NODE|BUN|MIMALLOC|SSL)_\w+)$/;

const open: ReadonlySet<string> = new Set(openVariables);

/** "address": without its user and password, for a process that only needs to know that it is set. */
type Share = "whole" | "address" | "nothing";

/** Weir's secrets, and how much of each a role gets. `others` applies to all roles that are not listed. */
const secrets: Record<string, { roles: Record<string, Share>; others: Share }> = {
  SECRETS_KEY: { roles: { gateway: "whole", prober: "whole" }, others: "nothing" },
  OPERATOR_TOKEN: { roles: { gateway: "whole" }, others: "nothing" },
  DATABASE_URL: { roles: {}, others: "whole" },
  DATABASE_READ_URL: { roles: { gateway: "whole" }, others: "nothing" },
  NATS_URL: { roles: {}, others: "whole" },
  REDIS_URL: { roles: { admission: "whole", metering: "whole" }, others: "address" },
  SMTP_URL: { roles: { mailer: "whole", gateway: "address" }, others: "nothing" },
  STRIPE_SECRET_KEY: { roles: { gateway: "whole", metering: "whole" }, others: "nothing" },
  STRIPE_WEBHOOK_SECRET: { roles: { gateway: "whole" }, others: "nothing" },
  STRIPE_API_URL: { roles: { gateway: "whole", metering: "whole" }, others: "nothing" },
  OIDC_CLIENT_SECRET: { roles: { gateway: "whole" }, others: "nothing" },
  OIDC_CLIENT_ID: { roles: { gateway: "whole" }, others: "nothing" },
  OIDC_ISSUER: { roles: { gateway: "whole" }, others: "nothing" },
  OIDC_NAME: { roles: { gateway: "whole" }, others: "nothing" },
  AWS_ACCOUNT_ID: { roles: { gateway: "whole" }, others: "nothing" },
  AWS_ACCESS_KEY_ID: { roles: { gateway: "whole" }, others: "nothing" },
  AWS_SECRET_ACCESS_KEY: { roles: { gateway: "whole" }, others: "nothing" },
  OTEL_EXPORTER_OTLP_HEADERS: { roles: {}, others: "whole" },
  WEIR_URL: { roles: {}, others: "nothing" },
  WEIR_TOKEN: { roles: {}, others: "nothing" },
  WEIR_TOOLS_KEY: { roles: {}, others: "nothing" },
};

/** Roles that call providers. Catalog files name the variables of their keys, so these roles get every variable that is not listed here. */
const providerCallers = ["gateway", "prober"];
/** Roles that decide whether a model can be called. They need to know which keys exist, but not the keys. */
const providerCheckers = ["admission"];
const set = "set";

/** A secret may be in a file, which a variable of this name then names. */
const fileVariables: ReadonlySet<string> = new Set(secretVariables.map((name) => `${name}_FILE`));

/** Every variable whose share is decided here. A test compares them with those that the configuration reads. */
export const sharedVariables: ReadonlySet<string> = new Set([...open, ...Object.keys(secrets), ...fileVariables]);

export function environmentFor(role: string, environment: Environment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => {
      if (!value) return [];
      if (fileVariables.has(name)) return shareFile({ role, name: name.slice(0, -"_FILE".length), path: value }, environment);
      return share(role, name, value);
    }),
  );
}

type Shared = [name: string, value: string][];

/** A role that uses the whole secret gets the file's name. */
function shareFile({ role, name, path }: { role: string; name: string; path: string }, environment: Environment): Shared {
  const how = howMuch(role, name);
  if (how === "whole") return [[`${name}_FILE`, path]];
  return how === "nothing" ? [] : shareOf(name, secretText(environment, name) ?? "", how);
}

function share(role: string, name: string, value: string): Shared {
  if (machineVariables.test(name) || open.has(name)) return [[name, value]];
  if (Object.hasOwn(secrets, name)) return shareOf(name, value, howMuch(role, name));
  if (rolesIn(role).some((one) => providerCallers.includes(one))) return [[name, value]];
  return providerCheckers.includes(role) ? [[name.replace(/_FILE$/, ""), set]] : [];
}

/** A process that does the work of several roles gets what any of them gets. */
function rolesIn(role: string): readonly string[] {
  return role === "background" ? backgroundRoles : [role];
}

function howMuch(role: string, name: string): Share {
  const secret = secrets[name];
  if (secret === undefined) return "nothing";
  const shares = rolesIn(role).map((one) => secret.roles[one] ?? secret.others);
  return shares.find((how) => how === "whole") ?? shares.find((how) => how === "address") ?? "nothing";
}

function shareOf(name: string, value: string, how: Share): Shared {
  if (how === "nothing") return [];
  if (how === "whole") return [[name, value]];
  // Address parsers treat everything up to the last @ before the path as user and password.
  const addresses = addressesIn(value).map((address) => address.replace(/^(\w+:\/\/)[^/?#]*@/, "$1"));
  return [[name, addresses.join(",")]];
}
