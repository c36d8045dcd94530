/** What `npm run bench` prints without words and with --help, and below a mistake. */
import { capacityUsage } from "./capacity/command.ts";
import { loadUsage } from "./load/load-arguments.ts";
import { publishUsage } from "./report/publish.ts";

/** The parts in the order in which `all` runs them; what each needs on the disk; what it measures. */
const rows: readonly [part: string, disk: string, what: string][] = [
  ["hot-path", "5 GB *", "every contender: requests a second, latency, cost, memory"],
  ["peers", "5 GB *", "every gateway that is here, governed and not; how many of 200 requests at once pass a budget for 20"],
  ["agent", "5 GB *", "a coding agent's request of 128 KiB with 300 events, on three APIs"],
  ["bodies", "5 GB *", "the same with bodies up to 8 MiB, and with streams"],
  ["embeddings", "5 GB", "16 texts of 1 KiB, beside the bare proxy"],
  ["features", "5 GB", "the cost of each feature, from a bare relay to all of Weir"],
  ["fleet", "5 GB", "Weir in two sizes, to fit and to check the capacity model"],
  ["stream", "5 GB", "2,000 open streams"],
  ["soak", "5 GB", "a minute at 80 % of the ceiling"],
  ["catalog", "none", "the connector catalog's export and its 304, one in flight, without other servers"],
  ["lists", "3 GB", "lists over a million findings, without other servers than PostgreSQL"],
  ["log", "10 GB", "first pages of the log among 20 million generations, without other servers than PostgreSQL"],
  ["usage", "10 GB", "questions about usage over 10 million generations, without other servers than PostgreSQL"],
  ["shards", "none", "admissions in one Redis and in clusters of one and of three masters"],
  ["metering", "1 GB", "settlements of one and of two metering processes, from a full stream"],
  ["hosts", "1 GB", "gateways and workers on two hosts with 0, 1 and 20 ms between them, as root; printed, in no report"],
  ["memory", "1 GB", "what each process of a fleet on one machine holds, with its servers; printed, in no report"],
  ["console", "4 GB", "every page of the Console as each role, and requests while twenty people click and forty pages refresh"],
  ["micro", "none", "the cost of single functions; npm run bench -- micro [NAME] asks one question"],
];

export const partsShown: readonly string[] = rows.map(([part]) => part);

const table = [["part", "disk", "what"] as const, ...rows]
  .map(([part, disk, what]) => `  ${part.padEnd(11)} ${disk.padStart(6).padEnd(9)} ${what}`)
  .join("\n");

export const usage = `npm run bench -- PART… [--gateways N] [--workers N] [--rounds N] [--seconds S] [--seed N]
npm run bench -- all [the same]      every part, one after the other

${table}

Time       under 8 minutes for a part (peers with every gateway: 15), about 50 minutes for all. The first run of a part prepares its
           data: 3 minutes for most, up to half an hour for log and for usage.
Disk       approximate, in bench/.data, kept for the next run, and in part shared: rm -r bench/.data bench/.peers frees it.
Downloads  NATS, Redis and PostgreSQL from Debian's packages (110 MB unpacked) where they are not on PATH; with * also Portkey from npm.

  --gateways N       gateway processes of Weir (default 1); --workers N admission workers (default 1)
  --rounds N         how often all contenders are restarted and measured (default 3)
  --seconds S        the measured time of each load: hot-path, peers and agent 0.8 in each of three sweeps a round,
                     features, fleet, hosts and embeddings 3, bodies and catalog 5, console 8, memory 30, soak 60
  --seed N           the calls of lists, log and usage (default: a new seed, which is printed)

Example: npm run bench -- catalog --seconds 2

${capacityUsage}

${publishUsage}

${loadUsage}`;
