import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { receiverAnswer, startReceiver, type Receiver } from "../../src/demo/receiver.ts";

const SECRET = `whsec_${Buffer.from("a secret of the demo's tests").toString("base64")}`;

let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function post(body: string, secret: string): Promise<Response> {
  const id = "msg_1";
  const at = new Date();
  return fetch(receiver.url, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(at.getTime() / 1_000)),
      "webhook-signature": new Webhook(secret).sign(id, at, body),
    },
  });
}

describe("the receiver of the demo", () => {
  it("answers an event that is signed with its secret", async () => {
    receiver.trust(SECRET);
    const response = await post(JSON.stringify({ message: "Anybody there?" }), SECRET);
    expect(await response.json()).toEqual({ message: receiverAnswer("Anybody there?") });
  });

  it("refuses an event that somebody else signed, and everything before it has a secret", async () => {
    const body = JSON.stringify({ message: "Anybody there?" });
    expect((await post(body, SECRET)).status).toBe(401);
    receiver.trust(SECRET);
    const other = `whsec_${Buffer.from("the secret of somebody else").toString("base64")}`;
    expect((await post(body, other)).status).toBe(401);
  });
});
