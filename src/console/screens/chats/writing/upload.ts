import { api, type Call } from "../../../data/index.ts";

/** What `/send-media` calls files that phones show, by how their names end. */
const BY_ENDING: Record<string, MediaType> = {
  ...Object.fromEntries(["jpg", "jpeg", "png", "webp", "gif"].map((ending) => [ending, "image" as const])),
  ...Object.fromEntries(["mp4", "mov", "3gp"].map((ending) => [ending, "video" as const])),
  ...Object.fromEntries(
    ["mp3", "ogg", "oga", "opus", "m4a", "aac", "wav"].map((ending) => [ending, "audio" as const]),
  ),
};

/** What a file can be sent as; the last one is any file as it is. */
export const MEDIA_TYPES = ["image", "video", "audio", "document"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

const endingOf = (name: string): string =>
  /\.([a-z0-9]{1,10})(?:[?#]|$)/i.exec(name.slice(-300))?.[1]?.toLowerCase() ?? "";

/** The kind of what an address leads to, by its ending; null: it has none. */
export function mediaTypeOf(address: string): MediaType | null {
  const ending = endingOf(address);
  return ending === "" ? null : (BY_ENDING[ending] ?? "document");
}

/** The same of a file, which the browser may know by more than its name: a picture from the clipboard has none of its own. */
export function mediaTypeOfFile({ name, type }: Pick<File, "name" | "type">): MediaType {
  const kind =
    type === "image/svg+xml" ? undefined : MEDIA_TYPES.find((one) => one === type.split("/", 1)[0]);
  return BY_ENDING[endingOf(name)] ?? kind ?? "document";
}

/** Base64 makes four bytes of three, and a body is at most 1 MiB. */
const PART_BYTES = 720 * 1024;

/** One part of a file, as it is sent. @param data base64 */
export const uploadCall = (
  sender: string,
  { name, size }: Pick<File, "name" | "size">,
  data: string,
  after: string | null,
): Call => ({
  method: "POST",
  path: "/uploads",
  body: { sender, data, name: name.slice(0, 255), size, ...(after !== null && { after }) },
});

/**
 * Gives a file to the gateway, part by part.
 *
 * @param told  how many of its bytes are there, after each part
 * @returns its address, for `/send-media`
 * @throws ApiError; FILE_TOO_LARGE with the first part. DOMException when the browser cannot read it any more
 */
export async function upload(
  sender: string,
  file: File,
  told: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  let after: string | null = null;
  let url = "";
  for (let from = 0; from < file.size; from += PART_BYTES) {
    const data = await base64Of(file.slice(from, from + PART_BYTES));
    signal.throwIfAborted();
    const answer: { data: { id: string; received: number; url: string } } = await api(
      uploadCall(sender, file, data, after),
      { signal },
    );
    ({ id: after, url } = answer.data);
    told(answer.data.received);
  }
  return url;
}

function base64Of(part: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error("unreadable")));
    reader.readAsDataURL(part);
  });
}
