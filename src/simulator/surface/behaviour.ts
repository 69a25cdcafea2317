/**
 * What WhatsApp does since 2026, each behaviour under a name. Which are on by default stands in `simulator/behaviour.ts`; off is the
 * service of the year before.
 */
export interface ServiceBehaviour {
  /**
   * `phash` of an ack as clients reckon it: `user.agent:device@server` of all devices, sorted, SHA-256, the first six bytes in base64 behind
   * `2:`; in groups as well. Off: six characters over other names, and never in groups.
   *
   * Source: whatsmeow `participantListHashV2` and `JID.ADString`.
   */
  wholePhash: boolean;
  /**
   * Companions hear of their own account's devices by `notification type=account_sync > devices@dhash > device@jid,key-index`, with the
   * whole list. Off: by `notification type=devices`, as everybody else. The owner's phone is told as before in both cases.
   *
   * Source: whatsmeow `handleAccountSyncNotification`, `handleOwnDevicesNotification`.
   */
  accountSync: boolean;
  /**
   * A backlog comes in windows: the first five stanzas by themselves, then so many as the client asks for by `<ib><offline_batch count>`.
   * Before it is drained there is no `<ib><offline>` and nothing live. Off: everything at once, unasked. Simulated phones are
   * given everything in both cases.
   *
   * Source: whatsapp-rust `src/client/offline_resume.rs`; zapo#269; Baileys#2810.
   */
  backlogWindows: boolean;
  /**
   * Receipts of a group's members come together: `<receipt id from=group type><participants key message_id><user jid t/></participants></receipt>`,
   * under an id of the receipt's own. Off: each by itself, under the message's id. Requests to send again always come by themselves.
   *
   * Source: whatsmeow `handleGroupedReceipt`; whatsapp-rust `src/receipt.rs`.
   */
  aggregatedReceipts: boolean;
  /**
   * An own device's copy of a message has its secret only beside `deviceSentMessage`, as WhatsApp Web writes it. Off: inside as well.
   * Both are read in both cases.
   *
   * Source: zapo `message/encode/device-sent.ts`; whatsmeow `message.go`.
   */
  secretOutsideOwnCopy: boolean;
  /**
   * Phones give every message a secret, and seal their edits with it: `secretEncryptedMessage` of type MESSAGE_EDIT. Off: the plain
   * `protocolMessage`. Both are read in both cases.
   *
   * Source: whatsmeow `msgsecret.go` (`EncSecretMessageEdit`); Baileys#2541, #2690.
   */
  sealedEdits: boolean;
  /**
   * Who leaves a group by himself is told of by `<remove>`, himself as the one who does it. Off: `<leave>`.
   *
   * Source: whatsmeow `group.go` (`parseGroupChange`), which knows no `leave`; Baileys `handleGroupNotification` tells the two apart by the actor.
   */
  leaveIsRemove: boolean;
  /**
   * Changes of a group's members, and of who may write, carry `v_id`; those of members `prev_v_id` as well. The group itself has them as
   * `p_v_id` and `a_v_id`. Off: none.
   *
   * Source: whatsmeow `group.go` (drops announcements without it); whatsapp-rust `wacore/src/stanza/groups.rs`.
   */
  groupVersions: boolean;
  /**
   * Who comes to a group gets the whole group, `<create>`; everybody else `<add>`. Off: `<add>` for all.
   *
   * Source: whatsmeow `types/events` (`JoinedGroup`).
   */
  joinersGetGroup: boolean;
  /**
   * A message to a group that names members by the other kind of address is refused with 421 and `addressing_mode` on the ack. Off: it is
   * passed on.
   *
   * Source: zapo `protocol/message.ts` (`STALE_GROUP_ADDRESSING_MODE`) and `WaMessageDispatchCoordinator`; Baileys#1807; nanoclaw#2688.
   */
  staleAddressing: boolean;
  /**
   * Changes of channels come as `notification type=mex > update@op_name` with the answer of a GraphQL query. Off: `<mex>` with
   * `{operation, updates}`.
   *
   * Source: whatsmeow `handleMexNotification`; zapo `client/types.ts` (names of operations).
   */
  channelUpdates: boolean;
  /**
   * People's phones address direct messages by LID: of an owner as of contacts, unless the other side is known by number alone. Off: by
   * number.
   *
   * Source: whatsmeow 4f8f64e0 (2026-07-13); Baileys#2331.
   */
  lidChats: boolean;
  /**
   * Phones give a privacy token (`trusted_contact`) to whom they write to, once in seven days; the service passes it on by `notification
   * type=privacy_token`. Off: nobody gives any by itself.
   *
   * Source: whatsmeow `tctoken.go`, `handlePrivacyTokenNotification`; whatsapp-rust `send/tctoken_lifecycle.rs`.
   */
  privacyTokens: boolean;
  /**
   * `devices` notifications carry hashes of the whole list by both addresses (`device_hash`, `device_lid_hash`) and the phone's signed list of
   * companions (`key-index-list`, in answers to `usync` as well). Off: neither.
   *
   * Source: whatsmeow `handleDeviceNotification`; whatsapp-rust `wacore/src/stanza/devices.rs`.
   */
  deviceHashes: boolean;
  /**
   * What one device of an account reads comes to its others as a receipt of the account itself: `read`, or `read-self` when the writer
   * is not to know. Off: nothing comes.
   *
   * Source: whatsmeow `parseReceipt`, `ReceiptTypeReadSelf`; whatsapp-rust `address_receipt`.
   */
  ownReading: boolean;
  /**
   * Devices that asked hear when somebody opens or closes the app, as far as he allows it; that, and who is typing, only while they are
   * available themselves. Off: everybody is unavailable, and typing is told to all.
   *
   * Source: whatsmeow `SubscribePresence`, `ChatPresence`.
   */
  presence: boolean;
  /**
   * Collections of app state have versions, patches and snapshots, and a conflict belongs to its collection. Off: every collection is
   * empty for ever, and what a client writes is refused as a whole.
   *
   * Source: whatsmeow `appstate.go`, `appstate/`; whatsapp-rust `patch_decode.rs`.
   */
  appState: boolean;
  /**
   * A connection that presents routing information which no device was given is cut before the handshake; without any it is taken. Off: any is
   * taken.
   *
   * Source: whatsapp-rust `wacore/noise/src/edge_routing.rs`; zapo `WaConnectionManager`, which then connects without. That it is cut is a guess.
   */
  edgeRouting: boolean;
}
