import { createHash } from "node:crypto";
import type { MediaStore } from "./store.ts";

const SIDE = 200;

/** The thumbnail that the service itself makes for a picture in a channel; undefined when the bytes are not a picture. */
export async function thumbnailOf(
  media: MediaStore,
  type: string,
  bytes: Buffer,
): Promise<{ thumbnail_direct_path: string; thumbnail_sha256: string } | undefined> {
  if (type !== "newsletter-image") return undefined;
  try {
    const { default: sharp } = await import("sharp");
    const small = await sharp(bytes).resize(SIDE, SIDE, { fit: "inside" }).jpeg().toBuffer();
    return {
      thumbnail_direct_path: media.put("newsletter-thumbnail-link", small).directPath,
      thumbnail_sha256: createHash("sha256").update(small).digest("base64"),
    };
  } catch {
    return undefined;
  }
}
