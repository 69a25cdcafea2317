import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** The other systems of bots that come with Parley: a clinic's diary and a restaurant's kitchen, so that their flows can be seen. */
export interface StandIns {
  /** Settings of bots that ask these systems, by the setting's name. */
  settings: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const MENU = [
  { id: "soup", name: "Soup of the day", price: 6 },
  { id: "pasta", name: "Pasta with basil", price: 11 },
  { id: "cake", name: "Chocolate cake", price: 5 },
];
const DAY_MS = 86_400_000;
const LARGEST = 65_536;

/** Starts both on one free port of loopback. What is booked is kept for as long as they run. @param now Unix milliseconds */
export async function startStandIns(now: () => number = Date.now): Promise<StandIns> {
  /** Who has a time, by the booking's idempotency key: the same booking twice is one. */
  const visits = new Map<string, string>();
  const tables = new Map<string, string>();
  let orders = 0;

  /** @returns null where nothing is */
  function answer(
    method: string,
    { pathname }: URL,
    key: string,
    body: Record<string, unknown>,
  ): object | null {
    switch (`${method} ${pathname}`) {
      case "GET /diary":
        return free(visits, times(now(), ["09:00", "10:30", "15:00"])).map((at) => ({ id: at, at }));
      case "POST /diary":
        return { taken: !book(visits, key, String(body["slot"])) };
      case "GET /kitchen/menu":
        return MENU;
      case "GET /kitchen/tables":
        return free(tables, times(now(), ["18:00", "20:00"]));
      case "POST /kitchen/bookings":
        return { taken: !book(tables, key, String(body["at"])) };
      case "POST /kitchen/orders":
        return { payUrl: `https://pay.example/${++orders}` };
      default:
        return null;
    }
  }

  const server = createServer(async (request, response) => {
    const said = await read(request).catch(() => null);
    const url = new URL(request.url ?? "/", "http://stand-in");
    const key = String(request.headers["idempotency-key"] ?? "");
    const found = said === null ? null : answer(request.method ?? "GET", url, key, said);
    response.writeHead(found === null ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(found ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: { diaryUrl: `${own}/diary`, kitchenUrl: `${own}/kitchen` },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Times of the next two days, as local time without a zone. */
const times = (now: number, hours: readonly string[]): string[] =>
  [1, 2].flatMap((day) =>
    hours.map((hour) => `${new Date(now + day * DAY_MS).toISOString().slice(0, 10)}T${hour}`),
  );

const free = (booked: ReadonlyMap<string, string>, all: readonly string[]): string[] => {
  const gone = new Set(booked.values());
  return all.filter((at) => !gone.has(at));
};

/** @returns false when somebody else has the time */
function book(booked: Map<string, string>, key: string, at: string): boolean {
  if (booked.get(key) === at) return true;
  if ([...booked.values()].includes(at)) return false;
  booked.set(key, at);
  return true;
}

async function read(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST) throw new Error("too large");
    chunks.push(chunk);
  }
  return length === 0 ? {} : (JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>);
}
