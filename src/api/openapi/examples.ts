import { webhookInput } from "../../webhooks/settings.ts";

/** One request and its answer, as they could really be. The tests check both against the endpoint's schemas. */
export interface Example {
  path?: Record<string, string>;
  input?: object;
  output?: object;
}

const SENDER = "31600000001";
const PERSON = "4915112345678";
const MESSAGE = "3EB0A1B2C3D4E5F6A1B2C3";
const DELIVERY = "msg_0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const ACCOUNT = "7d0c1f5e-6f0a-4b37-9b51-2a3f3a8f5f10";
const KEY_ID = "b1f6c2de-0d4b-4b52-8a39-6f8d7e1c2b3a";
const SESSION = "0c9d2f64-5f0e-4f7b-8a53-d1c2b3a4f5e6";
const AT = "2026-11-21T09:30:00.000Z";
const SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDt8Wx2ZqkJmE=";
const NEW_KEY = "parley_4fQ8uV2nXk1Zs7Ty0Rb6Lm3Wc9Dp5H0aBcDe";

const says = (message: string, fields: object = {}): object => ({
  status: true,
  msg: message,
  message,
  ...fields,
});
const one = (message: string, data: object, beside: object = {}): object =>
  says(message, { data, ...beside });
const many = (message: string, ...data: object[]): object => says(message, { total: data.length, data });

/** Parts of the session stand at the top as well. */
const signedIn = (message: string, data: typeof session): object => {
  const { csrf, expires_at, permissions, account } = data;
  return one(message, data, { csrf, expires_at, permissions, account });
};

const page = (message: string, ...data: object[]): object =>
  says(message, { total: data.length, next: null, data });

const sent = says("Message sent successfully!", {
  results: [{ number: PERSON, status: true, state: "sent", id: MESSAGE }],
  id: MESSAGE,
  state: "sent",
});
const sentText = {
  id: MESSAGE,
  sender: SENDER,
  number: PERSON,
  kind: "text",
  origin: "api",
  state: "delivered",
  history: [{ state: "queued", at: AT }],
};
const text = { sender: SENDER, number: PERSON, message: "Your parcel is on its way." };
const media = {
  sender: SENDER,
  number: PERSON,
  media_type: "image",
  url: "https://example.com/menu.jpg",
  caption: "Today's menu",
};
const sticker = { sender: SENDER, number: PERSON, url: "https://example.com/hello.png" };
const poll = {
  sender: SENDER,
  number: PERSON,
  name: "When do we meet?",
  option: ["Monday", "Tuesday"],
  countable: "1",
};
const place = {
  sender: SENDER,
  number: PERSON,
  latitude: 52.3731,
  longitude: 4.8926,
  name: "Corner shop",
  address: "Dam 1, Amsterdam",
};
const cards = {
  sender: SENDER,
  number: PERSON,
  contacts: [{ name: "Ana Lima", numbers: ["31600000002"], organization: "Corner shop" }],
};
const shownChat = {
  archived: false,
  pinned: false,
  muted_until: null,
  marked_unread: false,
  disappearing: 0,
};
const person = {
  number: PERSON,
  lid: "123456789012345@lid",
  name: "Ana from the bakery",
  push_name: "Ana",
  verified_name: "Ana's Bakery",
};
const account = { id: ACCOUNT, name: "Corner shop", plan: "basic", enabled: true, created_at: AT };
const sessionTimes = {
  created_at: AT,
  idle_ends_at: "2026-11-21T17:30:00.000Z",
  expires_at: "2026-11-28T09:30:00.000Z",
};
const session = {
  id: SESSION,
  kind: "key",
  account: { id: ACCOUNT, name: "Corner shop" },
  permissions: ["*"],
  devices: null,
  recipients: null,
  csrf: "nY0cFJ0o6xG0m3k8bq2dH4sV7w1zT5uL9aRpXeCiQyM",
  ...sessionTimes,
};
const change = {
  id: "17",
  at: AT,
  who: { kind: "key", id: KEY_ID, name: "Web shop" },
  account: ACCOUNT,
  what: "putWebhook",
  target: SENDER,
  changes: { url: "https://crm.example/…", headers: "(given)" },
  request_id: "0b6f7a52-6c3f-4e0e-9a54-0f3f7a1c2b3d",
  address: "203.0.113.7",
};
const link = {
  id: SESSION,
  device: SENDER,
  created_at: AT,
  expires_at: "2026-11-21T10:30:00.000Z",
  last_used_at: null,
  made_by: { kind: "key", name: "Web shop" },
};
const linkUrl = "https://gateway.example/console/link#zX0cFJ0o6xG0m3k8bq2dH4sV7w1zT5uL9aRpXeCiQyM";
const newLink = one(
  "Link created. It is shown only now.",
  { ...link, url: linkUrl },
  { id: SESSION, url: linkUrl, expires_at: link.expires_at },
);
const key = {
  id: KEY_ID,
  name: "Web shop",
  permissions: ["messages", "media"],
  devices: [SENDER],
  recipients: null,
  expires_at: null,
  created_at: AT,
  last_used_at: null,
  prefix: "parley_4fQ8",
};
const newKey = { name: "Web shop", permissions: ["messages", "media"], devices: [SENDER] };
const device = {
  device: SENDER,
  state: "connected",
  since: AT,
  last_in: AT,
  last_out: null,
  lid: "123456789012345@lid",
  name: "Corner shop",
  platform: "android",
  reachout: null,
  waiting: null,
  new_chats: null,
  calls: "reject",
  calls_text: "We take no calls here. Please write to us.",
  proxy: null,
};
const assertion = {
  id: "AbCdEfGhIjKlMnOpQrStUw",
  rawId: "AbCdEfGhIjKlMnOpQrStUw",
  type: "public-key",
  response: {
    clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0In0",
    authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
    signature: "MEUCIQDabc",
  },
};
const profile = {
  device: SENDER,
  name: "Corner shop",
  about: "Open until six",
  picture_url: "https://pps.whatsapp.net/v/t61.24694-24/1234.jpg",
};
const group = {
  id: "120363000000000001@g.us",
  name: "Regulars",
  participants: 12,
  only_admins: false,
  is_member: true,
  is_admin: false,
  can_send: true,
};
const GROUP = { id: group.id };
const groupDetails = {
  ...group,
  description: "For those who come often",
  owner: SENDER,
  created_at: AT,
  members: [{ number: PERSON, lid: "123456789012345@lid", admin: false }],
  announce: false,
  locked: false,
  join_approval: false,
  disappearing: 0,
  community: null,
};
const added = { results: [{ number: PERSON, status: true }] };
const invited = {
  invite: "AbCdEfGhIjKlMnOpQrStUv",
  link: "https://chat.whatsapp.com/AbCdEfGhIjKlMnOpQrStUv",
};
const channel = { id: "120363000000000009@newsletter", name: "Offers", role: "owner", can_send: true };
const webhook = {
  ...webhookInput.parse({ url: "https://example.com/whatsapp", timeout_ms: 15_000 }),
  health: { state: "ok", failures: 0, failing_since: null, paused_until: null, reason: null },
};
const listener = {
  id: "lst_4c1d2e3f4a5b6c7d",
  url: "https://crm.example.com/whatsapp",
  events: ["message", "own"],
  chats: ["4915*"],
  bots: null,
  headers: {},
  timeout_ms: 15_000,
  enabled: true,
  health: webhook.health,
};
const ofListener = { number: SENDER, id: listener.id };
const delivery = {
  id: DELIVERY,
  device: SENDER,
  listener: null,
  message_id: "3AEB64C1D2E3F4A5B6C7",
  type: "text",
  url: "https://example.com/whatsapp",
  state: "delivered",
  attempts: [{ at: AT, status_code: 200, duration_ms: 84, error: null, answer: '{"message":"Until six."}' }],
  next_at: null,
  reply: { understood: true, ignored: [], ids: [MESSAGE] },
};
const listed = {
  id: "3AEB64C1D2E3F4A5B6C7",
  sender: SENDER,
  chat: PERSON,
  direction: "in",
  from: PERSON,
  type: "text",
  message: "When do you close?",
  at: AT,
  answered_by: "webhook",
};
const binding = {
  id: "menu",
  priority: 10,
  enable: "bound",
  routes: [{ kind: "keyword", pattern: "menu" }],
  warnings: [],
  schema: null,
  enabled: true,
  config: null,
};

const routes = {
  routes: [
    { bot: "menu", priority: 10, chats: ["dm"], kind: "keyword", pattern: "menu" },
    { bot: "shop", priority: 50, chats: ["dm"], kind: "keyword", pattern: "menu" },
  ],
  conflicts: [
    {
      kind: "same_word",
      winner: { bot: "menu", route: "keyword:menu" },
      loser: { bot: "shop", route: "keyword:menu" },
      text: 'shop (keyword:menu) is asked only when menu (keyword:menu) passes: both take "menu".',
    },
  ],
};

const node = {
  node: "gateway-1",
  partitions: 256,
  numbers: 12,
  lag_ms: 0,
  version: "0.1.0",
  since: "2026-11-21T08:00:00.000Z",
};
const happened = {
  in: 12,
  out: 11,
  answered_by: { bot: 9, webhook: 2, nobody: 1 },
  failed: 0,
  p50_ms: 18,
  p95_ms: 140,
  posts: 3,
  post_failures: 1,
};
const stats = says("Statistics.", {
  total: 1,
  data: [{ at: "2026-11-21T09:00:00.000Z", ...happened }],
  sum: happened,
  complete_since: null,
  partial: false,
});
const ofDevice = { number: SENDER };
const ofAccount = { id: ACCOUNT };

/** By method and path. */
export const EXAMPLES: Record<string, Example> = {
  "POST /send-message": { input: text, output: sent },
  "GET /send-message": { input: text, output: sent },
  "POST /send-media": { input: media, output: sent },
  "GET /send-media": { input: media, output: sent },
  "POST /send-sticker": { input: sticker, output: sent },
  "POST /uploads": {
    input: { sender: SENDER, data: "JVBERi0xLjcK", size: 9, name: "menu.pdf" },
    output: one("Part kept.", {
      id: "mu_0f3a1c5e7b9d2f4a6c8e0b1d",
      received: 9,
      url: "https://gateway.example/media/Up-1-0f3a1c5e7b9d2f4a6c8e0b1d-tlc5ug.nY0cFJ0o6xG0m3k8bq2dH4sV7w1zT5uL9aRpXeCiQyM",
      expires_at: "2026-11-22T09:30:00.000Z",
    }),
  },
  "POST /send-poll": { input: poll, output: sent },
  "GET /send-poll": { input: poll, output: sent },
  "POST /send-location": { input: place, output: sent },
  "POST /send-contact": { input: cards, output: sent },
  "GET /messages/{id}": {
    path: { id: MESSAGE },
    output: one("Message.", {
      id: MESSAGE,
      sender: SENDER,
      number: PERSON,
      kind: "text",
      origin: "api",
      state: "delivered",
      history: [
        { state: "queued", at: AT },
        { state: "sent", at: AT },
        { state: "delivered", at: AT },
      ],
    }),
  },
  "GET /messages": {
    input: { sender: SENDER, chat: PERSON, limit: 20 },
    output: { ...page("Messages.", listed), next: "1795253400000.84" },
  },
  "GET /messages/{id}/trace": {
    path: { id: listed.id },
    output: one("The way of the message.", {
      id: listed.id,
      sender: SENDER,
      chat: PERSON,
      direction: "in",
      type: "text",
      outcome: "answered",
      silence: null,
      steps: [
        { step: "sent", at: AT, ms: null },
        {
          step: "stored",
          at: AT,
          ms: null,
          commit: { name: "T1", held: ["ratchet", "ciphertext_hash", "inbox"] },
        },
        { step: "lane", at: AT, ms: 0, count: 0 },
        { step: "guard", at: null, ms: null, by: "guard:too_old", outcome: "passed" },
        { step: "asked", at: null, ms: null, by: "bot:menu", outcome: "answered", route: "keyword:menu" },
        {
          step: "decided",
          at: AT,
          ms: 3,
          by: "bot:menu",
          route: "keyword:menu",
          commit: { name: "T2", held: ["decision", "replies", "session", "ratchet"] },
        },
        { step: "reply", at: AT, ms: null, id: MESSAGE, by: "bot:menu", outcome: "delivered" },
        { step: "acknowledged", at: AT, ms: null, id: MESSAGE },
        { step: "delivered", at: AT, ms: null, id: MESSAGE },
      ],
    }),
  },
  "GET /chats": {
    input: { sender: SENDER, limit: 20 },
    output: page("Chats.", {
      sender: SENDER,
      chat: PERSON,
      name: "Ana",
      is_group: false,
      last: { id: listed.id, at: AT, direction: "in", type: "text", message: listed.message },
      unanswered: true,
      unread: 1,
      taken_over_until: null,
      bot: null,
      ...shownChat,
    }),
  },
  "PATCH /chats/{chat}": {
    path: { chat: PERSON },
    input: { sender: SENDER, pinned: true, disappearing: 604_800 },
    output: one("Chat changed.", {
      sender: SENDER,
      chat: PERSON,
      ...shownChat,
      pinned: true,
      disappearing: 604_800,
    }),
  },
  "POST /chats/{chat}/presence": {
    path: { chat: PERSON },
    input: { sender: SENDER, seconds: 600 },
    output: one("Watched.", { sender: SENDER, chat: PERSON, until: AT }),
  },
  "POST /chats/{chat}/read": {
    path: { chat: PERSON },
    input: { sender: SENDER },
    output: one("Read.", { sender: SENDER, chat: PERSON }),
  },
  "GET /scheduled": {
    input: { sender: SENDER },
    output: page("Scheduled messages.", {
      ...listed,
      direction: "out",
      from: SENDER,
      message: "See you tomorrow.",
      send_at: AT,
      state: "scheduled",
      by: "api:Web shop",
    }),
  },
  "PATCH /messages/{id}": {
    path: { id: MESSAGE },
    input: { message: "We close at six." },
    output: {
      ...sent,
      message: "Message edited!",
      msg: "Message edited!",
      data: { ...sentText, edited: true },
    },
  },
  "DELETE /messages/{id}": {
    path: { id: MESSAGE },
    input: {},
    output: {
      ...sent,
      message: "Message deleted!",
      msg: "Message deleted!",
      data: { ...sentText, revoked: true },
    },
  },
  "POST /messages/{id}/forward": {
    path: { id: MESSAGE },
    input: { number: PERSON },
    output: { ...sent, data: sentText },
  },
  "POST /messages/{id}/reaction": {
    path: { id: "3AB76A4834DAC11892A5" },
    input: { emoji: "👍" },
    output: {
      ...says("Message sent successfully!", {
        results: [{ number: PERSON, status: true, state: "sent", id: "3EB0C7A1E2F9B4D6A8C0E1" }],
        id: "3EB0C7A1E2F9B4D6A8C0E1",
        state: "sent",
      }),
      data: {
        id: "3AB76A4834DAC11892A5",
        sender: SENDER,
        number: PERSON,
        kind: "text",
        origin: "contact",
        state: null,
        history: [],
      },
    },
  },
  "POST /chats/{chat}/typing": {
    path: { chat: PERSON },
    input: { sender: SENDER, state: "typing", seconds: 10 },
    output: one("Shown.", { sender: SENDER, chat: PERSON, state: "typing" }),
  },
  "POST /chats/{chat}/takeover": {
    path: { chat: PERSON },
    input: { sender: SENDER, minutes: 60 },
    output: one("Bots pause in this chat.", { sender: SENDER, chat: PERSON, taken_over_until: AT }),
  },
  "DELETE /chats/{chat}/takeover": {
    path: { chat: PERSON },
    input: { sender: SENDER },
    output: one("Bots go on in this chat.", { sender: SENDER, chat: PERSON, taken_over_until: null }),
  },
  "POST /groups": {
    input: { sender: SENDER },
    output: says("Groups.", { total: 1, data: [group], cached_at: AT, stale: false }),
  },
  "GET /groups/{id}": {
    path: GROUP,
    input: { sender: SENDER },
    output: one("Group.", groupDetails),
  },
  "PATCH /groups/{id}": {
    path: GROUP,
    input: { sender: SENDER, name: "Regulars", announce: true },
    output: one("Group changed.", { ...groupDetails, announce: true, only_admins: true }),
  },
  "POST /groups/create": {
    input: { sender: SENDER, name: "Regulars", participants: [PERSON] },
    output: one("Group created.", groupDetails, { results: [{ number: PERSON, added: true }] }),
  },
  "POST /groups/{id}/participants": {
    path: GROUP,
    input: { sender: SENDER, action: "add", numbers: [PERSON] },
    output: says("Members changed.", added),
  },
  "GET /groups/{id}/invite": {
    path: GROUP,
    input: { sender: SENDER },
    output: one("Invite link.", invited),
  },
  "POST /groups/{id}/invite": {
    path: GROUP,
    input: { sender: SENDER },
    output: one("New invite link.", invited),
  },
  "POST /groups/join": {
    input: { sender: SENDER, invite: invited.link },
    output: says("Joined.", { id: group.id, state: "joined" }),
  },
  "POST /groups/{id}/leave": {
    path: GROUP,
    input: { sender: SENDER },
    output: says("Left.", { id: group.id }),
  },
  "GET /groups/{id}/requests": {
    path: GROUP,
    input: { sender: SENDER },
    output: says("Requests.", { data: [{ number: PERSON, lid: null, at: AT }] }),
  },
  "POST /groups/{id}/requests": {
    path: GROUP,
    input: { sender: SENDER, action: "approve", numbers: [PERSON] },
    output: says("Requests answered.", added),
  },
  "POST /resolve-lid": {
    input: { sender: SENDER, lid: "123456789012345@lid" },
    output: says("Number found.", { lid: "123456789012345@lid", number: PERSON }),
  },
  "POST /check-numbers": {
    input: { sender: SENDER, numbers: [PERSON] },
    output: says("Numbers checked.", {
      total: 1,
      data: [{ number: PERSON, exists: true, lid: "123456789012345@lid", checked_at: AT }],
    }),
  },
  "GET /contacts": {
    input: { sender: SENDER, q: "ana" },
    output: page("Contacts.", { ...person, business: true }),
  },
  "GET /contacts/{contact}": {
    path: { contact: PERSON },
    input: { sender: SENDER },
    output: one("Contact.", {
      ...person,
      about: "Fresh bread from six",
      picture_url: "https://pps.whatsapp.net/v/t61/n.jpg",
      business: {
        description: "Bread and cake",
        website: "https://example.com",
        email: "ana@example.com",
        address: "Dam 1, Amsterdam",
        hours: {
          timezone: "Europe/Amsterdam",
          days: [{ day: "mon", mode: "specific_hours", open: "08:00", close: "18:00" }],
        },
      },
      checked_at: AT,
    }),
  },
  "PUT /contacts/{contact}/block": {
    path: { contact: PERSON },
    input: { sender: SENDER },
    output: one("Blocked.", { sender: SENDER, contact: PERSON, blocked: true }),
  },
  "DELETE /contacts/{contact}/block": {
    path: { contact: PERSON },
    input: { sender: SENDER },
    output: one("No longer blocked.", { sender: SENDER, contact: PERSON, blocked: false }),
  },
  "GET /channels": { input: { sender: SENDER }, output: page("Channels.", channel) },
  "POST /channels": {
    input: { sender: SENDER, channel: "https://whatsapp.com/channel/0029VaAbCdEfGhIjKlMnOp1q" },
    output: one("Channel registered.", channel),
  },
  "DELETE /channels/{id}": {
    path: { id: channel.id },
    input: { sender: SENDER },
    output: says("Channel removed."),
  },
  "GET /media/{token}": { path: { token: "the-last-part-of-media.url" } },
  "POST /generate-qr": {
    input: { device: SENDER },
    output: {
      ...says("Please scan the QR code", {
        state: "qr",
        qrcode: "data:image/png;base64,iVBORw0KGgo=",
        qr: "2@AbCdEf",
        expires_in: 20,
      }),
      status: false,
    },
  },
  "GET /devices/{number}/profile": { path: ofDevice, output: one("Profile.", profile) },
  "PATCH /devices/{number}/profile": {
    path: ofDevice,
    input: { about: "Open until six", picture_url: "https://example.com/shop.jpg" },
    output: one("Profile changed.", profile),
  },
  "GET /devices": { output: page("Devices.", device) },
  "POST /devices": { input: { device: SENDER }, output: one("Device registered.", device) },
  "GET /devices/{number}": { path: ofDevice, output: one("Device.", device) },
  "PATCH /devices/{number}": {
    path: ofDevice,
    input: { calls: "reject", calls_text: "We take no calls here. Please write to us." },
    output: one("Device changed.", device),
  },
  "DELETE /devices/{number}": { path: ofDevice, output: says("Device deleted.") },
  "POST /devices/{number}/logout": {
    path: ofDevice,
    output: one("Device logged out.", { ...device, state: "unlinked" }),
  },
  "GET /devices/{number}/audit": {
    path: { number: SENDER },
    input: { since: AT },
    output: one("0 messages lost since 2026-11-21T09:30:00.000Z; 1 came late.", {
      since: AT,
      until: "2026-11-21T12:00:00.000Z",
      lost: 0,
      received: 214,
      answered_or_forwarded: 214,
      pending: 0,
      awaited: 0,
      recovered: 1,
      connections: [{ opened_at: AT, closed_at: null, code: null, announced: 3, arrived: 3 }],
      missing: [
        {
          id: MESSAGE,
          chat: PERSON,
          from: PERSON,
          reason: "undecryptable",
          state: "arrived",
          noticed_at: AT,
          resolved_at: "2026-11-21T09:30:02.000Z",
        },
      ],
    }),
  },
  "GET /devices/{number}/why": {
    path: ofDevice,
    output: one("Explanation.", {
      state: "connecting",
      reason: null,
      since: AT,
      until: null,
      last_close: { code: 408, reason: "timed out", at: AT },
      next_retry_at: AT,
      waiting: null,
      reachout: null,
      warm_up: null,
      webhook: null,
      advice: "The line to WhatsApp was lost; it is opened again by itself.",
    }),
  },
  "POST /devices/{number}/passkey": {
    path: ofDevice,
    input: { assertion },
    output: says("WhatsApp has received the passkey's answer.", { state: "linking" }),
  },
  "POST /devices/{number}/passkey/confirm": {
    path: ofDevice,
    output: says("Linking.", { state: "linking" }),
  },
  "GET /devices/{number}/webhook": { path: ofDevice, output: one("Webhook.", webhook) },
  "PUT /devices/{number}/webhook": {
    path: ofDevice,
    input: { url: "https://example.com/whatsapp" },
    output: one("Webhook saved.", webhook, { secret: SECRET }),
  },
  "DELETE /devices/{number}/webhook": { path: ofDevice, output: says("Webhook deleted.") },
  "POST /devices/{number}/webhook/rotate": {
    path: ofDevice,
    output: one("Secret rotated. The new one is shown this once.", webhook, { secret: SECRET }),
  },
  "POST /devices/{number}/webhook/test": {
    path: ofDevice,
    output: one("Sample event posted.", {
      status_code: 200,
      duration_ms: 61,
      answer: '{"message":"Hello"}',
      understood: true,
      error: null,
      request: {
        method: "POST",
        url: "https://example.com/whatsapp",
        headers: {
          "user-agent": "Parley",
          "content-type": "application/json",
          "webhook-id": DELIVERY,
          "webhook-timestamp": "1788274800",
          "webhook-signature": "v1,SkQCjVcA1IvJHm3nDPtFdV4mYNGvK0qWmT4fQ5hTgmY=",
        },
        body: '{"message":"This is a test of your webhook.","from":"31600000001"}',
      },
      replies: [{ kind: "text", text: "Hello", quoted: false }],
      ignored: [],
      hold: null,
    }),
  },
  "GET /devices/{number}/webhooks": { path: ofDevice, output: many("Listeners.", listener) },
  "POST /devices/{number}/webhooks": {
    path: ofDevice,
    input: { url: listener.url, events: listener.events, chats: listener.chats },
    output: one("Listener added. Its secret is shown this once.", listener, { secret: SECRET }),
  },
  "PATCH /devices/{number}/webhooks/{id}": {
    path: ofListener,
    input: { chats: null },
    output: one("Listener changed.", { ...listener, chats: null }),
  },
  "DELETE /devices/{number}/webhooks/{id}": { path: ofListener, output: says("Listener removed.") },
  "POST /devices/{number}/webhooks/{id}/rotate": {
    path: ofListener,
    output: one("Secret rotated. The new one is shown this once.", listener, { secret: SECRET }),
  },
  "GET /deliveries": { input: { device: SENDER, limit: 20 }, output: page("Deliveries.", delivery) },
  "GET /deliveries/{id}": { path: { id: DELIVERY }, output: one("Delivery.", delivery) },
  "POST /deliveries/{id}/replay": {
    path: { id: DELIVERY },
    output: one("Delivery queued again.", { ...delivery, state: "pending", next_at: AT }),
  },
  "POST /deliveries/replay": {
    input: { device: SENDER, state: "dead", since: AT },
    output: says("Deliveries queued again.", { replayed: 12 }),
  },
  "GET /bots": {
    output: many("Bots.", {
      id: "menu",
      priority: 10,
      enable: "always",
      routes: [{ kind: "keyword", pattern: "menu" }],
      warnings: [],
      schema: null,
    }),
  },
  "GET /devices/{number}/bots": {
    path: ofDevice,
    output: many("Bots of the device.", binding),
  },
  "PUT /devices/{number}/bots": {
    path: ofDevice,
    input: { bots: [{ id: "menu", enabled: true, priority: 10 }] },
    output: many("Bots of the device saved.", binding),
  },
  "PATCH /devices/{number}/bots": {
    path: ofDevice,
    input: { bots: [{ id: "menu", enabled: true }] },
    output: many("Bots of the device saved.", binding),
  },
  "POST /bots/fork": {
    input: { sender: SENDER, chat: "4915100000001", says: ["and on sunday?"] },
    output: one("Told again.", {
      turns: [
        {
          who: "user",
          as: null,
          said: ["are you open?"],
          before: [{ who: "bot", text: "Until 18:00." }],
          now: [{ who: "bot", text: "Until 19:00." }],
          same: false,
        },
        {
          who: "user",
          as: null,
          said: ["and on sunday?"],
          before: null,
          now: [{ who: "bot", text: "On Sunday we are closed." }],
          same: true,
        },
      ],
      bots: [{ id: "opening-hours", from: "folder" }],
      complete: true,
      differences: 1,
      troubles: [],
      logged: [],
      story: "story: A conversation that was continued in the sandbox\nsays:\n  - user: are you open?\n",
    }),
  },
  "GET /bots/routes": { output: one("Routes.", routes) },
  "GET /devices/{number}/bots/routes": { path: ofDevice, output: one("Routes of the device.", routes) },
  "GET /devices/{number}/dialogues": {
    path: ofDevice,
    output: page("Dialogues.", {
      chat: PERSON,
      participant: null,
      bot: "shop",
      dialogue: "order",
      updated_at: AT,
      expires_at: "2026-11-22T09:30:00.000Z",
    }),
  },
  "GET /devices/{number}/decisions": {
    path: ofDevice,
    input: { message: MESSAGE, limit: 20 },
    output: page("Decisions.", {
      message_id: MESSAGE,
      chat: PERSON,
      type: "text",
      by: "bot:shop",
      route: "form:order",
      guard: null,
      trail: [{ by: "bot:shop", outcome: "answered", route: "form:order", detail: "name answered" }],
      at: AT,
    }),
  },
  "GET /events": {},
  "POST /mcp": {
    input: {
      jsonrpc: "2.0",
      id: 2,
      method: "tools/call",
      params: { name: "send_text", arguments: text },
    },
    output: {
      jsonrpc: "2.0",
      id: 2,
      result: {
        isError: false,
        structuredContent: sent,
        content: [{ type: "text", text: JSON.stringify(sent) }],
      },
    },
  },
  "GET /account": {
    output: one("Account.", {
      id: ACCOUNT,
      name: "Corner shop",
      plan: "basic",
      limits: { devices: 1, keys: 5, sends_per_day: 1000 },
      used: { devices: 1, keys: 2, sends_per_day: 17 },
    }),
  },
  "GET /api-keys": { output: page("API keys.", key) },
  "POST /api-keys": {
    input: newKey,
    output: one("API key created. It is shown only now.", key, { api_key: NEW_KEY }),
  },
  "DELETE /api-keys/{id}": { path: { id: KEY_ID }, output: says("API key deleted.") },
  "POST /api-keys/{id}/rotate": {
    path: { id: KEY_ID },
    output: one("API key rotated. The new key is shown only now.", key, { api_key: NEW_KEY }),
  },
  "POST /console/session": { input: { key: NEW_KEY }, output: signedIn("Signed in.", session) },
  "GET /console/sessions": {
    output: many("Sessions.", {
      id: SESSION,
      kind: "key",
      account: { id: ACCOUNT, name: "Corner shop" },
      ...sessionTimes,
      last_used_at: AT,
      address: "203.0.113.7",
      user_agent: "Mozilla/5.0",
      current: true,
    }),
  },
  "DELETE /console/sessions/{id}": { path: { id: SESSION }, output: says("Session ended.") },
  "GET /console/session": { output: signedIn("Signed in.", session) },
  "DELETE /console/session": { output: says("Signed out.") },
  "PUT /console/session/account": {
    input: { account: ACCOUNT },
    output: signedIn("Account chosen.", { ...session, kind: "operator" }),
  },
  "GET /log": { output: page("Changes.", change) },
  "GET /admin/log": { output: page("Changes.", change) },
  "POST /devices/{number}/magic-link": { path: { number: SENDER }, input: { minutes: 30 }, output: newLink },
  "GET /links": { output: page("Links.", link) },
  "DELETE /devices/{number}/magic-link/{id}": {
    path: { number: SENDER, id: SESSION },
    output: says("Link withdrawn."),
  },
  "GET /admin/accounts/{id}/links": { path: ofAccount, output: page("Links.", link) },
  "POST /admin/accounts/{id}/links": { path: ofAccount, input: { device: SENDER }, output: newLink },
  "DELETE /admin/accounts/{id}/links/{linkId}": {
    path: { id: ACCOUNT, linkId: SESSION },
    output: says("Link withdrawn."),
  },
  "POST /admin/accounts": {
    input: { name: "Corner shop", plan: "basic" },
    output: says("Account created. The key is shown only now.", { account, api_key: NEW_KEY }),
  },
  "GET /admin/accounts": { output: page("Accounts.", account) },
  "GET /admin/accounts/{id}": { path: ofAccount, output: one("Account.", account) },
  "PATCH /admin/accounts/{id}": {
    path: ofAccount,
    input: { enabled: false },
    output: one("Account changed.", { ...account, enabled: false }),
  },
  "DELETE /admin/accounts/{id}": { path: ofAccount, output: says("Account deleted.") },
  "GET /admin/accounts/{id}/api-keys": { path: ofAccount, output: page("API keys.", key) },
  "POST /admin/accounts/{id}/api-keys": {
    path: ofAccount,
    input: newKey,
    output: one("API key created. It is shown only now.", key, { api_key: NEW_KEY }),
  },
  "DELETE /admin/accounts/{id}/api-keys/{keyId}": {
    path: { id: ACCOUNT, keyId: KEY_ID },
    output: says("API key deleted."),
  },
  "GET /admin/accounts/{id}/devices": { path: ofAccount, output: page("Devices.", device) },
  "POST /admin/accounts/{id}/devices": {
    path: ofAccount,
    input: { device: SENDER },
    output: one("Device registered.", { ...device, state: "unlinked" }),
  },
  "GET /admin/accounts/{id}/devices/{number}/contacts/{contact}": {
    path: { id: ACCOUNT, number: SENDER, contact: "31600000002" },
  },
  "DELETE /admin/accounts/{id}/devices/{number}/contacts/{contact}": {
    path: { id: ACCOUNT, number: SENDER, contact: "31600000002" },
    output: one("Contact erased.", { erased: { inbox: 12, outbox: 9, decisions: 12 }, waiting: 0 }),
  },
  "POST /admin/backup": {},
  "GET /admin/alerts": {
    output: one("Alerts.", {
      host: "hooks.example.com",
      signed: true,
      telling: {
        delivered_at: AT,
        failing_since: null,
        failures: 0,
        last_error: null,
        next_attempt_at: null,
        given_up: 0,
      },
      open: [
        {
          id: "al_3f9c1b7ad25e6084c1",
          alert: "number_logged_out",
          status: "open",
          since: AT,
          until: null,
          account: ACCOUNT,
          device: SENDER,
          node: null,
          text: `+${SENDER} was logged out.`,
          advice: "The phone or WhatsApp removed this linked device. Link it again with POST /generate-qr.",
        },
      ],
    }),
  },
  "POST /admin/alerts/test": {
    output: one("A sample was posted.", {
      delivered: true,
      status_code: 200,
      duration_ms: 48,
      error: null,
    }),
  },
  "GET /admin/nodes": { output: many("Nodes.", node) },
  "GET /admin/health": {
    output: one("Health.", {
      version: "0.1.0",
      node: "v24.1.0",
      whatsapp_version: { version: "2.3000.1029498811", refused: false },
      started_at: "2026-11-21T08:00:00.000Z",
      uptime_seconds: 5400,
      accounts: 1,
      numbers: { total: 1, by_state: { connected: 1 } },
      queues: {
        measured_at: AT,
        inbox: { waiting: 0, oldest_at: null },
        outbox: { waiting: 1, oldest_at: AT },
        deliveries: { pending: 0, retrying: 2, dead: 1 },
      },
      stalls: { longest_ms: 0, latest: [] },
      storage: {
        measured_at: AT,
        database_bytes: 18_874_368,
        media_bytes: 4_194_304,
        free_bytes: 21_474_836_480,
        total_bytes: 42_949_672_960,
      },
      backup: { at: "2026-11-21T03:00:00.000Z", bytes: 9_437_184 },
      retention: {
        days: 30,
        started_at: AT,
        ended_at: AT,
        next_at: "2026-11-21T10:30:00.000Z",
        failed: false,
      },
      nodes: [node],
    }),
  },
  "GET /admin/devices": {
    input: { q: "316", limit: 20 },
    output: page("Devices.", { ...device, account: { id: ACCOUNT, name: account.name } }),
  },
  "POST /admin/bots/reload": {
    output: many("Bots loaded again.", {
      id: "menu",
      priority: 10,
      enable: "bound",
      routes: [{ kind: "keyword", pattern: "menu" }],
      warnings: [],
      schema: null,
    }),
  },
  "GET /stats": { input: { hours: 1, sender: SENDER }, output: stats },
  "GET /admin/stats": { input: { hours: 1 }, output: stats },
  "GET /health/live": { output: says("Alive.") },
  "GET /health/ready": {
    output: says("Ready.", {
      checks: { database: true, disk: true, draining: false },
      longest_stall_ms: 0,
    }),
  },
  "GET /metrics": {},
  "GET /openapi.json": {},
  "GET /docs": {},
};
