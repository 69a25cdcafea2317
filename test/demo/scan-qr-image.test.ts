import qrcode from "qrcode";
import { describe, expect, it } from "vitest";
import { readQrImage } from "../../src/demo/scan-qr-image.ts";

describe("the camera of the demo", () => {
  it("reads what a QR image says", async () => {
    const text = `https://wa.me/settings/linked_devices#2@${"Ab1+/".repeat(40)},1`;
    const image = await qrcode.toDataURL(text, { width: 300 });
    expect(readQrImage(image)).toEqual({ text, width: 300 });
  });

  it("refuses an image without a code, and what is no image", async () => {
    const { PNG } = await import("pngjs");
    const blank = PNG.sync.write(new PNG({ width: 50, height: 50 })).toString("base64");
    expect(() => readQrImage(`data:image/png;base64,${blank}`)).toThrow("no readable QR code");
    expect(() => readQrImage("https://example.com/qr.png")).toThrow("not a PNG data URL");
  });
});
