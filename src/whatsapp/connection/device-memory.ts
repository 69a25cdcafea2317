import type { PossiblyExtendedCacheStore } from "@whiskeysockets/baileys";
import type { LRUCache } from "lru-cache";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../model/time.ts";
import type { KnownTimers } from "../send/chat-timers.ts";
import type { TargetForm } from "../send/targets.ts";
import { createLru } from "../../model/lru.ts";

/** What one number's connections hand on to the next one: Baileys would start anew with every socket. */
export interface DeviceMemory {
  /** Device lists by user, see `createDeviceLists`. */
  userDevices: PossiblyExtendedCacheStore;
  retryCounters: PossiblyExtendedCacheStore;
  callOffers: PossiblyExtendedCacheStore;
  placeholders: PossiblyExtendedCacheStore;
  /** Messages that the owner's phone was asked for, not to ask at every connection. */
  askedPhone: LRUCache<string, true>;
  /** How often device lists were dropped: an answer that was asked for before may be an old one. */
  dropped: { times: number };
  /** By chat: our hash of the devices that were written to, and another one that the server has answered. */
  participantHashes: LRUCache<string, string>;
  /** Addresses of numbers that WhatsApp knows under another form, and that form. */
  otherForms: LRUCache<string, string>;
  /** By which of two addresses somebody was reached, after WhatsApp had refused the usual one; by the address that was asked for. */
  acceptedForms: LRUCache<string, TargetForm>;
  /** After how long messages disappear, by chat. */
  timers: KnownTimers;
  /** When WhatsApp was asked last what the account may do, Unix milliseconds. */
  standing: { askedAt: number };
  /** Until when WhatsApp wants to be asked nothing, Unix milliseconds; 0: it has not said so. */
  asking: { pausedUntil: number };
  /** Users whose phone has new keys: their devices are asked for keys before the next message, whatever session there is. */
  newIdentities: LRUCache<string, true>;
  /** Addresses whose LID was asked for lately because WhatsApp said that it is not current. */
  refreshedLids: LRUCache<string, true>;
}

/** @param userDevices this number's part of the device lists that all numbers share */
export function createDeviceMemory(userDevices: PossiblyExtendedCacheStore): DeviceMemory {
  return {
    userDevices,
    retryCounters: createCacheStore(1_000, HOUR_MS),
    callOffers: createCacheStore(100, HOUR_MS),
    placeholders: createCacheStore(1_000, HOUR_MS),
    askedPhone: createLru(5_000, HOUR_MS),
    dropped: { times: 0 },
    participantHashes: createLru(5_000, MINUTE_MS),
    otherForms: createLru(5_000, DAY_MS),
    acceptedForms: createLru(5_000, DAY_MS),
    timers: createLru(5_000),
    standing: { askedAt: 0 },
    asking: { pausedUntil: 0 },
    newIdentities: createLru(5_000, DAY_MS),
    refreshedLids: createLru(5_000, MINUTE_MS),
  };
}

/** A bounded cache in the shape that Baileys asks for. Values are shared, not cloned. */
function createCacheStore(max: number, ttl: number): PossiblyExtendedCacheStore {
  const cache = createLru<string, NonNullable<unknown>>(max, ttl);
  return {
    get: <T>(key: string) => cache.get(key) as T | undefined,
    set: (key, value) => void cache.set(key, value as NonNullable<unknown>),
    del: (key) => void cache.delete(key),
    flushAll: () => cache.clear(),
  };
}
