import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { describe, expect, it, onTestFinished } from "vitest";
import { sharedDecoder } from "../../../src/media/decoder/decoder.ts";
import { removeFolder } from "../../_setup/folders.ts";
import { gif, png } from "./samples.ts";

/** Made in the process that reads foreign files, with its limits. */
async function stickerOf(image: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), "parley-stickers-"));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, "in");
  const output = join(folder, "out");
  writeFileSync(path, image);
  const told = await sharedDecoder()
    .ask("sticker", { path, output })
    .catch((error: Error) => {
      expect(existsSync(output)).toBe(false);
      throw error;
    });
  return { told, bytes: readFileSync(output) };
}

/** Alpha of a pixel of the first picture: 0 is nothing, 255 is all. */
async function alphaAt(webp: Buffer, left: number, top: number): Promise<number> {
  const pixel = await sharp(webp).ensureAlpha().extract({ left, top, width: 1, height: 1 }).raw().toBuffer();
  return pixel[3]!;
}

const still = (format: "png" | "jpeg" | "webp", width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 3, background: "#c02040" } })
    .toFormat(format)
    .toBuffer();

describe("a sticker", () => {
  it.each(["png", "jpeg", "webp"] as const)(
    "is made of %s: all of it, and nothing around it",
    async (format) => {
      const { told, bytes } = await stickerOf(await still(format, 300, 100));
      expect(told).toEqual({ width: 512, height: 512 });
      expect(await sharp(bytes).metadata()).toMatchObject({ format: "webp", width: 512, height: 512 });
      expect(await alphaAt(bytes, 256, 256)).toBe(255);
      expect(await alphaAt(bytes, 256, 20)).toBe(0);
      expect(await alphaAt(bytes, 2, 256)).toBe(255);
    },
  );

  it("stands as its picture is shown, not as it lies in the file", async () => {
    const lying = await sharp(await still("jpeg", 300, 100))
      .withMetadata({ orientation: 6 })
      .toBuffer();
    const { bytes } = await stickerOf(lying);
    expect(await alphaAt(bytes, 256, 2)).toBe(255);
    expect(await alphaAt(bytes, 20, 256)).toBe(0);
  });

  it.each([
    ["wide", 64, 36, [256, 20]],
    ["high", 36, 64, [20, 256]],
    ["square", 50, 50, null],
  ] as const)("of a %s GIF goes on moving, as fast as it was", async (_, width, height, outside) => {
    const { told, bytes } = await stickerOf(gif(width, height, 1));
    expect(told).toEqual({ width: 512, height: 512, animated: true });
    const facts = await sharp(bytes, { animated: true }).metadata();
    expect(facts).toMatchObject({ format: "webp", width: 512, pageHeight: 512 });
    const total = facts.delay!.reduce((sum, ms) => sum + ms, 0);
    expect(total).toBeGreaterThan(900);
    expect(total).toBeLessThan(1_100);
    expect(bytes.length).toBeLessThanOrEqual(500_000);
    expect(await alphaAt(bytes, 256, 256)).toBe(255);
    if (outside !== null) expect(await alphaAt(bytes, outside[0], outside[1])).toBe(0);
  });

  it("is taken as it is when it is one", async () => {
    const sticker = await sharp(await still("png", 512, 512))
      .webp({ quality: 33 })
      .toBuffer();
    const moving = (await stickerOf(gif(64, 36, 1))).bytes;
    expect((await stickerOf(sticker)).bytes).toEqual(sticker);
    expect(await stickerOf(moving)).toEqual({
      told: { width: 512, height: 512, animated: true },
      bytes: moving,
    });
  });

  it("is small, however much there is to see", async () => {
    const noise = await sharp({
      create: {
        width: 700,
        height: 700,
        channels: 3,
        background: "#000",
        noise: { type: "gaussian", mean: 128, sigma: 60 },
      },
    })
      .png()
      .toBuffer();
    expect((await stickerOf(noise)).bytes.length).toBeLessThanOrEqual(100_000);
  });

  it("is not made of what moves for longer than stickers do", async () => {
    await expect(stickerOf(gif(16, 16, 11))).rejects.toThrow("It moves for longer than 10 s.");
  });

  it("is not made of what is broken, though it begins like one", async () => {
    const whole = await sharp(await still("png", 512, 512))
      .webp({ lossless: true })
      .toBuffer();
    const broken = Buffer.from(whole).fill(0xff, 40);
    await expect(stickerOf(broken)).rejects.toThrow(/decode|corrupt|read/i);
    await expect(stickerOf(png(100, 100).subarray(0, 60))).rejects.toThrow(
      /read|truncated|decode|end of file/i,
    );
  });

  it("is not made of more pixels than may be unpacked, and what comes next is read all the same", async () => {
    await expect(stickerOf(await still("webp", 4_500, 4_500))).rejects.toThrow(/pixel limit/);
    expect((await stickerOf(png(9, 9))).told).toEqual({ width: 512, height: 512 });
  });
});
