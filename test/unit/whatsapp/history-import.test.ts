import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Incoming } from "../../../src/model/messages.ts";
import { OutboundError } from "../../../src/net/errors.ts";
import { NotOwner, StorageUnavailable } from "../../../src/store/errors.ts";
import { baileys } from "../../../src/whatsapp/baileys.ts";
import { createHistoryImport } from "../../../src/whatsapp/history/importer.ts";
import { resentMessages } from "../../../src/whatsapp/content/resent.ts";
import { manualClock, rest } from "../outbox/harness.ts";
import { configFor, silentLog, temporaryFolder } from "../store/temporary.ts";

const { proto } = baileys;
const OWN = { pn: "31600000001@s.whatsapp.net", lid: "900001@lid" };
const ANA = "15550001@s.whatsapp.net";

/** A protocol message of the phone's with so many messages; null: its file is elsewhere. */
function notice(count: number | null): Uint8Array {
  const messages = Array.from({ length: count ?? 0 }, (_, n) => ({
    message: { key: { id: `m${n}` }, message: { conversation: `${n}` }, messageTimestamp: 1_790_000_000 + n },
  }));
  const piece = proto.HistorySync.encode({ syncType: 3, conversations: [{ id: ANA, messages }] }).finish();
  const where =
    count === null
      ? { mediaKey: Buffer.alloc(32), directPath: "/v/t" }
      : { initialHistBootstrapInlinePayload: deflateSync(piece) };
  return proto.Message.encode({
    protocolMessage: { historySyncNotification: { syncType: 3, ...where } },
  }).finish();
}

/** An import of some pieces, whose outside fails as the test says. */
function start(pieces: (Uint8Array | null)[]) {
  const clock = manualClock(Date.UTC(2027, 0, 1));
  const waiting = pieces.map((plain, n) => ({ hash: `h${n}`, plain }));
  const stored: string[][] = [];
  const failures: Error[] = [];
  const fail = (): void => {
    const error = failures.shift();
    if (error !== undefined) throw error;
  };
  const imports = createHistoryImport({
    deviceId: 1,
    log: silentLog(configFor(temporaryFolder())),
    time: clock.time,
    source: {
      load: async () => {
        fail();
        throw new Error("nothing lies there");
      },
      oldest: () => 0,
      inTurn: (work) => work(),
    },
    journal: {
      async *histories() {
        for (const { hash, plain } of waiting.slice())
          yield {
            hash,
            open() {
              if (plain === null) throw new Error("the row is damaged");
              return plain;
            },
          };
      },
      async spend(hash) {
        waiting.splice(
          waiting.findIndex((one) => one.hash === hash),
          1,
        );
      },
    },
    receiving: {
      own: () => OWN,
      read: (messages) =>
        resentMessages(
          messages,
          OWN,
          async () => new Map(),
          async (read) => read,
        ),
    },
    hosts: async () => ["host"],
    linkedAt: () => Number.POSITIVE_INFINITY,
    storePairs: async () => undefined,
    async store(messages: Incoming[]) {
      fail();
      stored.push(messages.map(({ id }) => id));
    },
  });
  /** So many of the failures are still to come, and whoever met one has begun to wait. */
  const failed = async (left: number): Promise<void> => {
    await expect.poll(() => failures.length).toBe(left);
    await rest();
  };
  const waits = async (count: number): Promise<void> => {
    await expect.poll(() => waiting.length).toBe(count);
  };
  return { imports, waiting, stored, failures, clock, failed, waits };
}

describe("the import of history", () => {
  it("stores a little at a time, so that others have their turn, and each piece to its end", async () => {
    const { imports, stored, waits } = start([notice(60), notice(1)]);
    imports.wake();
    imports.wake();
    await waits(0);
    expect(stored.map((some) => some.length)).toEqual([25, 25, 10, 1]);
    // The oldest first: phones begin with the newest.
    expect(stored[0]!.slice(0, 2)).toEqual(["m59", "m58"]);
  });

  it("tries again later what failed and may succeed, from the beginning of its piece", async () => {
    const { imports, waiting, stored, failures, clock, failed, waits } = start([notice(30)]);
    failures.push(new StorageUnavailable("away"));
    imports.wake();
    await failed(0);
    expect([stored.length, waiting.length]).toEqual([0, 1]);
    await clock.advance(10_000);
    await waits(0);
    expect(stored.flat()).toHaveLength(30);
  });

  it("leaves to the next connection what fails again and again", async () => {
    const { imports, waiting, failures, clock, failed } = start([notice(1)]);
    failures.push(...Array.from({ length: 10 }, () => new StorageUnavailable("away")));
    imports.wake();
    for (const [left, ms] of [
      [9, 10_000],
      [8, 60_000],
      [7, 600_000],
      [6, 86_400_000],
    ] as const) {
      await failed(left);
      await clock.advance(ms);
    }
    await failed(6);
    expect(waiting).toHaveLength(1);
  });

  it("gives up what nothing can be made of, and goes on with the next", async () => {
    const gone = new OutboundError("unreachable", "gone", { status: 410 });
    const { imports, stored, failures, waits } = start([
      notice(null),
      proto.Message.encode({ conversation: "no history" }).finish(),
      notice(2),
    ]);
    failures.push(gone);
    imports.wake();
    await waits(0);
    expect(stored.flat()).toHaveLength(2);
  });

  it("ends at once when the connection does, or another process has the number", async () => {
    const closed = start([notice(100)]);
    closed.imports.wake();
    closed.imports.stop();
    await closed.failed(0);
    expect([closed.stored.length, closed.waiting.length]).toEqual([0, 1]);
    const taken = start([notice(100)]);
    taken.failures.push(new NotOwner(1));
    taken.imports.wake();
    await taken.failed(0);
    await taken.clock.advance(86_400_000);
    await taken.failed(0);
    expect([taken.stored.length, taken.waiting.length]).toEqual([0, 1]);
  });

  it("gives up a row that is damaged", async () => {
    const { imports, stored, waits } = start([null, notice(1)]);
    imports.wake();
    await waits(0);
    expect(stored.flat()).toHaveLength(1);
  });
});
