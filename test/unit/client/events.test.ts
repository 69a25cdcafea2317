import { describe, expect, it } from "vitest";
import { createClient, ParleyError, type EventsOptions } from "../../../src/client/index.ts";

type Line = ReadableStream<Uint8Array> | number | Error;

/** A client whose lines to `/events` are these, one after the other; the last is asked for no more. */
function script(given: Line[]) {
  const asked: Record<string, string>[] = [];
  const turns: string[] = [];
  const client = createClient({
    baseUrl: "http://gateway",
    apiKey: "parley_key",
    async fetch(url, { headers, signal }) {
      expect(url).toBe("http://gateway/events");
      asked.push({ ...(headers as Record<string, string>) });
      const line = given[asked.length - 1]!;
      if (line instanceof Error) throw line;
      if (typeof line !== "number")
        return new Response(line.pipeThrough(new TransformStream(), { signal: signal! }));
      const errors = { code: line === 401 ? "INVALID_API_KEY" : "UNAVAILABLE" };
      return Response.json({ status: false, msg: "No.", message: "No.", errors }, { status: line });
    },
  });
  const onTurn: EventsOptions["onTurn"] = (turn, error) =>
    turns.push(error === null ? turn : `${turn}: ${error.code}`);
  return { client, asked, turns, onTurn };
}

/** What a gateway writes, in pieces of this many bytes. */
function written(text: string, size = 7): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  return new ReadableStream({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
}
const told = (id: number, chat: string): string =>
  `id: ${id}\nevent: read\ndata: ${JSON.stringify({ id: "A", device: "1", chat, at: "2026-11-22T10:00:00.000Z" })}\n\n`;

describe("events", () => {
  it("come as the gateway tells them, however they were cut into pieces", async () => {
    const { client } = script([written(`: connected\n\n${told(1, "ü😀")}:\n\n${told(2, "b")}`, 3), 401]);
    const seen: unknown[] = [];

    const listening = (async () => {
      for await (const event of client.events()) {
        if (event.event === "read") seen.push([event.id, event.data.chat]);
      }
    })();

    await expect(listening).rejects.toBeInstanceOf(ParleyError);
    expect(seen).toEqual([
      ["1", "ü😀"],
      ["2", "b"],
    ]);
  });

  it("go on behind the last whole one when the line is lost, and say so", async () => {
    const { client, asked, turns, onTurn } = script([
      written(`: connected\n\n${told(41, "a")}${told(42, "b").slice(0, -1)}`),
      new TypeError("fetch failed"),
      503,
      written(told(42, "b")),
    ]);
    const ids: string[] = [];

    for await (const { id } of client.events({ after: "40", onTurn })) {
      ids.push(id);
      if (id === "42") break;
    }

    expect(ids).toEqual(["41", "42"]);
    expect(asked.map((headers) => headers["last-event-id"])).toEqual(["40", "41", "41", "41"]);
    expect(turns).toEqual(["open", "waiting", "waiting: NETWORK_ERROR", "waiting: UNAVAILABLE", "open"]);
  });

  it("end with their signal, without an error", async () => {
    const ending = new AbortController();
    const silent = new ReadableStream<Uint8Array>();
    const { client } = script([silent]);
    const onTurn = (): void => ending.abort();
    const seen: unknown[] = [];

    for await (const event of client.events({ signal: ending.signal, onTurn })) seen.push(event);

    expect(seen).toEqual([]);
  });

  it("are asked for anew when the line says nothing for too long", async () => {
    const { client, asked } = script([new ReadableStream<Uint8Array>(), written(told(7, "a"))]);

    for await (const { id } of client.events({ silentMs: 20 })) {
      expect(id).toBe("7");
      break;
    }

    expect(asked).toHaveLength(2);
  });
});
