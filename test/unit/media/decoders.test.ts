import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFfmpeg, FfmpegFailed, type Ffmpeg } from "../../../src/media/ffmpeg.ts";
import { BrokenOgg, measureOpus, readOpusHead } from "../../../src/media/ogg.ts";
import { readImage, readVideo } from "../../../src/media/pictures.ts";
import { readSound } from "../../../src/media/sound.ts";
import { makeVoiceNote } from "../../../src/media/voice.ts";
import { byFfmpeg, mp3, mp4, opus, pdf, png, wav } from "./samples.ts";

function inFolder(name: string, content: Buffer | string): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-decoders-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function realFfmpeg(configured: string | null = null): Ffmpeg {
  const ffmpeg = createFfmpeg(configured);
  onTestFinished(() => ffmpeg.stop());
  return ffmpeg;
}

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
    const made = await makeVoiceNote(realFfmpeg(), input, output);
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
    const { waveform } = await makeVoiceNote(realFfmpeg(), input, `${input}.out`);
    expect(Math.max(...waveform)).toBe(100);
    expect(Math.max(...waveform.subarray(0, 30))).toBeLessThan(20);
    expect(Math.min(...waveform.subarray(34))).toBeGreaterThan(80);
  });

  it("is not made of what is no sound, and not of play lists", async () => {
    const secret = inFolder("secret.wav", wav(1));
    const list = inFolder("list", `ffconcat version 1.0\nfile '${secret}'\n`);
    const hls = inFolder("hls", `#EXTM3U\n#EXTINF:1,\nfile://${secret}\n#EXT-X-ENDLIST\n`);
    for (const input of [list, hls, inFolder("pdf", pdf())])
      await expect(makeVoiceNote(realFfmpeg(), input, `${input}.out`)).rejects.toThrow(FfmpegFailed);
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

  it("leaves the event loop free, and long ones are not decoded whole", async () => {
    const long = inFolder(
      "in",
      byFfmpeg(
        "ogg",
        "-f lavfi -i sine=440:duration=700 -c:a libopus -compression_level 0 -b:a 16k -ac 1 -ar 16000",
      ),
    );
    let turns = 0;
    let counting = true;
    const count = (): void => {
      turns++;
      if (counting) setImmediate(count);
    };
    count();
    const { seconds, waveform } = await measureOpus(long);
    counting = false;
    expect(seconds).toBe(700);
    expect(Math.min(...waveform)).toBeGreaterThan(50);
    // Pages hold a second of sound, and every other one of so many is decoded, each in a turn of its own.
    expect(turns).toBeGreaterThan(300);
  });

  it("is refused when it is broken", async () => {
    const whole = opus();
    await expect(measureOpus(inFolder("in", whole.subarray(0, whole.length - 100)))).rejects.toThrow(
      BrokenOgg,
    );
    await expect(measureOpus(inFolder("in", whole.subarray(0, 47)))).rejects.toThrow(BrokenOgg);
    await expect(measureOpus(inFolder("in", Buffer.concat([whole, pdf()])))).rejects.toThrow(BrokenOgg);
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
    const seen = await readVideo(realFfmpeg(), path);
    expect(seen).toMatchObject({ width: 320, height: 180, seconds: 2 });
    expect((await sharp(Buffer.from(seen.thumbnail!, "base64")).metadata()).format).toBe("jpeg");
    expect(await readVideo(realFfmpeg("/nowhere/ffmpeg"), path)).toEqual({});
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
