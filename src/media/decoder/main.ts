/**
 * The process that reads files of strangers, one job after the other. It holds no secrets, and nothing depends on its life:
 * it is killed when it takes too long or too much, and when its gateway has gone. Built as a file of its own, see
 * `nitro.config.ts`.
 */
import { makeAvatar } from "./avatar.ts";
import { identify } from "./identify.ts";
import { measureOpus } from "./ogg.ts";
import { readImage } from "./picture.ts";
import type { DecoderAnswer, JobName, Jobs, Question } from "./protocol.ts";
import { readSound } from "./sound.ts";
import { makeSticker } from "./sticker.ts";

const CARRY_OUT: { [Name in JobName]: (asks: Jobs[Name]["asks"]) => Promise<Jobs[Name]["answers"]> } = {
  identify: ({ head, tail }) => identify(asBuffer(head), asBuffer(tail)),
  picture: ({ path }) => readImage(path),
  sticker: ({ path, output }) => makeSticker(path, output),
  avatar: ({ path }) => makeAvatar(path),
  sound: ({ path, mimetype }) => readSound(path, mimetype),
  opus: ({ path }) => measureOpus(path),
};

const LONGEST_REASON = 500;
/** It has 60 MiB when it has read nothing yet, and 140 to write to in all. */
const FULL_BYTES = 90 * 1024 * 1024;

const isFull = (): boolean => process.memoryUsage.rss() > FULL_BYTES;
const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

async function answerOf<Name extends JobName>({ job, asks }: Question<Name>): Promise<DecoderAnswer> {
  try {
    return { answers: await CARRY_OUT[job](asks), isFull: isFull() };
  } catch (error) {
    const failed = (error instanceof Error ? error.message : String(error)).slice(0, LONGEST_REASON);
    return { failed, isFull: isFull() };
  }
}

const say = (answer: DecoderAnswer): void => void process.send?.(answer);

process.on("message", (question: Question) => void answerOf(question).then(say));
process.on("disconnect", () => process.exit());
say({ ready: true });
