/** What a test can make go wrong. */
import type { Address, PhoneNumber } from "./addresses.ts";

/** Every code of a closed connection that a client can meet. */
export type CloseCode =
  | 401
  | 402
  | 403
  | 405
  | 406
  | 408
  | 409
  | 411
  | 419
  | 428
  | 440
  | 500
  | 503
  | 515
  | 516
  | (number & {});

/** Where a fault applies: a linked number, and optionally one of its companions. */
export interface FaultTarget {
  number: PhoneNumber;
  device?: number;
}

/** Which requests to the media host a fault meets. */
export interface MediaTarget {
  direction: "upload" | "download";
  /** First part of the path (`image`, `document`…). Default: any. */
  type?: string;
}

/** How a message that was sent before is sent again. */
export type ResendForm =
  /** The very stanza that was delivered before, as the service repeats it. */
  | "same"
  /** Encrypted anew by its sender for one device, `enc` with a `count`: as after a retry receipt. */
  | "retry"
  /** Encrypted anew for the whole chat, with the same id: a phone that has missed the service's ack does so. */
  | "send";

/** Stanzas whose `t` attribute is not a time in seconds. */
export interface BadTime {
  /** How many. */
  n: number;
  /** What stands there instead. Default: a text that is no number. `null`: the attribute is missing. */
  t?: string | null;
}

/** Everything that can be made to go wrong. Over HTTP the methods are called `faults.<name>`. */
export interface SimulatorFaults {
  /** Cuts the connection instead of taking the `nth` (default 1) message receipt from now on: the stanza stays queued. */
  dropBeforeReceipt(target: FaultTarget & { nth?: number }): Promise<void>;
  /** Takes the `nth` (default 1) message receipt, then cuts the connection. */
  dropAfterReceipt(target: FaultTarget & { nth?: number }): Promise<void>;
  /**
   * Closes as the real service does: 401 device removed, 440 conflict, 515 and 516 as stream errors, 403, 405, 419, 500 and 503 as
   * `<failure>` at the next login when offline or `atLogin` (402 as well, a ban of `expire` seconds, with its `code`), 411 as `downgrade_webclient`, 428 as `xmlstreamend`,
   * 408 as silence (nothing is answered any more).
   */
  close(
    target: FaultTarget & {
      code: CloseCode;
      atLogin?: boolean;
      times?: number;
      expire?: number;
      banCode?: number;
    },
  ): Promise<void>;
  /**
   * Ends connections with `<stream:error>` and what is wrong as its child: a stanza that was not acknowledged (`<ack class id/>`, the oldest
   * one that still waits), bytes that make no sense, or anything else.
   */
  streamError(target: FaultTarget & { why: "ack" | "xml-not-well-formed" | "other" }): Promise<void>;
  /** The next `times` (default 1) companions that ask for linking a number by code are refused with a code (default 400). */
  refuseLinkingCode(target: { number: PhoneNumber; code?: number; times?: number }): Promise<void>;
  /** Delays the server's acks for messages, in milliseconds. 0 ends it. */
  delayAcks(target: FaultTarget & { ms: number }): Promise<void>;
  holdAcks(target: FaultTarget): Promise<void>;
  /** Lets held acks go, in order. Resolves with their number. */
  releaseAcks(target: FaultTarget): Promise<number>;
  /** Each of the next `n` message stanzas goes out twice. */
  duplicateStanzas(target: FaultTarget & { n: number }): Promise<void>;
  /**
   * Each of the next `n` messages comes twice: right after the first time its sender sends it again, with the same id and
   * content and another ciphertext. Default form: `retry`.
   */
  reencryptStanzas(target: FaultTarget & { n: number; as?: Exclude<ResendForm, "same"> }): Promise<void>;
  /**
   * Delivers a message once more, however long ago it came and whether it was acknowledged or not (the newest 5,000 stanzas
   * are known). Default form: `same`. `offline` marks it as one that waited. Rejects when it was never delivered.
   */
  redeliver(target: FaultTarget & { id: string; as?: ResendForm; offline?: boolean }): Promise<void>;
  /**
   * Keeps the next `n` messages back and then delivers them in another order: `order[0]` is the position, from 0, of the one
   * that goes first. Default: shuffled by the seed, never as they came. `clear` lets go what has not become `n`.
   */
  reorderStanzas(target: FaultTarget & { n: number; order?: number[] }): Promise<void>;
  /**
   * The next `n` messages arrive without content, as `<unavailable>` (`type`: its attribute, none by default): a companion is to ask
   * the owner's phone, which sends the message (`answers`, the default), says that it has none (`not_found`) or keeps
   * silent. `holdDeliveries` of device 0 makes the phone be offline.
   */
  placeholders(
    target: FaultTarget & { n: number; type?: string; phone?: "answers" | "not_found" | "silent" },
  ): Promise<void>;
  /**
   * The service's clock is wrong by so many seconds, as a number's companions (without a number: all) see it: `t` of
   * everything that is sent to them, `<success>` included. 0 ends it.
   */
  clockSkew(target: Partial<FaultTarget> & { seconds: number }): Promise<void>;
  /**
   * From now on the service neither reads from nor writes to the connections that are open, but does not end them either: no
   * FIN, no pong, no answer. A new login is served as always.
   */
  halfOpen(target: FaultTarget): Promise<void>;
  /**
   * Ends it. `resume`: what both sides have written meanwhile arrives; `drop` (default): the connection breaks.
   * Resolves with the number of connections.
   */
  endHalfOpen(target: FaultTarget & { how?: "resume" | "drop" }): Promise<number>;
  /** The open connections answer and acknowledge as always, but nothing is delivered on them; on later ones it is. */
  deaf(target: FaultTarget): Promise<void>;
  /** Delivers what was kept back. */
  endDeaf(target: FaultTarget): Promise<void>;
  /** So many bytes in a second arrive of everything that is sent, `pieceBytes` (default 1) in one WebSocket message. 0 ends it. */
  slowFrames(target: FaultTarget & { bytesPerSecond: number; pieceBytes?: number }): Promise<void>;
  /** What is sent within so many milliseconds comes as one WebSocket message with several frames. 0 ends it. */
  packFrames(target: FaultTarget & { ms: number }): Promise<void>;
  /** Every frame comes in several WebSocket messages of so many bytes. 0 ends it. */
  splitFrames(target: FaultTarget & { bytes: number }): Promise<void>;
  /**
   * The next frame (with a `tag`: of such a stanza) ends in its middle, and with it the connection: in an orderly way
   * (`close`, the default), or as if the line were cut.
   */
  truncateFrame(target: FaultTarget & { tag?: string; how?: "close" | "cut" }): Promise<void>;
  /** One byte of the next frame (with a `tag`: of such a stanza) is wrong, so that it does not decrypt. */
  corruptFrame(target: FaultTarget & { tag?: string }): Promise<void>;
  /**
   * The next `times` (default 1) IQs of a companion are lost: nothing happens and no answer comes. `xmlns`, `type` and `child`
   * (tag of the first child) say which; what is left out matches any.
   */
  unansweredIqs(
    target: FaultTarget & { xmlns?: string; type?: "get" | "set"; child?: string; times?: number },
  ): Promise<void>;
  /** The next `n` messages that are queued for a companion have a `t` that is not a time, also when they come again. */
  badMessageTimes(target: FaultTarget & BadTime): Promise<void>;
  /** The same for the next `n` receipts of others for its own messages: delivered, read, played. */
  badReceiptTimes(target: FaultTarget & BadTime): Promise<void>;
  /** `<ib><offline>` is not sent at the next logins until `restoreOffline`. */
  withholdOffline(target: FaultTarget): Promise<void>;
  restoreOffline(target: FaultTarget): Promise<void>;
  /** Answers the next `times` (default 1) WebSocket upgrades with an HTTP status. */
  refuseUpgrade(options: { status: number; times?: number }): Promise<void>;
  /** Refuses every client that names an older version than this (`2.3000.1`) with 405, linked or not. */
  refuseVersions(options: { below: string }): Promise<void>;
  /** Keeps stanzas for this number in its queue although it is online. */
  holdDeliveries(target: FaultTarget): Promise<void>;
  releaseDeliveries(target: FaultTarget): Promise<void>;
  /** Cuts the TCP connection without a close frame. */
  dropSocket(target: FaultTarget): Promise<void>;
  /** Refuses the next `times` (default 1) messages with an error ack (463, 479, 429, …). 0 ends it for the number. */
  errorAck(target: FaultTarget & { to?: Address; code: number; times?: number }): Promise<void>;
  /** Answers the next `times` (default 1) requests to the media host with a status: 5xx, or a refusal. */
  mediaStatus(fault: MediaTarget & { status: number; times?: number }): Promise<void>;
  /** The media host waits before it answers, or answers (and takes) so many bytes in a second, until `times` requests or `clear`. */
  mediaSlow(
    fault: MediaTarget & { delayMs?: number; bytesPerSecond?: number; times?: number },
  ): Promise<void>;
  /** The next `times` (default 1) downloads end early, have one byte changed, or stop in the middle for good. */
  mediaBroken(fault: {
    how: "truncated" | "corrupt" | "stalled";
    times?: number;
    type?: string;
  }): Promise<void>;
  /**
   * The file of a message is gone from the media host (default 404) until its sender's phone stores it again. Asked by
   * a companion, the phone does so (`reupload: 'again'`, the default), says that it has it no more, or keeps silent.
   */
  mediaGone(fault: {
    id: string;
    status?: 404 | 410;
    reupload?: "again" | "not_found" | "silent";
  }): Promise<void>;
  /**
   * The next `times` (default 1) questions of a number are answered with 429 `rate-overlimit`: those `of` one kind, by default for groups.
   * `child` is its first child's name, `context` that one's attribute. `backoff`: seconds after which it may ask again, as the answer says.
   */
  rateOverlimit(
    target: FaultTarget & {
      times?: number;
      backoff?: number;
      of?: { xmlns: string; type?: "get" | "set"; child?: string; context?: string };
    },
  ): Promise<void>;
  /** Routing information that clients were given so far (`ib > edge_routing`) leads nowhere from now on. See `edgeRouting`. */
  moveEdges(): Promise<void>;
  /**
   * The account may not write to people it never had a chat with: ack error 463, until `seconds` from now. Companions are
   * told by notification and may ask. 0 ends it.
   */
  reachoutTimelock(target: { number: PhoneNumber; seconds: number; type?: string }): Promise<void>;
  /**
   * The account may begin `total` chats, of which `used` (default 0) are begun, within so many seconds (default a day): further ones are
   * refused with 463. Companions are told by notification and may ask.
   */
  newChatQuota(target: {
    number: PhoneNumber;
    total: number;
    used?: number;
    seconds?: number;
  }): Promise<void>;
  /** Ends every fault that is still armed. */
  clear(): Promise<void>;
}
