import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ArrivedMessage, Content } from "../../src/simulator/types.ts";
import { closeWorld, keepWorld, until, type World } from "../_setup/world.ts";
import { mp3, mp4, opus, pdf, png } from "../unit/media/samples.ts";

/** The number that the shop has moved to Parley. */
export const SHOP = "31600000001";
/** Stands for the shop's own server in scripts and examples. */
export const SHOP_SITE = "https://shop.example";

/** What a phone shows, as far as a reply decides it. */
export interface Shown {
  kind: string;
  text?: string;
  quotes?: true;
  fileName?: string;
  name?: string;
  options?: string[];
  selectable?: number;
}

export interface Heard {
  /** The event as the script got it. */
  event: Record<string, any>;
  /** `reply` of the delivery. */
  reply: { understood: boolean; ignored: string[]; ids: string[] };
  /** What arrived at the customer's phone for it, in order. */
  shown: Shown[];
}

/** A shop with a webhook of the old kind: a script that prints something. For all tests of a file. */
export interface Shop extends World {
  /**
   * A new customer writes to the shop, whose script prints `prints`; resolves when the delivery is recorded and what it
   * sent has arrived.
   */
  ask(prints: string | Buffer | ((event: Record<string, any>) => string), asked?: Asked): Promise<Heard>;
  newCustomer(): Promise<string>;
  /** Text with {@link SHOP_SITE} replaced by where its files really are. */
  really(text: string): string;
}

interface Asked {
  /** Default: the text "Hello". */
  content?: Content;
  status?: number;
  contentType?: string;
}

const servers = new WeakMap<Shop, Server>();

export async function openShop(env: Record<string, string> = {}): Promise<Shop> {
  const world = await keepWorld({
    env: { API_RATE_PER_MINUTE: "0", LOOP_GUARD_PER_MINUTE: "0", PACE_PER_MINUTE: "0", ...env },
  });
  const files: Record<string, Buffer> = {
    "/menu.png": png(40, 30),
    "/menu.pdf": pdf(),
    "/tour.mp4": mp4(),
    "/hello.mp3": mp3(),
    "/hello.ogg": opus(),
  };
  const script = { status: 200, contentType: "text/html; charset=UTF-8", prints: scripted("") };
  const events = new Map<string, Record<string, any>>();
  const server = createServer(async (request, response) => {
    if (request.method === "GET") {
      const file = files[request.url!];
      return void response.writeHead(file ? 200 : 404).end(file);
    }
    const event = JSON.parse(await bodyOf(request)) as Record<string, any>;
    events.set(event.id, event);
    response.writeHead(script.status, { "content-type": script.contentType }).end(script.prints(event));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const really = (text: string): string => text.replaceAll(SHOP_SITE, site);

  await world.link(SHOP);
  const { status, text } = await world.gateway.put(
    `/devices/${SHOP}/webhook`,
    { url: `${site}/webhook.php` },
    { key: world.key },
  );
  if (status !== 200) throw new Error(text);

  let customers = 0;
  async function newCustomer(): Promise<string> {
    customers += 1;
    const number = String(4915100000000 + customers);
    await world.sim.addContact(number, { name: "Ana" });
    return number;
  }

  async function delivered(messageId: string): Promise<Heard["reply"]> {
    let reply: Heard["reply"] | null = null;
    await until(async () => {
      const { body } = await world.gateway.get("/deliveries?limit=1", { key: world.key });
      const [delivery] = body.data;
      if (delivery?.message_id === messageId) reply = delivery.reply;
      return reply !== null;
    });
    return reply!;
  }

  async function ask(prints: Parameters<Shop["ask"]>[0], asked: Asked = {}): Promise<Heard> {
    const { content = { kind: "text", text: "Hello" }, ...answer } = asked;
    script.status = answer.status ?? 200;
    script.contentType = answer.contentType ?? "text/html; charset=UTF-8";
    script.prints = scripted(prints, really);
    const customer = await newCustomer();
    const contact = await world.sim.contact(customer);
    const { id } = await contact.send(SHOP, content);
    const reply = await delivered(id);
    const shown: Shown[] = [];
    for (const sent of reply.ids)
      shown.push(show(await world.sim.waitForMessage(customer, { id: sent }), id));
    return { event: events.get(id)!, reply, shown };
  }

  const shop: Shop = { ...world, ask, newCustomer, really };
  kept.set(shop, world);
  servers.set(shop, server);
  return shop;
}

const kept = new WeakMap<Shop, World>();

export async function closeShop(shop: Shop): Promise<void> {
  const server = servers.get(shop)!;
  server.closeAllConnections();
  server.close();
  await closeWorld(kept.get(shop)!);
}

type Script = (event: Record<string, any>) => string | Buffer;

function scripted(
  prints: Parameters<Shop["ask"]>[0],
  really: (text: string) => string = (text) => text,
): Script {
  if (Buffer.isBuffer(prints)) return () => prints;
  return typeof prints === "string" ? () => really(prints) : (event) => really(prints(event));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function show({ kind, text, quoted, media, poll }: ArrivedMessage, answers: string): Shown {
  const quotes = quoted?.id === answers ? { quotes: true as const } : {};
  if (poll) return { kind, name: poll.name, options: poll.options, selectable: poll.selectable, ...quotes };
  return {
    kind,
    ...(media?.fileName && { fileName: media.fileName }),
    ...(text && { text }),
    ...quotes,
  };
}
