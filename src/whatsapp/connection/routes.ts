import type { UserFacingSocketConfig } from "@whiskeysockets/baileys";
import { Agent, type Dispatcher } from "undici";
import { devices } from "../../../drizzle/schema.ts";
import type { Config } from "../../config.ts";
import type { OutgoingFiles } from "../../model/media/media.ts";
import { isPublicAddress } from "../../net/addresses.ts";
import { createNodeAgent } from "../../net/node-agent.ts";
import { createProxyConnector, ProxyFailed } from "../../net/proxy.ts";
import { readProxy } from "../../net/proxy-address.ts";
import { openProxy } from "../../store/sealed/proxies.ts";
import { defineQuery } from "../../store/query.ts";
import type { Store } from "../../store/store.ts";
import { certificates, type WhatsAppSettings } from "../life/socket-options.ts";
import { createMediaAgent } from "../media/agent.ts";
import { createUploads, type Uploads } from "../media/upload.ts";

/** The way to WhatsApp of one number: through its proxy, or straight. */
export interface Route {
  /** What Baileys is given for it. */
  socket: Partial<UserFacingSocketConfig>;
  /** To the hosts of files. */
  media: Dispatcher;
  uploads: Uploads;
}

/** The ways of all numbers of this process. */
export interface Routes {
  /**
   * As the number's row says now.
   *
   * @throws when that cannot be read: then there is no way at all
   */
  of(deviceId: number): Promise<Route>;
  /** These numbers live here no longer. */
  drop(deviceIds: readonly number[]): void;
  /** What is under way ends with an error. */
  stop(): void;
}

interface RoutesDeps {
  store: Pick<Store, "readOne" | "box" | "now">;
  config: WhatsAppSettings & Pick<Config, "allowPrivateNetwork">;
  files: OutgoingFiles;
  /** Which addresses proxies may have, unless the settings let all through. Default: public ones. */
  mayBeProxy?: ((address: string) => boolean) | undefined;
}

/** A way through a proxy, and the proxy's address with its password. */
interface ProxyRoute extends Route {
  address: string;
  agent: Dispatcher;
}

const PROXY = defineQuery("select proxy from devices where id = ?", { proxy: devices.proxy });
const isBun = "bun" in process.versions;

/** Reads the row of a number for each of its ways: whoever is told of a change late goes no old one. */
export function createRoutes(deps: RoutesDeps): Routes {
  const { store, config, files } = deps;
  const media = createMediaAgent(config);
  const straight: Route = { socket: {}, media, uploads: createUploads(media, files, store.now) };
  const known = new Map<number, ProxyRoute>();

  function drop(deviceId: number): void {
    const route = known.get(deviceId);
    known.delete(deviceId);
    // What is under way goes to its end, and nothing more begins on it.
    for (const agent of route === undefined ? [] : [route.agent, route.media])
      void agent.close().catch(() => undefined);
  }

  return {
    async of(deviceId) {
      const row = await store.readOne(PROXY, [deviceId]);
      const sealed = row?.proxy ?? null;
      const address = sealed === null ? null : openProxy(store.box, deviceId, sealed);
      const before = known.get(deviceId);
      if (address !== null && before?.address === address) return before;
      drop(deviceId);
      if (address === null) return straight;
      const route = createProxyRoute(address, deps);
      known.set(deviceId, route);
      return route;
    },
    drop: (deviceIds) => deviceIds.forEach(drop),
    stop() {
      for (const { agent, media: own } of known.values())
        for (const one of [agent, own]) void one.destroy().catch(() => undefined);
      known.clear();
      void media.destroy();
    },
  };
}

function createProxyRoute(address: string, { store, config, files, mayBeProxy }: RoutesDeps): ProxyRoute {
  const proxy = readProxy(address);
  if (proxy === null) throw new ProxyFailed("its address cannot be read.");
  // Its WebSocket client and its requests do not ask how to connect: they would go past the proxy.
  if (isBun) throw new ProxyFailed("proxies need the gateway to run on Node.js; it runs on Bun.");
  const isSimulated = config.whatsappWsUrl !== null;
  const connector = createProxyConnector(proxy, {
    mayBeProxy: config.allowPrivateNetwork ? null : (mayBeProxy ?? isPublicAddress),
    mayBeReached: isSimulated ? null : isPublicAddress,
    ca: certificates(config),
  });
  const agent = new Agent({ connect: connector });
  const media = createMediaAgent(config, connector);
  const isPlain = config.whatsappWsUrl?.startsWith("ws:") ?? false;
  return {
    address,
    agent,
    media,
    uploads: createUploads(media, files, store.now),
    socket: {
      agent: createNodeAgent(connector, isPlain ? "http:" : "https:"),
      fetchAgent: createNodeAgent(connector, "https:"),
      options: { dispatcher: agent } as RequestInit,
    } as Partial<UserFacingSocketConfig>,
  };
}
