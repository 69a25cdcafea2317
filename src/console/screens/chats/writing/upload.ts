import { api, type Call } from "../../../data/index.ts";

/** What `/send-media` calls files, by how their names end. A file that is none of these cannot be sent. */
const BY_ENDING: Record<string, string> = {
  ...Object.fromEntries(["jpg", "jpeg", "png", "webp", "gif"].map((ending) => [ending, "image"])),
  ...Object.fromEntries(["mp4", "mov", "3gp"].map((ending) => [ending, "video"])),
  ...Object.fromEntries(
    ["mp3", "ogg", "oga", "opus", "m4a", "aac", "wav"].map((ending) => [ending, "audio"]),
  ),
};
/** Files that are what their name ends with. */
const DOCUMENTS = ["pdf", "doc", "docx", "xls", "xlsx", "zip", "xml"];
const KINDS = new Set(["image", "video", "audio"]);

/** Everything that `media_type` of `/send-media` may be. */
export const MEDIA_TYPES = ["image", "video", "audio", "mp3", ...DOCUMENTS];
/** For the browser's own chooser. */
export const ACCEPTED = [...Object.keys(BY_ENDING), ...DOCUMENTS].map((ending) => `.${ending}`).join(",");
/** For people: what may be chosen. */
export const ENDINGS = [...Object.keys(BY_ENDING), ...DOCUMENTS].join(", ");

/** The kind of a file or an address, by its ending; null: none that can be sent. */
export function mediaTypeOf(name: string): string | null {
  const ending = /\.([a-z0-9]{2,4})(?:[?#]|$)/i.exec(name.slice(-300))?.[1]?.toLowerCase() ?? "";
  return BY_ENDING[ending] ?? (DOCUMENTS.includes(ending) ? ending : null);
}

/** The same of a file, which the browser may know by more than its name: a picture from the clipboard has none of its own. */
export function mediaTypeOfFile({ name, type }: Pick<File, "name" | "type">): string | null {
  const kind = type.split("/", 1)[0]!;
  return mediaTypeOf(name) ?? (KINDS.has(kind) && type !== "image/svg+xml" ? kind : null);
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
