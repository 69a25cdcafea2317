import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { sharedDecoder } from "../../../src/media/decoder/decoder.ts";
import { measureOpus } from "../../../src/media/decoder/ogg.ts";
import { readOpusHead } from "../../../src/media/decoder/opus-head.ts";
import { readImage } from "../../../src/media/decoder/picture.ts";
import { Unreadable } from "../../../src/media/decoder/process.ts";
import { readSound } from "../../../src/media/decoder/sound.ts";
import { createFfmpeg, type Ffmpeg } from "../../../src/media/ffmpeg.ts";
import { readVideo } from "../../../src/media/video.ts";
import { makeVoiceNote } from "../../../src/media/voice.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { opusOfComments } from "../../_setup/hostile-media.ts";
import { byFfmpeg, mp3, mp4, opus, pdf, png, wav } from "./samples.ts";

function inFolder(name: string, content: Buffer | string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-decoders-"));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function realFfmpeg(configured: string | null = null): Ffmpeg {
  const ffmpeg = createFfmpeg(configured);
  onTestFinished(() => ffmpeg.stop());
  return ffmpeg;
}

const { signal } = new AbortController();

const streamOf = (path: string): Record<string, unknown> =>
  JSON.parse(execFileSync("ffprobe", ["-v", "error", "-show_streams", "-of", "json", path]).toString("utf8"))
    .streams[0];

/** Milliseconds in which each Opus packet of a file sounds. */
function packetMs(path: string): number[] {
  const args = ["-v", "error", "-show_entries", "packet=duration_time", "-of", "csv=p=0", path];
  const lines = execFileSync("ffprobe", args).toString("utf8").split(/\s+/);
  return lines.filter(Boolean).map((line) => Math.round(Number.parseFloat(line) * 1000));
}

describe("a voice note", () => {
  it.each([
    ["MP3", mp3],
    ["WAV", () => wav(3)],
    ["stereo Ogg/Opus", () => opus(2)],
    ["what browsers record", () => byFfmpeg("webm", "-f lavfi -i sine=440:duration=3 -c:a libopus -ac 2")],
  ])("is made of %s as phones record it", async (_, sample) => {
    const input = inFolder("in", sample());
    const output = `${input}.out`;
    const made = await makeVoiceNote(realFfmpeg(), input, output, signal);
    expect(made.seconds).toBe(3);
    expect(made.waveform).toHaveLength(64);
    expect(streamOf(output)).toMatchObject({ codec_name: "opus", channels: 1 });
    const head = readFileSync(output);
    expect(readOpusHead(head)).toMatchObject({ channels: 1 });
    // Bytes 12 to 15 of the Opus head: the rate of what was encoded.
    expect(head.readUInt32LE(head.indexOf("OpusHead") + 12)).toBe(16_000);
    expect(
      packetMs(output)
        .slice(0, -1)
        .every((ms) => ms === 60),
    ).toBe(true);
  });

  it("shows in its waveform where it is loud", async () => {
    const input = inFolder("in", wav(4));
    const { waveform } = await makeVoiceNote(realFfmpeg(), input, `${input}.out`, signal);
    expect(Math.max(...waveform)).toBe(100);
    expect(Math.max(...waveform.subarray(0, 30))).toBeLessThan(20);
    expect(Math.min(...waveform.subarray(34))).toBeGreaterThan(80);
  });

  it("is not made of what is no sound, and not of play lists", async () => {
    const secret = inFolder("secret.wav", wav(1));
    const list = inFolder("list", `ffconcat version 1.0\nfile '${secret}'\n`);
    const hls = inFolder("hls", `#EXTM3U\n#EXTINF:1,\nfile://${secret}\n#EXT-X-ENDLIST\n`);
    for (const input of [list, hls, inFolder("pdf", pdf())])
      await expect(makeVoiceNote(realFfmpeg(), input, `${input}.out`, signal)).rejects.toThrow(Unreadable);
  });
});

describe("Ogg/Opus that needs no converter", () => {
  it("is measured without any program", async () => {
    const path = inFolder("in", opus());
    const { seconds, waveform } = await measureOpus(path);
    expect(seconds).toBe(3);
    expect(waveform).toHaveLength(64);
    expect(Math.max(...waveform)).toBe(100);
    expect(Math.min(...waveform.subarray(2, 60))).toBeGreaterThan(50);
  });

  it("is read behind comments of any length, a picture say, that fill many pages", async () => {
    for (const bytes of [60_000, 70_000, 300_000])
      expect(await measureOpus(inFolder("in", opusOfComments(bytes)))).toMatchObject({ seconds: 3 });
  });

  it("is not decoded whole when it is long", async () => {
    const long = inFolder(
      "in",
      byFfmpeg(
        "ogg",
        "-f lavfi -i sine=440:duration=700 -c:a libopus -compression_level 0 -b:a 16k -ac 1 -ar 16000",
      ),
    );
    const before = process.cpuUsage();
    const { seconds, waveform } = await measureOpus(long);
    expect(seconds).toBe(700);
    expect(Math.min(...waveform)).toBeGreaterThan(50);
    // Microseconds; a generous bound on what a job may take.
    expect(process.cpuUsage(before).user).toBeLessThan(4_000_000);
  });

  it("is refused when it is broken", async () => {
    const whole = opus();
    await expect(measureOpus(inFolder("in", whole.subarray(0, whole.length - 100)))).rejects.toThrow(
      /cut off/,
    );
    await expect(measureOpus(inFolder("in", whole.subarray(0, 47)))).rejects.toThrow(/no sound/);
    await expect(measureOpus(inFolder("in", Buffer.concat([whole, pdf()])))).rejects.toThrow(/pages/);
  });
});

describe("pictures", () => {
  it("tells the size as shown and makes a small JPEG", async () => {
    const turned = await sharp(png(400, 200)).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const picture = await readImage(inFolder("in", turned));
    expect(picture).toMatchObject({ width: 200, height: 400 });
    const small = await sharp(Buffer.from(picture.thumbnail!, "base64")).metadata();
    expect(small).toMatchObject({ format: "jpeg", width: 36, height: 72 });
    expect(picture.thumbnail!.length).toBeLessThan(8_000);
  });

  it("are refused when they are broken, or unpack to more than memory should hold", async () => {
    const whole = png(400, 200);
    await expect(readImage(inFolder("in", whole.subarray(0, 2_000)))).rejects.toThrow(/png/i);
    const bomb = await sharp({
      create: { width: 12_000, height: 9_000, channels: 3, background: "#000" },
    })
      .png()
      .toBuffer();
    await expect(readImage(inFolder("in", bomb))).rejects.toThrow(/pixel/i);
  });

  it("of a video come with its duration, or not at all without ffmpeg", async () => {
    const path = inFolder("in", mp4());
    const frame = `${path}.frame`;
    const decoder = sharedDecoder();
    const seen = await readVideo({ ffmpeg: realFfmpeg(), decoder }, path, frame, signal);
    expect(seen).toMatchObject({ width: 320, height: 180, seconds: 2 });
    expect((await sharp(Buffer.from(seen.thumbnail!, "base64")).metadata()).format).toBe("jpeg");
    const without = { ffmpeg: realFfmpeg("/nowhere/ffmpeg"), decoder };
    expect(await readVideo(without, path, frame, signal)).toEqual({});
    expect(existsSync(frame)).toBe(false);
  });

  it("of a video that lies on its side, and of one in 4K, tell the size as shown", async () => {
    const small = inFolder("in.mp4", mp4());
    const turned = `${small}.turned.mp4`;
    execFileSync("ffmpeg", [
      "-loglevel",
      "error",
      "-i",
      small,
      "-c",
      "copy",
      "-metadata:s:v",
      "rotate=90",
      turned,
    ]);
    const large = inFolder(
      "in",
      byFfmpeg("mp4", "-f lavfi -i testsrc=duration=0.2:size=3840x2160:rate=10 -pix_fmt yuv420p"),
    );
    const parts = { ffmpeg: realFfmpeg(), decoder: sharedDecoder() };
    const frame = `${small}.frame`;
    expect(await readVideo(parts, turned, frame, signal)).toMatchObject({ width: 180, height: 320 });
    const seen = await readVideo(parts, large, frame, signal);
    expect(seen).toMatchObject({ width: 3840, height: 2160, thumbnail: expect.any(String) });
  });
});

describe("sound", () => {
  it("tells its duration, and whether it is a video after all", async () => {
    expect(await readSound(inFolder("in", mp3()), "audio/mpeg")).toEqual({ seconds: 3, hasVideo: false });
    expect(await readSound(inFolder("in", wav(2)), "audio/wav")).toEqual({ seconds: 2, hasVideo: false });
    expect((await readSound(inFolder("in", mp4()), "audio/mp4")).hasVideo).toBe(true);
    const recorded = byFfmpeg("webm", "-f lavfi -i sine=440:duration=3 -c:a libopus");
    expect(await readSound(inFolder("in", recorded), "audio/webm")).toEqual({ seconds: 3, hasVideo: false });
    expect(await readSound(inFolder("in", pdf()), "audio/mpeg")).toEqual({ seconds: null, hasVideo: false });
  });

  it("tells it without reading the whole file where no header says it", async () => {
    const noise = "-f lavfi -i anoisesrc=duration=120";
    for (const file of [
      byFfmpeg("mp3", `${noise} -q:a 5 -write_xing 0 -id3v2_version 0`),
      byFfmpeg("aac", `${noise} -b:a 64k`),
      byFfmpeg("ogg", `${noise} -c:a libopus -compression_level 0 -ac 2`),
    ]) {
      const path = inFolder("in", file);
      const before = process.cpuUsage();
      const { seconds } = await readSound(path, "audio/mpeg");
      // Microseconds; to go through all frames costs several seconds.
      expect(process.cpuUsage(before).user).toBeLessThan(1_000_000);
      expect(seconds).toBeGreaterThan(80);
      expect(seconds).toBeLessThan(180);
    }
  });
});

describe("ffmpeg", () => {
  it("is found by its setting or in the PATH, and missed when it is nowhere", () => {
    expect(realFfmpeg().find()).toMatch(/ffmpeg$/);
    expect(realFfmpeg("/nowhere/ffmpeg").find()).toBeNull();
    const path = process.env["PATH"];
    onTestFinished(() => void (process.env["PATH"] = path));
    process.env["PATH"] = mkdtempSync(join(tmpdir(), "parley-empty-"));
    mkdirSync(join(process.env["PATH"], "ffmpeg"));
    expect(realFfmpeg().find()).toBeNull();
  });
});
