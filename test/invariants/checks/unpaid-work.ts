import { Notes, type Finding } from "../evidence.ts";
import { eventsOf, type EventOf, type History } from "../history.ts";

const hourMs = 3_600_000;
/** How long after an hour a gateway may still remember what it left unpaid. */
const lateMs = 60_000;

/**
 * A part of I-17: what a gateway leaves a workspace unpaid of requests that were sent and timed out stays within its allowance in every
 * hour, and what is beyond is charged as if the client had left. A client that waited is charged beyond what was delivered only then.
 */
export function unpaidIsBounded(history: History): Finding {
  const notes = new Notes();
  const last = new Map(eventsOf(history, "charged").map((charged) => [charged.generation, charged]));
  const waited = new Set(
    eventsOf(history, "answered").flatMap(({ generation, code, hasLeft }) =>
      code === "upstream_timeout" && generation && !hasLeft ? [generation] : [],
    ),
  );
  const books = new Map<string, Book>();
  for (const event of eventsOf(history, "timed out")) {
    const { generation, workspace, gateway, delivered, due, allowance } = event;
    const book = books.get(`${gateway} ${workspace}`) ?? { left: [], isKnown: true };
    books.set(`${gateway} ${workspace}`, book);
    const charged = last.get(generation);
    if (charged?.outcome !== "settled" || charged.cut) {
      // What its gateway decided is lost with it.
      book.isKnown = false;
      continue;
    }
    const paid = charged.cost + charged.excess;
    // Nobody pays more than was reserved, so what is beyond cannot be left unpaid.
    const payable = due < charged.reserved ? due : charged.reserved;
    const unpaid = charged.cost < payable ? payable - charged.cost : 0n;
    const sum = sumSince(book, event.at - hourMs) + unpaid;
    notes.check(paid >= delivered, () => `${generation}: ${delivered} was delivered before it timed out, and ${paid} is charged`);
    notes.check(
      unpaid === 0n || sum <= allowance,
      () => `${generation}: ${gateway} leaves ${workspace} ${sum} unpaid in an hour`,
    );
    if (paid === due && due > delivered && book.isKnown && waited.has(generation)) {
      const would = sumSince(book, event.at - hourMs - lateMs) + due - delivered;
      notes.check(would > allowance, () => `${generation}: charged ${paid}, although only ${would} would be unpaid`);
    }
    if (unpaid > 0n) book.left.push({ at: event.at, unpaid });
  }
  return notes;
}

/** What one process left one workspace. */
interface Book {
  left: (Pick<EventOf<"timed out">, "at"> & { unpaid: bigint })[];
  /** All of it is known. */
  isKnown: boolean;
}

function sumSince({ left }: Book, since: number): bigint {
  return left.reduce((sum, { at, unpaid }) => (at > since ? sum + unpaid : sum), 0n);
}
