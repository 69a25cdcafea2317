import { createHash, randomBytes } from "node:crypto";
import type { H3Event } from "h3";
import { describe, expect, it } from "vitest";
import { filePartIn, readMultipart, type FileTimes } from "../../../src/api/reading/file-part.ts";

const TYPE = "multipart/form-data; boundary=xYz";
const LISTS = new Set(["mentions"]);
const QUICK: FileTimes = { leastRate: { bytes: 1_000, withinMs: 50 }, wholeMs: 60_000 };

const part = (name: string, value: Buffer | string, fileName?: string): Buffer =>
  Buffer.concat([
    Buffer.from(
      `--xYz\r\nContent-Disposition: form-data; name="${name}"${fileName === undefined ? "" : `; filename="${fileName}"`}\r\n\r\n`,
    ),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ]);
const END = Buffer.from("--xYz--\r\n");

/** A request whose body comes in these pieces; `goesOn`: and never ends. */
function requestOf(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  { type = TYPE, goesOn = false } = {},
): H3Event {
  async function* body(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) yield new Uint8Array(piece);
    if (goesOn) await new Promise(() => undefined);
  }
  const headers = new Headers({ "content-type": type });
  return { req: { headers, body: body() } } as unknown as H3Event;
}

/** Of a large file: a difference is not to be a hundred thousand lines. */
const inShort = (bytes: Buffer): string =>
  `${bytes.length} ${createHash("sha256").update(bytes).digest("hex")}`;

/** Everything that was read: fields, and the file's bytes. */
async function read(event: H3Event, times?: FileTimes) {
  const { file: _, ...fields } = await readMultipart(event, LISTS, times).then((all) => ({
    file: null,
    ...all,
  }));
  const file = filePartIn({ file: _ });
  if (file === null) return { fields, file: null, name: null };
  const pieces: Buffer[] = [];
  for await (const piece of file.bytes()) pieces.push(piece);
  return { fields, file: inShort(Buffer.concat(pieces)), name: file.fileName };
}

const refusalOf = async (event: H3Event, times?: FileTimes): Promise<[string, unknown]> => {
  try {
    await read(event, times);
  } catch (error) {
    const { code, details } = error as { code: string; details?: { fields?: unknown } };
    return [code, details?.fields];
  }
  return ["READ", undefined];
};

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe("a form with a file", () => {
  const content = Buffer.concat([
    randomBytes(5_000),
    Buffer.from("\r\n--xY\r\n-xYz--\r\n--xyz--\r\n"),
    randomBytes(70_000),
  ]);
  const whole = Buffer.concat([
    part("sender", "31600000001"),
    part("mentions[]", "1"),
    part("mentions[]", "2"),
    part("caption", "Grüße, 100 % + mehr"),
    part("file", content, "Preis liste.csv"),
    END,
  ]);
  const expected = {
    fields: { sender: "31600000001", mentions: ["1", "2"], caption: "Grüße, 100 % + mehr" },
    file: inShort(content),
    name: "Preis liste.csv",
  };

  it.each([1_000_000, 65_536, 1_000, 7])("is the same in pieces of %i bytes", async (size) => {
    expect(await read(requestOf(cut(whole, size)))).toEqual(expected);
  });

  it("is the same wherever its head is cut", async () => {
    const small = Buffer.concat([part("a", "b"), part("file", "x", "y"), END]);
    for (let at = 1; at < small.length; at++)
      expect(await read(requestOf([small.subarray(0, at), small.subarray(at)]))).toEqual({
        fields: { a: "b" },
        file: inShort(Buffer.from("x")),
        name: "y",
      });
  });

  it("may have no file, an empty one, or one without a name", async () => {
    expect(await read(requestOf([part("a", "b"), END]))).toEqual({
      fields: { a: "b" },
      file: null,
      name: null,
    });
    expect(await read(requestOf([part("file", "", ""), END]))).toMatchObject({
      file: inShort(Buffer.alloc(0)),
      name: "",
    });
    expect(await read(requestOf([part("file", "x"), END]))).toMatchObject({
      file: inShort(Buffer.from("x")),
      name: "",
    });
    expect(await read(requestOf([END]))).toEqual({ fields: {}, file: null, name: null });
  });

  it("gives its fields while the file is still to come, and takes it as fast as it is read", async () => {
    let came = 0;
    async function* endless(): AsyncGenerator<Buffer> {
      yield Buffer.concat([part("a", "b"), part("file", "", "x").subarray(0, -2)]);
      for (;;) {
        came += 65_536;
        yield Buffer.alloc(65_536);
      }
    }
    const fields = await readMultipart(requestOf(endless()), LISTS);
    const file = filePartIn(fields)!;
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(came).toBeLessThan(500_000);
    let read = 0;
    for await (const piece of file.bytes()) if ((read += piece.length) > 5_000_000) break;
    expect(came).toBeLessThan(6_000_000);
    file.leave();
  });
});

describe("a form that is refused", () => {
  it.each<[string, string, Buffer[], string, string | null]>([
    ["names no boundary", "multipart/form-data", [part("a", "b"), END], "INVALID_JSON", null],
    [
      "has another boundary",
      "multipart/form-data; boundary=other",
      [part("a", "b"), END],
      "INVALID_JSON",
      null,
    ],
    ["has no end", TYPE, [part("a", "b")], "INVALID_JSON", null],
    ["has no end of its file", TYPE, [part("file", "b", "c").subarray(0, -2)], "INVALID_JSON", null],
    ["is empty", TYPE, [], "INVALID_JSON", null],
    ["is not UTF-8", TYPE, [part("a", Buffer.from([0xff])), END], "INVALID_JSON", null],
    [
      "has a field behind its file",
      TYPE,
      [part("file", "x", "y"), part("a", "b"), END],
      "INVALID_PARAMETERS",
      "a",
    ],
    [
      "has two files",
      TYPE,
      [part("file", "x", "y"), part("file", "x", "y"), END],
      "INVALID_PARAMETERS",
      "file",
    ],
    ["has its file elsewhere", TYPE, [part("document", "x", "y"), END], "INVALID_PARAMETERS", "document"],
    [
      "has thousands of parts",
      TYPE,
      [...Array<Buffer>(5_000).fill(part("a", "b")), END],
      "INVALID_PARAMETERS",
      "body",
    ],
    [
      "has a field that never ends",
      TYPE,
      [part("a", ""), ...Array<Buffer>(100).fill(Buffer.alloc(65_536, 97))],
      "BODY_TOO_LARGE",
      null,
    ],
    [
      "has many fields that are too much together",
      TYPE,
      Array<Buffer>(30).fill(part("a", Buffer.alloc(65_536, 97))),
      "BODY_TOO_LARGE",
      null,
    ],
    ["never begins", TYPE, Array<Buffer>(100).fill(Buffer.alloc(65_536, 97)), "BODY_TOO_LARGE", null],
    [
      "has a file in another encoding",
      TYPE,
      [
        Buffer.from(
          '--xYz\r\nContent-Disposition: form-data; name="file"\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n',
        ),
        END,
      ],
      "INVALID_JSON",
      null,
    ],
  ])("because it %s", async (_, type, pieces, code, field) => {
    const [told, fields] = await refusalOf(requestOf(pieces, { type }));
    expect(told).toBe(code);
    if (field !== null) expect(fields).toHaveProperty(field);
  });

  it("because nothing of its file comes any more, or too little", async () => {
    const begun = Buffer.concat([part("a", "b"), part("file", "x".repeat(100), "y").subarray(0, -2)]);
    expect(await refusalOf(requestOf([begun], { goesOn: true }), QUICK)).toEqual([
      "REQUEST_TIMEOUT",
      undefined,
    ]);
    async function* drips(): AsyncGenerator<Buffer> {
      yield begun;
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield Buffer.from("x");
      }
    }
    expect(await refusalOf(requestOf(drips()), QUICK)).toEqual(["REQUEST_TIMEOUT", undefined]);
    const brief = { ...QUICK, leastRate: { bytes: 0, withinMs: 10 }, wholeMs: 60 };
    expect(await refusalOf(requestOf(drips()), brief)).toEqual(["REQUEST_TIMEOUT", undefined]);
  });

  it("because its caller has gone", async () => {
    async function* gone(): AsyncGenerator<Buffer> {
      yield part("file", "x".repeat(100), "y").subarray(0, -2);
      throw new Error("gone");
    }
    expect(await refusalOf(requestOf(gone()))).toEqual(["INVALID_JSON", undefined]);
  });
});
