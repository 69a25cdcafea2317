import type { LoadedMedia } from "../../surface/media.ts";
import { summarize, unwrap } from "../content.ts";
import { fileOf } from "../content/media.ts";
import { WrongFile, openFile } from "./media-file.ts";
import type { KnownMessage } from "./memory.ts";
import { type PhoneState, label } from "../phone-state.ts";

/**
 * Loads the file of a message as a phone does, and holds it against the message.
 *
 * @throws when the message has no file, the host has it no more, or it is not what the message says; the last two are
 * violations as well
 */
export function loadMedia(state: PhoneState, { id, message }: KnownMessage): LoadedMedia {
  const found = fileOf(unwrap(message));
  const { media } = summarize(message);
  if (!found || !media) throw new Error(`message ${id} has no file`);
  const wrong = (rule: string, detail: string): Error => {
    state.world.recorder.onViolation({
      rule,
      who: label(state),
      detail: `the file of message ${id}: ${detail}`,
    });
    return new Error(`the file of message ${id}: ${detail}`);
  };
  let loaded: Uint8Array;
  try {
    loaded = state.world.files.load(media.directPath);
  } catch (error) {
    throw wrong("media_missing", (error as Error).message);
  }
  try {
    return { ...media, bytes: openFile(loaded, found.file, found.kind) };
  } catch (error) {
    if (!(error instanceof WrongFile)) throw error;
    throw wrong("media_wrong", `${error.message} does not fit`);
  }
}
