import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { describe, expect, it, onTestFinished } from "vitest";
import { createDecoder } from "../../../src/media/decoder/decoder.ts";
import { createFfmpeg } from "../../../src/media/ffmpeg.ts";
import { createLooks, type LookRequest } from "../../../src/media/look.ts";
import type { Received } from "../../../src/media/receive.ts";
import {
  aviOfPixels,
  aviOfStreams,
  flacOfComments,
  m4aOfEmptyBoxes,
  mp3OfApeTag,
  webpOfPixels,
} from "../../_setup/hostile-media.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { mp3, png } from "./samples.ts";

const log = pino({ level: "silent" });
const asked = (mediaType: string, account = "acc"): LookRequest => ({
  account,
  mediaType: mediaType as LookRequest["mediaType"],
  isGiven: false,
  signal: new AbortController().signal,
});

function openLooks(fileMs = 1_000) {
  const ffmpeg = createFfmpeg(null);
  const decoder = createDecoder(fileMs);
  const looks = createLooks({ ffmpeg, log, decoder });
  const folder = mkdtempSync(join(tmpdir(), "parley-hostile-"));
  onTestFinished(() => {
    decoder.stop();
    ffmpeg.stop();
    removeFolder(folder);
  });
  let files = 0;
  const see = (kind: Received["kind"], bytes: Buffer, mimetype = "", account?: string) => {
    const name = `${++files}`;
    writeFileSync(join(folder, name), bytes);
    const received: Received = {
      kind,
      mimetype,
      extension: "",
      clear: join(folder, name),
      sealed: null,
      disposition: null,
    };
    const workspace = {
      path: (part: string) => join(folder, `${name}-${part}`),
      dispose: async () => undefined,
    };
    return looks.see(asked(kind, account), received, workspace);
  };
  return { looks, see };
}

describe("a file that is made to exhaust its reader", () => {
  it("is not usable, whatever it exhausts, and the next one is read", async () => {
    const { see } = openLooks();
    const files = [
      ["a FLAC of a hundred thousand comments", "audio", flacOfComments(100_000)],
      ["an MP4 of empty boxes", "audio", m4aOfEmptyBoxes(16_000_000)],
      ["an APE tag", "audio", mp3OfApeTag(100_000)],
      ["a WebP of 36 bytes", "image", webpOfPixels(9_999)],
      ["an AVI of 256 megapixels", "video", aviOfPixels(16_000, 8_000)],
      ["an AVI of five thousand streams", "video", aviOfStreams(5_000)],
    ] as const;
    for (const [name, kind, bytes] of files) {
      const refused = await see(kind, bytes).catch((error: { code: string }) => error.code);
      expect({ name, refused }).toEqual({ name, refused: "FILE_NOT_USABLE" });
      expect(await see("image", png())).toMatchObject({ width: 4, height: 3 });
    }
    expect(await see("audio", mp3(), "audio/mpeg")).toEqual({ seconds: 3 });
  });
});

describe("a file that takes long to look into", () => {
  it("delays only those of its own account", async () => {
    const { looks, see } = openLooks(5_000);
    const ended: string[] = [];
    const slow = ["first", "second"].map((which) =>
      see("audio", m4aOfEmptyBoxes(16_000_000), "", "slow")
        .catch((error: { code: string }) => error.code)
        .then((outcome) => ended.push(`${which} ${String(outcome)}`)),
    );

    for (const account of ["one", "another"]) {
      const picture = png();
      await looks.identify(asked("image", account), picture, Buffer.alloc(0));
      expect(await see("image", picture, "", account)).toMatchObject({ width: 4, height: 3 });
      expect(await see("audio", mp3(), "audio/mpeg", account)).toEqual({ seconds: 3 });
    }
    expect(ended).toEqual([]);

    await Promise.all(slow);
    expect(ended).toEqual(["first FILE_NOT_USABLE", "second FILE_NOT_USABLE"]);
    expect(await see("image", png(), "", "slow")).toMatchObject({ width: 4, height: 3 });
  });
});
