import { expect, it } from "vitest";
import { createLinks } from "../../../src/media/links.ts";
import { createSecretBox } from "../../../src/store/sealed/secret-box.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

it("a link has one spelling: whatever else its last character becomes, it is no link", () => {
  const links = createLinks(createSecretBox(new Uint8Array(32).fill(7)), () => 0);
  const target = { deviceId: 1, inboxId: 2 };
  const token = links.make(target);

  const read = [...ALPHABET].filter((last) => links.read(token.slice(0, -1) + last) !== null);

  expect(read).toEqual([token.at(-1)]);
  expect(links.read(token)).toEqual(target);
});
