import {
  aviOfPixels,
  aviOfStreams,
  flacOfComments,
  m4aOfEmptyBoxes,
  mp3OfApeTag,
  webpOfPixels,
} from "../../_setup/hostile-media.ts";
import type { Arena, Attack, Size } from "../attack.ts";
import { serveFiles } from "../file-server.ts";

type Hostile = [name: string, bytes: Buffer, fields: Record<string, string>];

const APE = "an APE tag";

/** Ten of them. What takes a reader its five seconds is for the long form. */
function files(size: Size): Hostile[] {
  const quick: Hostile[] = [
    ["a WebP of 100 megapixels", webpOfPixels(9_999), { media_type: "image" }],
    ["a WebP of 268 megapixels", webpOfPixels(16_383), { media_type: "image" }],
    ["an AVI of large frames", aviOfPixels(16_000, 8_000), { media_type: "video" }],
    ["an AVI of frames that may just pass", aviOfPixels(5_900, 8_000), { media_type: "video" }],
    ["an AVI of many streams", aviOfStreams(5_000), { media_type: "video" }],
    ["an MP4 of empty boxes as a film", m4aOfEmptyBoxes(4_000_000), { media_type: "video" }],
  ];
  const slow: Hostile[] = [
    ["a FLAC of comments", flacOfComments(150_000), { media_type: "audio" }],
    ["an MP4 of empty boxes", m4aOfEmptyBoxes(16_000_000), { media_type: "audio" }],
    [
      "an MP4 of empty boxes as a voice note",
      m4aOfEmptyBoxes(16_000_000),
      { media_type: "audio", ptt: "vn" },
    ],
    [APE, mp3OfApeTag(17_000), { media_type: "audio" }],
  ];
  return size === "full" ? [...quick, ...slow] : quick;
}

async function send({ gateway, attacker }: Arena, url: string, fields: Record<string, string>) {
  const { key, number, contact } = attacker;
  return gateway.post("/send-media", { api_key: key, sender: number, number: contact, url, ...fields });
}

export default {
  name: "files made to exhaust their reader, all at once",
  class: "A3",
  maxMemoryMb: 300,
  async run(arena) {
    const hostile = files(arena.size);
    const server = await serveFiles((path, response) =>
      response.end(hostile.find(([name]) => name === path)?.[1]),
    );
    try {
      const answers = await Promise.all(
        hostile.map(async ([name, , fields]) => ({
          name,
          answer: await send(arena, server.url(name), fields),
        })),
      );
      const wrong = answers.filter(
        ({ name, answer }) =>
          // Where no tag is read a file may well be one that can be sent.
          !(name === APE && answer.status === 200) && answer.body["errors"]?.code !== "FILE_NOT_USABLE",
      );
      if (wrong.length > 0)
        throw new Error(wrong.map(({ name, answer }) => `${name}: ${answer.status}`).join(", "));
    } finally {
      server.close();
    }
  },
} satisfies Attack;
