import type { BaileysEventMap, WASocket } from "@whiskeysockets/baileys";
import type { Time } from "../../model/time.ts";
import { baileys } from "../baileys.ts";
import { fileIn } from "../content/content.ts";
import type { MessageWithFile } from "../port.ts";

type MediaUpdate = BaileysEventMap["messages.media-update"][number];

/**
 * Asks the own phone to store a message's file at WhatsApp again. Baileys' `updateMediaMessage` does the same and waits
 * for ever when the phone does not answer.
 *
 * @returns path under which the file now lies
 * @throws when the phone does not have it any more, or has not answered in time
 */
export async function requestReupload(
  socket: WASocket,
  { id, chat, fromMe, participant, raw }: MessageWithFile,
  timeoutMs: number,
  time: Pick<Time, "deadline">,
): Promise<string> {
  const mediaKey = fileIn(raw)?.message.mediaKey;
  const own = socket.user?.id;
  if (!mediaKey?.length || !own) throw new Error("The key for requesting the file is missing.");
  const key = { id, remoteJid: chat, fromMe, ...(participant !== null && { participant }) };
  const answer = answerTo(socket, id);
  const late = (): Error => new Error(`The phone did not answer within ${timeoutMs} ms.`);
  try {
    await socket.sendNode(baileys.encryptMediaRetryRequest(key, mediaKey, own));
    return readAnswer(await time.deadline(timeoutMs, answer.result, late), id, mediaKey);
  } finally {
    answer.cancel();
  }
}

/** @returns `cancel` stops listening */
function answerTo({ ev }: WASocket, id: string): { result: Promise<MediaUpdate>; cancel(): void } {
  let resolve!: (update: MediaUpdate) => void;
  const result = new Promise<MediaUpdate>((settle) => (resolve = settle));
  const listen = (updates: MediaUpdate[]): void => {
    const update = updates.find(({ key }) => key.id === id);
    if (update) resolve(update);
  };
  ev.on("messages.media-update", listen);
  return { result, cancel: () => ev.off("messages.media-update", listen) };
}

function readAnswer({ error, media }: MediaUpdate, id: string, mediaKey: Uint8Array): string {
  if (error) throw error;
  if (!media) throw new Error("The phone's answer is empty.");
  const { result, directPath } = baileys.decryptMediaRetryData(media, mediaKey, id);
  const { SUCCESS } = baileys.proto.MediaRetryNotification.ResultType;
  if (result !== SUCCESS || !directPath)
    throw new Error(`The phone does not have the file (result ${result}).`);
  return directPath;
}
