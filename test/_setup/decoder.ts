import { sharedDecoder } from "../../src/media/decoder/decoder.ts";

/** Resolves when files are looked at without delay: what reads them is a process, which has to start. */
export async function decoderReady(): Promise<void> {
  // Pictures are what loads last.
  await sharedDecoder()
    .ask("picture", { path: "/nowhere" })
    .catch(() => undefined);
}
