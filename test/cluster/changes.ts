import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { endpoints, nameOf } from "../../src/api/endpoints/index.ts";
import { isLogged } from "../../src/api/audit/audit-log.ts";
import type { Simulator } from "../../src/simulator/types.ts";
import type { Answer, GatewayClient } from "../_setup/client.ts";
import { startReceiver } from "../_setup/receiver.ts";

/** Two nodes, and a linked number with one person who writes to it. */
export interface Between {
  /** Is asked for the change. */
  at: GatewayClient;
  /** Is asked next, once. */
  next: GatewayClient;
  sim: Simulator;
  key: string;
  adminToken: string;
  number: string;
  contact: string;
  /** Folder of bots that both nodes read. */
  bots: string;
}

/** What can be changed by one node, and how the next request, or message, at another has to find it. */
interface Change {
  /** Names of endpoints. */
  by: string[];
  shows(between: Between): Promise<void>;
}

/** What no request at another node looks at, or what only its own node, its own client and WhatsApp know of. */
const OTHERWISE: Record<string, string> = {
  answerPasskey: "the number's owner is asked",
  confirmPasskey: "the number's owner is asked",
  replayDelivery: "rows, which the number's node posts",
  replayDeliveries: "rows, which the number's node posts",
  forkConversation: "a process of its own",
  eraseContact: "rows, which are gone for every node",
  createGroup: "the number's owner is asked",
  changeGroup: "the number's owner is asked",
  changeProfile: "the number's owner is asked",
  changeMembers: "the number's owner is asked",
  renewInvite: "the number's owner is asked",
  joinGroup: "the number's owner is asked",
  leaveGroup: "the number's owner is asked",
  changeChat: "the number's owner is asked",
  blockContact: "the number's owner is asked",
  unblockContact: "the number's owner is asked",
  decideRequests: "the number's owner is asked",
  createBackup: "refused where the database is a server",
  addChannel: "rows, read at each look",
  removeChannel: "rows, read at each look",
};

/** Of all endpoints that change something those that are neither among {@link CHANGES} nor said to be otherwise. */
export const endpointsWithoutChange = (): string[] => {
  const covered = new Set([...CHANGES.flatMap(({ by }) => by), ...Object.keys(OTHERWISE)]);
  return endpoints.filter((one) => isLogged(one) && !covered.has(nameOf(one))).map(nameOf);
};

const done = ({ status, text, body }: Answer): Answer["body"] => {
  expect(status, text).toBeLessThan(300);
  return body;
};
/** A number that exists and is not linked. */
const fresh = (): string => `316${String(Math.floor(Math.random() * 1e8)).padStart(8, "0")}`;

export const CHANGES: Change[] = [
  {
    by: ["putWebhook", "rotateWebhook", "deleteWebhook"],
    async shows({ at, next, key, number, sim, contact }) {
      const path = `/devices/${number}/webhook`;
      const [first, second] = [await startReceiver(), await startReceiver()];
      const post = async (): Promise<void> => {
        const id = await sim.sendText(contact, number, randomUUID());
        await expect
          .poll(() => [...first.events, ...second.events].some(({ body }) => body["id"] === id.id))
          .toBe(true);
      };
      for (const { url } of [first, second]) {
        done(await at.put(path, { url, events: ["message"] }, { key }));
        expect(done(await next.get(path, { key }))["data"].url).toBe(url);
        await post();
      }
      expect([first.events.length, second.events.length]).toEqual([1, 1]);

      const signed = async (): Promise<string> => {
        const { request } = done(await next.post(`${path}/test`, {}, { key }))["data"];
        return request.headers["webhook-signature"];
      };
      expect((await signed()).split(" ")).toHaveLength(1);
      done(await at.post(`${path}/rotate`, undefined, { key }));
      expect((await signed()).split(" ")).toHaveLength(2);

      done(await at.delete(path, { key }));
      expect((await next.get(path, { key })).status).toBe(404);
    },
  },
  {
    by: ["createListener", "changeListener", "rotateListener", "deleteListener"],
    async shows({ at, next, key, number, sim, contact }) {
      const path = `/devices/${number}/webhooks`;
      const [first, second] = [await startReceiver(), await startReceiver()];
      const post = async (): Promise<void> => {
        const id = await sim.sendText(contact, number, randomUUID());
        await expect
          .poll(() => [...first.events, ...second.events].some(({ body }) => body["id"] === id.id))
          .toBe(true);
      };
      const { data } = done(await at.post(path, { url: first.url, events: ["message"] }, { key }));
      const listed = async (): Promise<{ id: string; url: string }[]> =>
        done(await next.get(path, { key }))["data"];
      expect(await listed()).toEqual([data]);
      await post();
      done(await at.patch(`${path}/${data.id}`, { url: second.url }, { key }));
      expect(await listed()).toMatchObject([{ id: data.id, url: second.url }]);
      await post();
      expect([first.events.length, second.events.length]).toEqual([1, 1]);
      done(await at.post(`${path}/${data.id}/rotate`, undefined, { key }));
      await post();
      expect(String(second.events.at(-1)!.headers["webhook-signature"]).split(" ")).toHaveLength(2);
      done(await at.delete(`${path}/${data.id}`, { key }));
      expect(await listed()).toEqual([]);
    },
  },
  {
    by: ["putDeviceBots", "patchDeviceBots"],
    async shows({ at, next, key, number, contact, sim }) {
      const path = `/devices/${number}/bots`;
      const answers = async (): Promise<number> =>
        (await sim.messages(contact, { from: number })).filter(({ text }) => text === "pong").length;
      for (const [method, enabled] of [
        ["put", true],
        ["patch", false],
        ["patch", true],
        ["put", false],
      ] as const) {
        const before = await answers();
        done(await at[method](path, { bots: [{ id: "ping", enabled }] }, { key }));
        const [ping] = done(await next.get(path, { key }))["data"].filter(
          ({ id }: { id: string }) => id === "ping",
        );
        expect(ping.enabled).toBe(enabled);
        await sim.sendText(contact, number, "ping");
        if (enabled) await expect.poll(answers).toBe(before + 1);
        else await sim.settle();
        expect(await answers()).toBe(before + (enabled ? 1 : 0));
      }
    },
  },
  {
    by: ["createKey", "deleteKey", "rotateKey", "createAccountKey", "deleteAccountKey"],
    async shows({ at, next, key, adminToken }) {
      const { data: account } = done(await at.get("/account", { key }));
      const whole = { name: "short", permissions: ["devices"] };
      const status = async (apiKey: string): Promise<number> =>
        (await next.get("/devices", { key: apiKey })).status;
      for (const [path, by] of [
        ["/api-keys", key],
        [`/admin/accounts/${account.id}/api-keys`, adminToken],
      ] as const) {
        const made = done(await at.post(path, whole, { key: by }));
        expect(await status(made["api_key"])).toBe(200);
        let secret = made["api_key"];
        if (by === key) {
          secret = done(await at.post(`${path}/${made["data"].id}/rotate`, undefined, { key: by }))[
            "api_key"
          ];
          expect(await status(made["api_key"])).toBe(401);
          expect(await status(secret)).toBe(200);
        }
        done(await at.delete(`${path}/${made["data"].id}`, { key: by }));
        expect(await status(secret)).toBe(401);
      }
    },
  },
  {
    by: ["createDevice", "changeDevice", "deleteDevice", "logoutDevice", "createAccountDevice"],
    async shows({ at, next, key, adminToken }) {
      const { data: account } = done(await at.get("/account", { key }));
      const listed = async (): Promise<string[]> =>
        done(await next.get("/devices?limit=100", { key }))["data"].map(
          ({ device }: { device: string }) => device,
        );
      for (const [path, by] of [
        ["/devices", key],
        [`/admin/accounts/${account.id}/devices`, adminToken],
      ] as const) {
        const device = fresh();
        done(await at.post(path, { device }, { key: by }));
        expect(await listed()).toContain(device);
        for (const calls of ["reject", "ignore"]) {
          done(await at.patch(`/devices/${device}`, { calls }, { key }));
          expect(done(await next.get(`/devices/${device}`, { key }))["data"].calls).toBe(calls);
        }
        for (const [proxy, shown] of [
          ["socks5://me:secret@proxy.invalid", "socks5://me@proxy.invalid:1080"],
          [null, null],
        ]) {
          done(await at.patch(`/devices/${device}`, { proxy }, { key }));
          expect(done(await next.get(`/devices/${device}`, { key }))["data"].proxy).toBe(shown);
        }
        await at.post(`/devices/${device}/logout`, undefined, { key });
        expect(done(await next.get(`/devices/${device}`, { key }))["data"].state).toBe("unlinked");
        done(await at.delete(`/devices/${device}`, { key }));
        expect(await listed()).not.toContain(device);
        expect((await next.get(`/devices/${device}`, { key })).status).toBe(404);
      }
    },
  },
  {
    by: ["takeChatOver", "handChatBack"],
    async shows({ at, next, key, number, contact, sim }) {
      const bots = `/devices/${number}/bots`;
      done(await at.put(bots, { bots: [{ id: "ping", enabled: true }] }, { key }));
      const answers = async (): Promise<number> =>
        (await sim.messages(contact, { from: number })).filter(({ text }) => text === "pong").length;
      const path = `/chats/${contact}/takeover?sender=${number}`;
      const before = await answers();
      done(await at.post(path, { sender: number }, { key }));
      await sim.sendText(contact, number, "ping");
      await sim.settle();
      expect(await answers()).toBe(before);
      done(await at.delete(path, { key }));
      await sim.sendText(contact, number, "ping");
      await expect.poll(answers).toBe(before + 1);
      done(await next.put(bots, { bots: [] }, { key }));
    },
  },
  {
    by: ["createAccount", "changeAccount", "deleteAccount"],
    async shows({ at, next, adminToken }) {
      const { id, key } = await at.createAccount("Short");
      const asked = async (): Promise<number> => (await next.get("/devices", { key })).status;
      expect(await asked()).toBe(200);
      for (const [enabled, status] of [
        [false, 403],
        [true, 200],
      ] as const) {
        done(await at.patch(`/admin/accounts/${id}`, { enabled }, { key: adminToken }));
        expect(await asked()).toBe(status);
      }
      done(await at.delete(`/admin/accounts/${id}`, { key: adminToken }));
      expect(await asked()).toBe(401);
    },
  },
  {
    by: [
      "createSession",
      "deleteSession",
      "deleteCurrentSession",
      "chooseAccount",
      "createLink",
      "deleteLink",
      "createAccountLink",
      "deleteAccountLink",
    ],
    async shows({ at, next, key, adminToken, number }) {
      const signIn = async (fields: object) => {
        const { headers, body } = await at.post("/console/session", fields);
        const cookie = headers.get("set-cookie")!.split(";")[0]!;
        const { id, csrf } = body["data"];
        return { id, headers: { cookie, "x-csrf-token": csrf } };
      };
      const current = async (headers: Record<string, string>) => next.get("/console/session", { headers });

      const [own, other] = [await signIn({ key }), await signIn({ key })];
      for (const { headers } of [own, other]) done(await current(headers));
      done(await at.delete(`/console/sessions/${other.id}`, { key }));
      expect((await current(other.headers)).status).toBe(401);
      done(await at.delete("/console/session", { headers: own.headers }));
      expect((await current(own.headers)).status).toBe(401);

      const { data: account } = done(await at.get("/account", { key }));
      const operator = await signIn({ token: adminToken });
      expect(done(await current(operator.headers))["data"].account).toBeNull();
      done(await at.put("/console/session/account", { account: account.id }, { headers: operator.headers }));
      expect(done(await current(operator.headers))["data"].account.id).toBe(account.id);

      for (const [path, by] of [
        [`/devices/${number}/magic-link`, key],
        [`/admin/accounts/${account.id}/links`, adminToken],
      ] as const) {
        const fields = path.startsWith("/admin") ? { device: number } : {};
        const link = done(await at.post(path, fields, { key: by }));
        const opened = await signIn({ link: link["url"].split("#").at(-1) });
        done(await current(opened.headers));
        done(await at.delete(`${path}/${link["data"].id}`, { key: by }));
        expect((await current(opened.headers)).status).toBe(401);
      }
    },
  },
  {
    by: ["reloadBots"],
    async shows({ at, next, key, adminToken, bots }) {
      const id = `bot-${randomUUID()}`;
      writeFileSync(join(bots, `${id}.mjs`), "export default () => {};");
      done(await at.post("/admin/bots/reload", undefined, { key: adminToken }));
      const listed = done(await next.get("/bots", { key }))["data"].map((bot: { id: string }) => bot.id);
      expect(listed).toContain(id);
    },
  },
];
