import { pdf } from "../../unit/media/samples.ts";
import type { Attack } from "../attack.ts";
import { serveFiles } from "../file-server.ts";

const LENGTH = 65_000;
const UNSEEN = "\u202e\r\nSet-Cookie: a=b\u0000";

/** Long names of what makes patterns go back and forth. */
const NAMES = [".", "a.", "/", "\\", " ", "\u202e", "._"].map(
  (part) => `${part.repeat(LENGTH / part.length)}_`,
);

export default [
  {
    name: "files whose captions are endless names",
    class: "A5",
    async run({ gateway, attacker }) {
      const server = await serveFiles((_, response) => response.end(pdf()));
      const { key, number, contact } = attacker;
      const fields = {
        api_key: key,
        sender: number,
        number: contact,
        media_type: "pdf",
        url: server.url("x"),
      };
      try {
        const answers = await Promise.all(
          NAMES.map((caption) => gateway.post("/send-media", { ...fields, caption })),
        );
        const wrong = answers.find(({ body }) => body["status"] !== true);
        if (wrong) throw new Error(`was answered: ${JSON.stringify(wrong.body).slice(0, 200)}`);
      } finally {
        server.close();
      }
    },
  },
  {
    name: "documents of a stranger whose names are endless, paths and headers",
    class: "A5",
    async run({ sim, attacker }) {
      for (const name of [...NAMES, `../../${UNSEEN}`, UNSEEN.repeat(2_000)])
        await sim.send(attacker.contact, attacker.number, {
          kind: "document",
          bytes: pdf(),
          fileName: name,
          mimetype: "application/pdf",
        });
    },
  },
] satisfies Attack[];
