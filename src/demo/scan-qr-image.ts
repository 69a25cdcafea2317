import jsqr from "jsqr";
import { PNG } from "pngjs";

/**
 * Reads the QR code in an image, as a phone's camera does.
 *
 * @param dataUrl `data:image/png;base64,…`
 * @returns the text in the code and the image's width in pixels
 * @throws Error when it is no PNG or holds no readable code
 */
export function readQrImage(dataUrl: string): { text: string; width: number } {
  const prefix = "data:image/png;base64,";
  if (!dataUrl.startsWith(prefix)) throw new Error("The QR image is not a PNG data URL.");
  const image = PNG.sync.read(Buffer.from(dataUrl.slice(prefix.length), "base64"));
  const code = jsqr(new Uint8ClampedArray(image.data), image.width, image.height);
  if (!code) throw new Error("The image contains no readable QR code.");
  return { text: code.data, width: image.width };
}
