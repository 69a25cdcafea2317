import { randomUUID } from "node:crypto";
import { createClient, type Client } from "@libsql/client";
import { afterAll, onTestFinished } from "vitest";
import { createLeaseTable } from "../../../src/cluster/lease-table.ts";
import { createMember, type Member } from "../../../src/cluster/member.ts";
import { createLogger } from "../../../src/log.ts";
import { createTime, systemTime, type Time } from "../../../src/model/time.ts";
import { BatchFailed } from "../../../src/store/engine.ts";
import { createLeaseFence } from "../../../src/store/write/lease-fence.ts";
import { applyMigrations } from "../../../src/store/migrations.ts";
import { connectToServer } from "../../../src/store/server/client.ts";
import { createServerEngine } from "../../../src/store/server/engine.ts";
import type { Writer } from "../../../src/store/store.ts";
import { createWriter } from "../../../src/store/write/writer.ts";
import { findSqld, startSqld, type LibsqlServer } from "../../_setup/sqld.ts";
import { configFor } from "../store/temporary-config.ts";
import { createTestBus, type TestBus } from "./shared-server.ts";

/** A node as far as it holds leases and writes under them. */
export interface TestMember {
  name: string;
  member: Member;
  writer: Writer;
  /** Partitions that its workers have. */
  working: Set<number>;
  /** What happened to its workers. */
  seen: { what: "gained" | "lost"; partitions: readonly number[] }[];
  /** What it has logged. */
  lines: string[];
  nameTaken: boolean;
  /** As SIGSTOP: nothing of it goes on, and time does. */
  freeze(): void;
  thaw(): void;
  /** It asks the database, and gets no answer. */
  cut(isCut: boolean): void;
  /** Answers of the database come that much later. */
  slow(ms: number): void;
  /** It is never heard of again. */
  kill(): void;
  stop(): Promise<void>;
}

export interface MemberOptions {
  leaseMs?: number;
  /** How far its host's clock is off. */
  skewMs?: number;
  deviceIds?: () => number[];
  /** What it does when partitions are lost. */
  ending?: () => Promise<void>;
}

/** A database server that the tests of a file share; each begins with empty tables. */
export interface Cluster {
  server: LibsqlServer;
  client: Client;
  bus: TestBus;
  /** Not started. */
  member(name: string, options?: MemberOptions): TestMember;
  /** Entered and started. */
  node(name: string, options?: MemberOptions): Promise<TestMember>;
}

export const LEASE_MS = 1_500;

const sqld = findSqld();

/** Call it at the top of a file; the function in each test. */
export function clustersOnOneServer(): () => Promise<Cluster> {
  const opened =
    sqld === null
      ? null
      : startSqld(sqld, { until: afterAll }).then(async (server) => {
          const client = createClient({ url: server.url, intMode: "number" });
          await applyMigrations(client);
          await client.execute(
            "CREATE TABLE written (id INTEGER PRIMARY KEY, p INTEGER, epoch INTEGER, node TEXT)",
          );
          return { server, client };
        });
  return async () => {
    const { server, client } = await opened!;
    await client.batch(["DELETE FROM leases", "DELETE FROM nodes", "DELETE FROM written"], "write");
    const bus = createTestBus();
    const member = (name: string, options: MemberOptions = {}): TestMember =>
      openMember(name, server.url, bus, options);
    return {
      server,
      client,
      bus,
      member,
      async node(name, options) {
        const opened = member(name, options);
        await opened.member.enter(bus.join(name).bus);
        await opened.member.start();
        return opened;
      },
    };
  };
}

/** A clock and timers that can stand still while the time goes on. */
function stoppableTime(skewMs: number): { time: Time; freeze(): void; thaw(): void; gate(): Promise<void> } {
  let thawed: Promise<void> | null = null;
  let thaw: () => void = () => undefined;
  const time = createTime({
    now: () => Date.now() + skewMs,
    monotonic: systemTime.monotonic,
    after(ms, run) {
      let off = false;
      const cancel = systemTime.after(ms, () => {
        if (thawed === null) return run();
        void thawed.then(() => !off && run());
      });
      return () => {
        off = true;
        cancel();
      };
    },
  });
  return {
    time,
    freeze() {
      thawed ??= new Promise((resolve) => {
        thaw = resolve;
      });
    },
    thaw() {
      thaw();
      thawed = null;
    },
    gate: () => thawed ?? Promise.resolve(),
  };
}

function openMember(name: string, url: string, bus: TestBus, options: MemberOptions): TestMember {
  const { leaseMs = LEASE_MS, skewMs = 0, deviceIds = () => [], ending = async () => undefined } = options;
  const { time, freeze, thaw, gate } = stoppableTime(skewMs);
  const lines: string[] = [];
  const log = createLogger(
    { ...configFor("/nowhere"), logLevel: "info" },
    { write: (line) => lines.push(line) },
  );
  const address = { url, authToken: null, time: systemTime, requestMs: 5_000 };
  const connection = connectToServer(address);
  let isCut = false;
  let slowMs = 0;
  const server: Pick<typeof connection, "ask"> = {
    async ask(work) {
      await gate();
      if (isCut) throw new BatchFailed("unavailable", null, new Error("cut off"));
      const result = await connection.ask(work);
      if (slowMs > 0) await time.pause(slowMs);
      await gate();
      if (isCut) throw new BatchFailed("uncertain", null, new Error("cut off"));
      return result;
    },
  };
  const member = createMember({
    node: name,
    url: null,
    version: "0.0.0",
    leaseMs,
    table: createLeaseTable({ server, node: name, incarnation: randomUUID(), leaseMs }),
    time,
    log,
    onNameTaken: () => void (self.nameTaken = true),
  });
  member.portrayed({ deviceIds, lagMs: () => 0 });
  const fence = createLeaseFence();
  fence.serve(member.holder);
  const engine = createServerEngine({ ...address, settlePausesMs: [10, 50] });
  const working = new Set<number>();
  const seen: TestMember["seen"] = [];
  member.ownership.follow({
    async gained(partitions) {
      seen.push({ what: "gained", partitions });
      for (const partition of partitions) working.add(partition);
    },
    async lost(partitions) {
      seen.push({ what: "lost", partitions });
      for (const partition of partitions) working.delete(partition);
      await ending();
    },
  });
  const self: TestMember = {
    name,
    member,
    writer: createWriter({ engine, time: systemTime, fence }),
    working,
    seen,
    lines,
    nameTaken: false,
    freeze,
    thaw,
    cut: (cutNow) => void (isCut = cutNow),
    slow: (ms) => void (slowMs = ms),
    kill() {
      bus.leave(name);
      freeze();
    },
    async stop() {
      thaw();
      await member.stop();
    },
  };
  onTestFinished(async () => {
    isCut = true;
    thaw();
    await member.stop();
    await engine.close();
    connection.close();
  });
  return self;
}
