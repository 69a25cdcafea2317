import type { BaileysEventMap, WASocket } from "@whiskeysockets/baileys";
import type { Incoming } from "../../model/messages.ts";
import { baileys } from "../baileys.ts";
import { fileIn } from "../content/content.ts";

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
  { id, chat, fromMe, participant, raw }: Incoming,
  timeoutMs: number,
): Promise<string> {
  const mediaKey = fileIn(raw)?.message.mediaKey;
  const own = socket.user?.id;
  if (!mediaKey?.length || !own) throw new Error("There is no key to ask for the file with.");
  const key = { id, remoteJid: chat, fromMe, ...(participant !== null && { participant }) };
  const answer = answerTo(socket, id, timeoutMs);
  try {
    await socket.sendNode(baileys.encryptMediaRetryRequest(key, mediaKey, own));
    return readAnswer(await answer.result, id, mediaKey);
  } finally {
    answer.cancel();
  }
}

function answerTo(
  socket: WASocket,
  id: string,
  timeoutMs: number,
): { result: Promise<MediaUpdate>; cancel(): void } {
  const controls: { cancel?: () => void } = {};
  const result = new Promise<MediaUpdate>((resolve, reject) => {
    const listen = (updates: MediaUpdate[]): void => {
      const update = updates.find(({ key }) => key.id === id);
      if (update) resolve(update);
    };
    const late = new Error(`The phone has not answered within ${timeoutMs} ms.`);
    const timer = setTimeout(() => reject(late), timeoutMs);
    socket.ev.on("messages.media-update", listen);
    controls.cancel = () => {
      clearTimeout(timer);
      socket.ev.off("messages.media-update", listen);
    };
  });
  // Sending may fail first.
  result.catch(() => undefined);
  return { result, cancel: () => controls.cancel?.() };
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
