// Made from the OpenAPI document by `npm run build:client`: do not edit. On a conflict, make it again.

/** Requests that take an Idempotency-Key. */
export const SENDS: readonly string[] = [
  "POST /send-message",
  "GET /send-message",
  "POST /send-media",
  "GET /send-media",
  "POST /send-sticker",
  "POST /send-poll",
  "GET /send-poll",
  "POST /send-location",
  "POST /send-contact",
  "PATCH /messages/{id}",
  "DELETE /messages/{id}",
  "POST /messages/{id}/forward",
  "POST /messages/{id}/reaction",
];

/** Every path of the gateway with its methods. */
export interface paths {
    "/send-message": {
        /** Send text to 1 to 10 destinations */
        get: operations["sendMessageByGet"];
        /** Send text to 1 to 10 destinations */
        post: operations["sendMessage"];
    };
    "/send-media": {
        /** Send a file to 1 to 10 destinations */
        get: operations["sendMediaByGet"];
        /** Send a file to 1 to 10 destinations */
        post: operations["sendMedia"];
    };
    "/send-sticker": {
        /** Send a picture or a short GIF as a sticker to 1 to 10 destinations */
        post: operations["sendSticker"];
    };
    "/uploads": {
        /** Upload a file in parts; the last answer's `url` is for `/send-media` */
        post: operations["createUpload"];
    };
    "/send-poll": {
        /** Send a poll to 1 to 10 destinations */
        get: operations["sendPollByGet"];
        /** Send a poll to 1 to 10 destinations */
        post: operations["sendPoll"];
    };
    "/send-location": {
        /** Send a place on the map to 1 to 10 destinations */
        post: operations["sendLocation"];
    };
    "/send-contact": {
        /** Send the cards of 1 to 10 people to 1 to 10 destinations */
        post: operations["sendContact"];
    };
    "/messages/{id}": {
        /** What became of a message */
        get: operations["getMessage"];
        /** Take a message back for everyone, or keep one that waits from being sent */
        delete: operations["deleteMessage"];
        /** Give a message that was sent, or waits, another text or caption */
        patch: operations["editMessage"];
    };
    "/messages": {
        /** What numbers received and sent, newest first */
        get: operations["listMessages"];
    };
    "/messages/{id}/trace": {
        /** The way of a message: what happened when, who was asked, what was committed, and why nobody answered */
        get: operations["traceMessage"];
    };
    "/chats": {
        /** Chats of numbers with their last message, newest first */
        get: operations["listChats"];
    };
    "/chats/{chat}": {
        /** Archive, pin, mute or mark a chat, or let its messages disappear, as the phone shows it */
        patch: operations["changeChat"];
    };
    "/chats/{chat}/presence": {
        /** Let `presence` events of a chat come for a while; the number is online meanwhile, and its phone shows no notifications */
        post: operations["watchPresence"];
    };
    "/chats/{chat}/read": {
        /** Note that what there is in a chat was read, and send read receipts as the owner's privacy has them */
        post: operations["readChat"];
    };
    "/scheduled": {
        /** Messages that are to be sent later, newest first */
        get: operations["listScheduled"];
    };
    "/messages/{id}/forward": {
        /** Hand a message on to 1 to 10 destinations, marked as forwarded */
        post: operations["forwardMessage"];
    };
    "/messages/{id}/reaction": {
        /** React to a message with an emoji, or take the reaction back */
        post: operations["reactToMessage"];
    };
    "/chats/{chat}/typing": {
        /** Show in a chat that the number is typing or recording */
        post: operations["showTyping"];
    };
    "/chats/{chat}/takeover": {
        /** Pause the bots in a chat */
        post: operations["takeChatOver"];
        /** Let the bots go on in a chat */
        delete: operations["handChatBack"];
    };
    "/groups": {
        /** Groups of a number, cached for 60 seconds */
        post: operations["groups"];
    };
    "/groups/{id}": {
        /** A group with its members and settings, asked of WhatsApp now */
        get: operations["groupDetails"];
        /** Change a group's name, description, picture or settings */
        patch: operations["changeGroup"];
    };
    "/groups/create": {
        /** Make a group */
        post: operations["createGroup"];
    };
    "/groups/{id}/participants": {
        /** Add or remove members, or make them admins or no longer */
        post: operations["changeMembers"];
    };
    "/groups/{id}/invite": {
        /** The invite link of a group */
        get: operations["groupInvite"];
        /** Make a new invite link; the old one is no longer valid */
        post: operations["renewInvite"];
    };
    "/groups/join": {
        /** Join a group by its invite link */
        post: operations["joinGroup"];
    };
    "/groups/{id}/leave": {
        /** Leave a group */
        post: operations["leaveGroup"];
    };
    "/groups/{id}/requests": {
        /** Who has asked to join a group */
        get: operations["joinRequests"];
        /** Let people join who have asked, or not */
        post: operations["decideRequests"];
    };
    "/resolve-lid": {
        /** The phone number behind a LID */
        post: operations["resolveLid"];
    };
    "/check-numbers": {
        /** Which of up to 50 numbers are on WhatsApp; answers are kept for 24 hours */
        post: operations["checkNumbers"];
    };
    "/contacts": {
        /** People whom a number has written with, or has in its phone's address book; met last first */
        get: operations["listContacts"];
    };
    "/contacts/{contact}": {
        /** A person, with what WhatsApp shows of them; WhatsApp is asked at most every 24 hours */
        get: operations["getContact"];
    };
    "/contacts/{contact}/block": {
        /** Block a person: their direct messages and calls no longer arrive */
        put: operations["blockContact"];
        /** Let a person who was blocked in again */
        delete: operations["unblockContact"];
    };
    "/channels": {
        /** Registered channels of a number, newest first */
        get: operations["listChannels"];
        /** Register a channel by its invite link or id and follow it */
        post: operations["addChannel"];
    };
    "/channels/{id}": {
        /** Remove a channel and unfollow it */
        delete: operations["removeChannel"];
    };
    "/media/{token}": {
        /** Download a message's file by the signed address in `media.url` of a webhook event or of `GET /messages` */
        get: operations["getMedia"];
    };
    "/generate-qr": {
        /** Link a number; call again until it is connected */
        post: operations["generateQr"];
    };
    "/devices/{number}/profile": {
        /** What a number shows of itself, asked of WhatsApp now */
        get: operations["getProfile"];
        /** Change a number's name, text or picture; at most 10 changes an hour */
        patch: operations["changeProfile"];
    };
    "/devices": {
        /** Numbers of the account, newest first */
        get: operations["listDevices"];
        /** Register a number without linking it */
        post: operations["createDevice"];
    };
    "/devices/{number}": {
        /** One number */
        get: operations["getDevice"];
        /** Log a number out and erase it */
        delete: operations["deleteDevice"];
        /** Change what a number does with calls, and its proxy */
        patch: operations["changeDevice"];
    };
    "/devices/{number}/logout": {
        /** Log a number out; its record and webhook stay */
        post: operations["logoutDevice"];
    };
    "/devices/{number}/audit": {
        /** Whether messages were lost: compares what WhatsApp announced with what is stored */
        get: operations["auditDevice"];
    };
    "/devices/{number}/why": {
        /** Why a number is in its state, and what to do about it */
        get: operations["whyDevice"];
    };
    "/devices/{number}/passkey": {
        /** Answer WhatsApp's passkey request for a number */
        post: operations["answerPasskey"];
    };
    "/devices/{number}/passkey/confirm": {
        /** Confirm that the gateway and the phone show the same code */
        post: operations["confirmPasskey"];
    };
    "/devices/{number}/webhook": {
        /** The webhook of a number */
        get: operations["getWebhook"];
        /** Set the webhook of a number; replaces all of it */
        put: operations["putWebhook"];
        /** Remove the webhook; what is pending ends */
        delete: operations["deleteWebhook"];
    };
    "/devices/{number}/webhook/rotate": {
        /** A new signing secret; old and new sign for 24 hours */
        post: operations["rotateWebhook"];
    };
    "/devices/{number}/webhook/test": {
        /** Post a sample event; nothing goes to WhatsApp */
        post: operations["testWebhook"];
    };
    "/devices/{number}/webhooks": {
        /** Listeners of a number: told of what its webhook, which alone answers, may be told of */
        get: operations["listListeners"];
        /** Add a listener to a number, up to 5; its answers are ignored */
        post: operations["createListener"];
    };
    "/devices/{number}/webhooks/{id}": {
        /** Remove a listener; what is pending for it ends */
        delete: operations["deleteListener"];
        /** Change a listener; what is left out stays */
        patch: operations["changeListener"];
    };
    "/devices/{number}/webhooks/{id}/rotate": {
        /** A new signing secret of a listener; old and new sign for 24 hours */
        post: operations["rotateListener"];
    };
    "/deliveries": {
        /** Deliveries to webhooks, newest first */
        get: operations["listDeliveries"];
    };
    "/deliveries/{id}": {
        /** One delivery with its attempts */
        get: operations["getDelivery"];
    };
    "/deliveries/{id}/replay": {
        /** One more attempt under the same id */
        post: operations["replayDelivery"];
    };
    "/deliveries/replay": {
        /** One more attempt of each delivery that matches; by default of those given up (dead and disabled) */
        post: operations["replayDeliveries"];
    };
    "/bots": {
        /** All bots */
        get: operations["listBots"];
    };
    "/devices/{number}/bots": {
        /** Which bots answer at a number */
        get: operations["getDeviceBots"];
        /** Set which bots answer at a number; a bot that is not listed does as it says itself */
        put: operations["putDeviceBots"];
        /** Change single bots at a number; what is not named stays as it is */
        patch: operations["patchDeviceBots"];
    };
    "/bots/fork": {
        /** Tell a stored conversation again to the bots as their files are now, in a sandbox, and go on with it; nothing leaves and nothing is stored */
        post: operations["forkConversation"];
    };
    "/bots/routes": {
        /** Routes of the bots that are on for every number, in the order of asking, and where they get in each other's way */
        get: operations["listBotRoutes"];
    };
    "/devices/{number}/bots/routes": {
        /** Routes of a number's bots in the order of asking, and where they get in each other's way */
        get: operations["listDeviceRoutes"];
    };
    "/devices/{number}/dialogues": {
        /** Dialogues of bots that are under way, those that went on last first */
        get: operations["listDialogues"];
    };
    "/devices/{number}/decisions": {
        /** Decisions of a number: why messages were answered or not, newest first */
        get: operations["listDecisions"];
    };
    "/events": {
        /** Events of the account, as Server-Sent Events */
        get: operations["events"];
    };
    "/mcp": {
        /** Tools and pages for language models: Model Context Protocol over streamable HTTP */
        post: operations["mcp"];
    };
    "/account": {
        /** The key's own account, its limits and its usage */
        get: operations["getOwnAccount"];
    };
    "/api-keys": {
        /** Keys of the account, newest first */
        get: operations["listKeys"];
        /** Create a key that may do no more than the calling key */
        post: operations["createKey"];
    };
    "/api-keys/{id}": {
        /** Delete a key, at once */
        delete: operations["deleteKey"];
    };
    "/api-keys/{id}/rotate": {
        /** Give a key a new secret; the old secret stops working at once */
        post: operations["rotateKey"];
    };
    "/console/session": {
        /** The session of this cookie */
        get: operations["getCurrentSession"];
        /** Sign in with an API key, the operator's token, or a link */
        post: operations["createSession"];
        /** Sign out */
        delete: operations["deleteCurrentSession"];
    };
    "/console/sessions": {
        /** Sessions of the same key, or of the operator; last used first */
        get: operations["listSessions"];
    };
    "/console/sessions/{id}": {
        /** End a session, at once */
        delete: operations["deleteSession"];
    };
    "/console/session/account": {
        /** Choose the account that the operator works in; null: none */
        put: operations["chooseAccount"];
    };
    "/log": {
        /** Changes in the account and who made them, newest first; sends do not count as changes */
        get: operations["listChanges"];
    };
    "/admin/log": {
        /** Changes in all accounts and who made them, newest first; sends do not count as changes */
        get: operations["listAllChanges"];
    };
    "/devices/{number}/magic-link": {
        /** Create a link for a customer to link one number and set its webhook, and nothing else */
        post: operations["createLink"];
    };
    "/links": {
        /** Valid links, newest first */
        get: operations["listLinks"];
    };
    "/devices/{number}/magic-link/{id}": {
        /** Withdraw a link at once */
        delete: operations["deleteLink"];
    };
    "/admin/accounts/{id}/links": {
        /** Valid links of an account, newest first */
        get: operations["listAccountLinks"];
        /** Create a link for a number of an account */
        post: operations["createAccountLink"];
    };
    "/admin/accounts/{id}/links/{linkId}": {
        /** Withdraw a link of an account */
        delete: operations["deleteAccountLink"];
    };
    "/admin/accounts": {
        /** Accounts, newest first */
        get: operations["listAccounts"];
        /** Create an account and its first key */
        post: operations["createAccount"];
    };
    "/admin/accounts/{id}": {
        /** One account */
        get: operations["getAccount"];
        /** Log out the account's numbers and erase all its data */
        delete: operations["deleteAccount"];
        /** Rename, change the plan, enable or disable */
        patch: operations["changeAccount"];
    };
    "/admin/accounts/{id}/api-keys": {
        /** Keys of an account, newest first */
        get: operations["listAccountKeys"];
        /** Create a key for an account */
        post: operations["createAccountKey"];
    };
    "/admin/accounts/{id}/api-keys/{keyId}": {
        /** Delete a key of an account */
        delete: operations["deleteAccountKey"];
    };
    "/admin/accounts/{id}/devices": {
        /** Numbers of an account, newest first */
        get: operations["listAccountDevices"];
        /** Register a number for an account without linking it */
        post: operations["createAccountDevice"];
    };
    "/admin/accounts/{id}/devices/{number}/contacts/{contact}": {
        /** Everything that is stored of one contact of a number, as lines of JSON */
        get: operations["exportContact"];
        /** Erase everything that is stored of one contact of a number */
        delete: operations["eraseContact"];
    };
    "/admin/backup": {
        /** One archive with a consistent copy of all data, made while the gateway runs, without the master key */
        post: operations["createBackup"];
    };
    "/admin/alerts": {
        /** Open alerts, and whether they arrive at ALERT_URL */
        get: operations["listAlerts"];
    };
    "/admin/alerts/test": {
        /** Post a sample to ALERT_URL */
        post: operations["testAlerts"];
    };
    "/admin/nodes": {
        /** Nodes on this database, and how many numbers each has */
        get: operations["listNodes"];
    };
    "/admin/health": {
        /** How the gateway is: versions, queues, stalls, storage, backups, retention, nodes */
        get: operations["getGatewayHealth"];
    };
    "/admin/devices": {
        /** Numbers of all accounts, newest first */
        get: operations["listAllDevices"];
    };
    "/admin/bots/reload": {
        /** Read the bots of BOTS_DIR again; connections stay, and a file that is broken now keeps its last good version */
        post: operations["reloadBots"];
    };
    "/stats": {
        /** How many messages came, went, failed and were answered in each hour, by whom, and how fast */
        get: operations["getStats"];
    };
    "/admin/stats": {
        /** The same of all numbers of all accounts together */
        get: operations["getAllStats"];
    };
    "/health/live": {
        /** Whether the process answers */
        get: operations["live"];
    };
    "/health/ready": {
        /** Whether requests are served; unlinked numbers do not matter */
        get: operations["ready"];
    };
    "/metrics": {
        /** Metrics for Prometheus */
        get: operations["metrics"];
    };
    "/openapi.json": {
        /** This description, as OpenAPI 3.1 */
        get: operations["openApi"];
    };
    "/docs": {
        /** This description, as a page to read */
        get: operations["docs"];
    };
}
/** What the gateway posts, and what may be answered. */
export interface webhooks {
    event: {
        /**
         * An event of a number, posted to its webhook
         * @description Signed as in Standard Webhooks. A 2xx answer with JSON of a known shape is sent as the reply; any other answer sends nothing. Network errors, timeouts, 408, 425, 429, 5xx and redirects are retried for three days; 410 disables the webhook.
         */
        post: operations["receiveEvent"];
    };
}
/** Records by the names that the documentation gives them. */
export interface components {
    schemas: {
        Account: {
            id: string;
            name: string;
            plan: string;
            enabled: boolean;
            /** Format: date-time */
            created_at: string;
        };
        ActionAnswer: {
            status: boolean;
            msg: string;
            message: string;
            results: {
                number: string;
                status: boolean;
                /** @enum {string} */
                state: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
                id: string | null;
                /**
                 * @description The chat does not know the message that was to be quoted: it was sent without
                 * @constant
                 */
                quoted?: false;
                error?: {
                    /** @enum {string} */
                    code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
                    message?: string;
                    /** @enum {string} */
                    reason?: "not_member" | "only_admins" | "not_channel_admin" | "community" | "not_own";
                    whatsapp_code?: number;
                    /** Format: date-time */
                    until?: string;
                };
            }[];
            id?: string | null;
            /** @enum {string} */
            state?: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
            errors?: components["schemas"]["Error"];
            data?: components["schemas"]["SentMessage"];
        };
        Alert: {
            /** @description The same when it is told to be over */
            id: string;
            /** @enum {string} */
            alert: "number_logged_out" | "number_blocked" | "number_away" | "webhook_off" | "disk_low" | "restarted" | "backup_failed" | "test";
            /** @enum {string} */
            status: "open" | "over";
            /** Format: date-time */
            since: string;
            /** @description Null while it is open */
            until: string | null;
            /** @description Id of the account, if it is about a number */
            account: string | null;
            /** @description The number, digits */
            device: string | null;
            /** @description The node, if it is about one process */
            node: string | null;
            /** @description One sentence for people */
            text: string;
            /** @description What to do */
            advice: string | null;
        };
        AlertTest: {
            delivered: boolean;
            /** @description Null: no answer came */
            status_code: number | null;
            duration_ms: number;
            error: string | null;
        };
        Alerts: {
            /** @description Of ALERT_URL; null: nobody is told */
            host: string | null;
            /** @description Whether ALERT_SECRET is set */
            signed: boolean;
            telling: {
                /** @description When the last alert arrived */
                delivered_at: string | null;
                /** @description Since when none arrives */
                failing_since: string | null;
                /** @description Attempts in a row that failed */
                failures: number;
                last_error: string | null;
                next_attempt_at: string | null;
                /** @description Alerts that could not be delivered for a day */
                given_up: number;
            } | null;
            open: components["schemas"]["Alert"][];
        };
        Audit: {
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            /** @description Messages that existed, are missing here, and are no longer expected */
            lost: number;
            /** @description Incoming messages from others */
            received: number;
            /** @description Messages that a bot answered or that the webhook was given */
            answered_or_forwarded: number;
            /** @description Messages that wait for a decision */
            pending: number;
            /** @description Missing messages that were requested again and are still expected */
            awaited: number;
            /** @description Messages that were missing at first and have arrived since */
            recovered: number;
            /** @description Newest first, at most 100; `announced` is how many messages WhatsApp said were waiting */
            connections: {
                /** Format: date-time */
                opened_at: string;
                closed_at: string | null;
                code: number | null;
                announced: number | null;
                arrived: number;
            }[];
            /** @description Newest first, at most 500 */
            missing: {
                id: string;
                chat: string;
                from: string;
                /** @enum {string} */
                reason: "undecryptable" | "unavailable" | "phone_only" | "history" | "unknown_send";
                /** @enum {string} */
                state: "arrived" | "asked" | "lost" | "phone_only" | "unknown_send";
                /** Format: date-time */
                noticed_at: string;
                resolved_at: string | null;
            }[];
        };
        Bot: {
            id: string;
            priority: number;
            enable: string;
            routes: {
                kind: string;
                pattern: string;
            }[];
            warnings: string[];
            needs?: string[];
            /** @description JSON Schema 2020-12 of its settings; null: it says of none */
            schema: {
                [key: string]: unknown;
            } | null;
            error?: string;
            kept?: boolean;
            blocked?: {
                times: number;
                longest_ms: number;
                route: string;
                at: string;
                left_out_until: string | null;
            };
        };
        BotRoutes: {
            routes: {
                bot: string;
                priority: number;
                chats: string[];
                kind: string;
                pattern: string;
            }[];
            conflicts: {
                kind: string;
                winner: {
                    bot: string;
                    route: string;
                };
                loser: {
                    bot: string;
                    route: string;
                } | null;
                text: string;
            }[];
        };
        BoundBot: {
            id: string;
            priority: number;
            enable: string;
            routes: {
                kind: string;
                pattern: string;
            }[];
            warnings: string[];
            needs?: string[];
            /** @description JSON Schema 2020-12 of its settings; null: it says of none */
            schema: {
                [key: string]: unknown;
            } | null;
            error?: string;
            kept?: boolean;
            blocked?: {
                times: number;
                longest_ms: number;
                route: string;
                at: string;
                left_out_until: string | null;
            };
            enabled: boolean;
            config: {
                [key: string]: unknown;
            } | null;
        };
        Change: {
            id: string;
            /** Format: date-time */
            at: string;
            who: {
                /** @enum {string} */
                kind: "key" | "operator" | "link" | "nobody";
                /** @description Id of the key or the link */
                id: string | null;
                /** @description Name that the key had */
                name: string | null;
            };
            account: string | null;
            /** @description The `operationId` of the request */
            what: string;
            /** @description A number, or the id of a record */
            target: string | null;
            /** @description Fields of the request. Possible secrets show as `(given)`, addresses as their host */
            changes: {
                [key: string]: unknown;
            } | null;
            request_id: string;
            address: string;
        };
        Channel: {
            id: string;
            name: string;
            /** @enum {string} */
            role: "owner" | "admin" | "subscriber" | "guest";
            can_send: boolean;
        };
        Chat: {
            sender: string;
            chat: string;
            name: string | null;
            is_group: boolean;
            last: {
                id: string;
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                direction: "in" | "out";
                type: string;
                message: string;
            };
            /** @description The other side has written last, and since the number was linked */
            unanswered: boolean;
            /** @description Messages of the other side since the chat was last read, by `POST /chats/{chat}/read` or on the phone, without reactions, votes, edits and revokes. The last 100 are looked at */
            unread: number;
            taken_over_until: string | null;
            /** @description Which bot answered last */
            bot: string | null;
            archived: boolean;
            pinned: boolean;
            /** @description In the year 9999: for ever */
            muted_until: string | null;
            /** @description Somebody has marked it by hand */
            marked_unread: boolean;
            /** @description Seconds; 0: messages stay; null: not told of this group yet */
            disappearing: number | null;
        };
        ChatSettings: {
            sender: string;
            chat: string;
            archived: boolean;
            pinned: boolean;
            /** @description In the year 9999: for ever */
            muted_until: string | null;
            /** @description Somebody has marked it by hand */
            marked_unread: boolean;
            /** @description Seconds; 0: messages stay; null: not told of this group yet */
            disappearing: number | null;
        };
        Contact: {
            /** @description Digits; null while only the LID is known */
            number: string | null;
            lid: string | null;
            /** @description In the address book of the number's phone */
            name: string | null;
            /** @description What the person calls themselves */
            push_name: string | null;
            /** @description Of a business, verified by WhatsApp */
            verified_name: string | null;
            business: boolean;
        };
        ContactDetails: {
            /** @description Digits; null while only the LID is known */
            number: string | null;
            lid: string | null;
            /** @description In the address book of the number's phone */
            name: string | null;
            /** @description What the person calls themselves */
            push_name: string | null;
            /** @description Of a business, verified by WhatsApp */
            verified_name: string | null;
            about: string | null;
            /** @description At WhatsApp; it expires */
            picture_url: string | null;
            business: {
                description: string | null;
                website: string | null;
                email: string | null;
                address: string | null;
                hours: {
                    timezone: string | null;
                    days: {
                        /** @description `mon` to `sun` */
                        day: string;
                        /** @description `specific_hours`, `open_24h` or `appointment_only` */
                        mode: string;
                        /** @description `HH:MM` */
                        open: string | null;
                        close: string | null;
                    }[];
                } | null;
            } | null;
            /** @description When WhatsApp was asked; null: not yet */
            checked_at: string | null;
        };
        ContactErased: {
            /** @description Rows by table */
            erased: {
                [key: string]: number;
            };
            /** @description Rows that stay until a message is answered, sent or delivered */
            waiting: number;
        };
        Decision: {
            message_id: string;
            chat: string;
            type: string;
            by: string | null;
            route: string | null;
            guard: string | null;
            trail: {
                by: string;
                outcome: string;
                route?: string;
                detail?: string;
            }[];
            /** Format: date-time */
            at: string;
        };
        Delivery: {
            id: string;
            device: string;
            /** @description For which listener; null: the webhook */
            listener: string | null;
            message_id: string;
            type: string;
            url: string;
            /** @enum {string} */
            state: "pending" | "delivered" | "retrying" | "dead" | "disabled";
            attempts: {
                /** Format: date-time */
                at: string;
                status_code: number | null;
                duration_ms: number;
                error: string | null;
                answer: string | null;
            }[];
            next_at: string | null;
            reply: {
                understood: boolean;
                ignored: string[];
                ids: string[];
            } | null;
        };
        Device: {
            device: string;
            /** @enum {string} */
            state: "unlinked" | "linking" | "connecting" | "connected" | "logged_out" | "blocked" | "replaced" | "action_required";
            /** Format: date-time */
            since: string;
            last_in: string | null;
            last_out: string | null;
            lid: string | null;
            name: string | null;
            platform: string | null;
            /** @description Messages from the time offline that WhatsApp still holds back; null when it has not said */
            waiting: number | null;
            /** @description First contacts are blocked until then */
            reachout: {
                /** Format: date-time */
                locked_until: string;
                reason: string | null;
            } | null;
            /** @description How many chats WhatsApp lets the number begin; null until WhatsApp says */
            new_chats: {
                /** @description Null: no limit */
                limit: number | null;
                used: number;
                resets_at: string | null;
            } | null;
            /** @enum {string} */
            calls: "ignore" | "reject";
            calls_text: string | null;
            /** @description Without its password; null: none */
            proxy: string | null;
        };
        Error: {
            /** @enum {string} */
            code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
            message?: string;
            /** @enum {string} */
            reason?: "not_member" | "only_admins" | "not_channel_admin" | "community" | "not_own";
            whatsapp_code?: number;
            /** Format: date-time */
            until?: string;
            fields?: {
                [key: string]: string[];
            };
            total?: number;
            permission?: string;
            limit?: number;
            scanned?: string;
            request_id?: string;
        };
        Event: {
            /** @description Text that a person would read; empty when there is none */
            message: string;
            /** @description The same text as `message` */
            text: string;
            /** @description The writer: digits, or `…@lid` while the number is unknown */
            from: string;
            id: string;
            pushName: string;
            /** @description The linked number */
            device: string;
            /** @description What `number` of a send accepts to answer there */
            chat: string;
            is_group: boolean;
            participant: string | null;
            from_lid: string | null;
            /** @description Unix seconds */
            timestamp: number;
            /** @enum {string} */
            type: "text" | "image" | "video" | "audio" | "voice" | "document" | "sticker" | "location" | "contact" | "poll" | "poll_vote" | "reaction" | "edit" | "revoke" | "channel" | "call" | "unknown" | "status" | "device" | "read" | "group" | "presence";
            /** @description When the message disappears from phones */
            expires_at: string | null;
            quoted: {
                id: string;
                from: string;
                text: string;
            } | null;
            mentions: string[];
            media: {
                type: string;
                mimetype: string;
                fileName: string | null;
                /** @description Bytes */
                size: number;
                /** @description Signed, expires, needs no key */
                url: string | null;
                error?: string;
            } | null;
            location: {
                latitude: number;
                longitude: number;
                name: string | null;
                address: string | null;
            } | null;
            contacts: {
                name: string;
                numbers: string[];
            }[] | null;
            reaction: {
                id: string;
                emoji: string;
            } | null;
            /** @description Message that an edit or a revoke is about. For `status` the sent message, for `read` the message that was read: the same as `id` */
            target_id: string | null;
            poll: {
                id: string;
                name: string | null;
                selected: string[] | null;
                options: {
                    name: string;
                    voters: string[];
                }[] | null;
                total: number | null;
            } | null;
            /** @description Images up to 5 MiB: bare base64 */
            bufferImage: string | null;
            /** @description `bot:<id>` of the bot that has answered */
            handled_by: string | null;
            /** @description For `status` the message's new state, for `device` the number's, for `read` the word `read`; else absent */
            state?: string;
            /** @description For `device`: the reason, as a word; `reachout_locked` means no first contacts before `until` */
            reason?: string | null;
            /** @description For `device`: when the state ends on its own */
            until?: string | null;
            /** @description For `status`: why the message failed, as in `GET /messages/{id}` */
            error?: ({
                code: string;
                message: string;
            } & {
                [key: string]: unknown;
            }) | null;
            /** @description For `group`; else absent */
            group?: {
                /** @enum {string} */
                action: "created" | "subject" | "description" | "add" | "remove" | "promote" | "demote" | "leave" | "settings";
                /** @description Who did it: digits or `…@lid`; null: nobody is named */
                by: string | null;
                /** @description Whom it is about */
                participants: string[];
            };
            /** @description For `presence`; else absent */
            presence?: {
                /** @enum {string} */
                state: "typing" | "recording" | "paused" | "online" | "offline";
                last_seen: string | null;
            };
            /** @description For `contact`, when it is no message with cards but what is another of a person */
            contact?: {
                changed: ("name" | "lid" | "number")[];
                /** @description What was before, of each that changed; null: it was not known */
                old: {
                    name?: string | null;
                    lid?: string | null;
                    number?: string | null;
                };
            };
        };
        /** @description What has not left by then never leaves: ISO 8601 with a time zone, or whole seconds from `send_at`, else from now */
        Expires: string;
        Failure: {
            /** @constant */
            status: false;
            msg: string;
            message: string;
            errors: components["schemas"]["Error"];
        };
        Fork: {
            turns: {
                /** @enum {string} */
                who: "user" | "owner" | "time";
                as: string | null;
                said: string[];
                before: {
                    /** @enum {string} */
                    who: "bot" | "webhook" | "sent";
                    text: string;
                }[] | null;
                now: {
                    /** @enum {string} */
                    who: "bot" | "webhook" | "sent";
                    text: string;
                }[] | null;
                same: boolean;
            }[];
            bots: {
                id: string;
                /** @enum {string} */
                from: "folder" | "sources" | "build";
            }[];
            complete: boolean;
            differences: number;
            troubles: string[];
            logged: string[];
            story: string;
        };
        GatewayHealth: {
            version: string;
            /** @description Of Node.js */
            node: string;
            /** @description Named to WhatsApp; whether it was refused */
            whatsapp_version: {
                version: string;
                refused: boolean;
            };
            /** Format: date-time */
            started_at: string;
            uptime_seconds: number;
            accounts: number | null;
            numbers: {
                total: number;
                by_state: {
                    [key: string]: number;
                };
            };
            queues: {
                /** Format: date-time */
                measured_at: string;
                /** @description Messages that wait for their decision */
                inbox: {
                    waiting: number;
                    oldest_at: string | null;
                };
                /** @description Messages that wait to be sent */
                outbox: {
                    waiting: number;
                    oldest_at: string | null;
                };
                deliveries: {
                    /** @description Null: a number has more than is worth counting */
                    pending: number | null;
                    /** @description Null: a number has more than is worth counting */
                    retrying: number | null;
                    /** @description Null: a number has more than is worth counting */
                    dead: number | null;
                };
            };
            /** @description Times in which the event loop of this process stood still, the last 50 */
            stalls: {
                /** @description In the last five minutes; 0: none worth naming */
                longest_ms: number;
                latest: {
                    /** Format: date-time */
                    at: string;
                    ms: number;
                    bots: string[];
                }[];
            };
            /** @description Of this process' disk; null: not known */
            storage: {
                measured_at: string | null;
                database_bytes: number | null;
                media_bytes: number | null;
                free_bytes: number | null;
                total_bytes: number | null;
            };
            /** @description The last that POST /admin/backup gave; null: none yet */
            backup: {
                /** Format: date-time */
                at: string;
                bytes: number;
            } | null;
            retention: {
                days: number;
                started_at: string | null;
                ended_at: string | null;
                next_at: string | null;
                failed: boolean;
            };
            nodes: components["schemas"]["Node"][];
        };
        Group: {
            id: string;
            name: string;
            participants: number;
            only_admins: boolean;
            is_member: boolean;
            is_admin: boolean;
            can_send: boolean;
        };
        GroupDetails: {
            id: string;
            name: string;
            participants: number;
            only_admins: boolean;
            is_member: boolean;
            is_admin: boolean;
            can_send: boolean;
            description: string;
            owner: string | null;
            created_at: string | null;
            members: {
                number: string | null;
                lid: string | null;
                admin: boolean;
            }[];
            announce: boolean;
            locked: boolean;
            join_approval: boolean;
            /** @description Seconds after which messages disappear; 0: they stay */
            disappearing: number;
            /** @description The community that it belongs to */
            community: string | null;
        };
        IncomingMessage: {
            /** @description Text that a person would read; empty when there is none */
            message: string;
            /** @description The same text as `message` */
            text: string;
            /** @description The writer: digits, or `…@lid` while the number is unknown */
            from: string;
            id: string;
            pushName: string;
            /** @description The linked number */
            device: string;
            /** @description What `number` of a send accepts to answer there */
            chat: string;
            is_group: boolean;
            participant: string | null;
            from_lid: string | null;
            /** @description Unix seconds */
            timestamp: number;
            /** @enum {string} */
            type: "text" | "image" | "video" | "audio" | "voice" | "document" | "sticker" | "location" | "contact" | "poll" | "poll_vote" | "reaction" | "edit" | "revoke" | "channel" | "call" | "unknown";
            /** @description When the message disappears from phones */
            expires_at: string | null;
            quoted: {
                id: string;
                from: string;
                text: string;
            } | null;
            mentions: string[];
            media: {
                type: string;
                mimetype: string;
                fileName: string | null;
                /** @description Bytes */
                size: number;
                /** @description Signed, expires, needs no key */
                url: string | null;
                error?: string;
            } | null;
            location: {
                latitude: number;
                longitude: number;
                name: string | null;
                address: string | null;
            } | null;
            contacts: {
                name: string;
                numbers: string[];
            }[] | null;
            reaction: {
                id: string;
                emoji: string;
            } | null;
            /** @description Message that an edit or a revoke is about */
            target_id: string | null;
            poll: {
                id: string;
                name: string | null;
                selected: string[] | null;
                options: {
                    name: string;
                    voters: string[];
                }[] | null;
                total: number | null;
            } | null;
        };
        Key: {
            id: string;
            name: string;
            permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
            devices: string[] | null;
            recipients: string[] | null;
            expires_at: string | null;
            /** Format: date-time */
            created_at: string;
            last_used_at: string | null;
            prefix: string;
        };
        Link: {
            id: string;
            device: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** @description When the link was last opened */
            last_used_at: string | null;
            /** @description `name` of the key; null for the operator, and for a key that no longer exists (its link has ended too) */
            made_by: {
                /** @enum {string} */
                kind: "key" | "operator";
                name: string | null;
            };
        };
        ListedSession: {
            id: string;
            /** @enum {string} */
            kind: "key" | "operator" | "link";
            account: {
                id: string;
                name: string;
            } | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            idle_ends_at: string;
            /** Format: date-time */
            expires_at: string;
            /**
             * Format: date-time
             * @description Accurate to a minute
             */
            last_used_at: string;
            /** @description Where it was opened; of IPv6 the /64 */
            address: string;
            user_agent: string;
            current: boolean;
        };
        Listener: {
            id: string;
            url: string;
            events: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
            /** @description Null: every chat */
            chats: string[] | null;
            /** @description Messages that these answered; null: all */
            bots: string[] | null;
            headers: {
                [key: string]: string;
            };
            timeout_ms: number;
            enabled: boolean;
            health: {
                /** @enum {string} */
                state: "ok" | "failing" | "paused" | "disabled";
                failures: number;
                failing_since: string | null;
                paused_until: string | null;
                reason: ("gone" | "failing") | null;
            };
        };
        MadeLink: {
            id: string;
            device: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string;
            /** @description When the link was last opened */
            last_used_at: string | null;
            /** @description `name` of the key; null for the operator, and for a key that no longer exists (its link has ended too) */
            made_by: {
                /** @enum {string} */
                kind: "key" | "operator";
                name: string | null;
            };
            /** @description The address that the customer opens; shown only now */
            url: string;
        };
        /** @description Mentions all members of a group, without changing the text; ignored elsewhere */
        MentionAll: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
        /** @description Up to 1024 people, digits or `…@lid`; phones show a mention where `@<digits>` stands in the text */
        Mentions: string[];
        Message: {
            id: string;
            /** @description The number itself */
            sender: string;
            /** @description What `number` of a send accepts to answer there */
            chat: string;
            /** @enum {string} */
            direction: "in" | "out";
            /** @description The writer: digits, or `…@lid` while the number is unknown */
            from: string;
            type: string;
            /** @description What the writer calls themselves */
            name?: string;
            /** @description The text, after its last edit */
            message: string;
            /** @description The message that a reaction, a vote, an edit or a revoke is about */
            target_id?: string;
            poll?: {
                id: string;
                /** @description Null: the poll that the vote is about is not known */
                name: string | null;
                options: string[];
                /** @description Of a vote: what was chosen; none: it was withdrawn */
                selected?: string[];
            };
            location?: {
                latitude: number;
                longitude: number;
                name: string | null;
                address: string | null;
            };
            contacts?: {
                name: string;
                numbers: string[];
            }[];
            media?: {
                type: string;
                mimetype: string;
                fileName: string | null;
                size: number;
                /** @description Of sound and video that came */
                seconds?: number;
                /** @description Signed, expires, needs no key */
                url: string | null;
                error?: string;
            };
            quoted?: {
                id: string;
                from: string;
                text: string;
            };
            /** Format: date-time */
            at: string;
            /**
             * Format: date-time
             * @description When it is, or was, to be sent
             */
            send_at?: string;
            /** Format: date-time */
            expires_at?: string;
            /** @enum {string} */
            state?: "scheduled" | "queued" | "sent" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled";
            /** @description `bot:<id>` or `webhook`: who answered it, or wrote it */
            answered_by?: string;
            /** @description Who wrote what went out: `bot:<id>`, `webhook`, `console`, `phone`, `api:<key name>`, or `calls`, the text for callers; `api` when an earlier version stored it */
            by?: string;
            edited?: boolean;
            revoked?: boolean;
            /**
             * @description It was written before the number was linked, and came with WhatsApp's history
             * @constant
             */
            imported?: true;
        };
        Node: {
            /** @description NODE_NAME; of a process that is alone the name of its host */
            node: string;
            /** @description How many of the 256 partitions of numbers it has */
            partitions: number;
            /** @description Numbers in these partitions */
            numbers: number;
            /** @description Longest time of the last five minutes for which it stood still; 0: none worth naming */
            lag_ms: number;
            version: string;
            /**
             * Format: date-time
             * @description When it was started
             */
            since: string;
        };
        NumberCheck: {
            /** @description Digits */
            number: string;
            /** @description Null: WhatsApp did not say */
            exists: boolean | null;
            lid: string | null;
            /**
             * Format: date-time
             * @description When WhatsApp was asked
             */
            checked_at: string;
        };
        OpenDialogue: {
            chat: string;
            /** @description In a group who is being talked to */
            participant: string | null;
            bot: string;
            /** @description Its name in the bot: of a form, a menu, a flow */
            dialogue: string;
            /**
             * Format: date-time
             * @description When it last went on
             */
            updated_at: string;
            /** @description When it ends by itself; null: never */
            expires_at: string | null;
        };
        OwnAccount: {
            id: string;
            name: string;
            plan: string;
            limits: {
                devices: number | null;
                keys: number | null;
                sends_per_day: number | null;
            };
            used: {
                devices: number;
                keys: number;
                sends_per_day: number;
            };
        };
        OwnedDevice: {
            device: string;
            /** @enum {string} */
            state: "unlinked" | "linking" | "connecting" | "connected" | "logged_out" | "blocked" | "replaced" | "action_required";
            /** Format: date-time */
            since: string;
            last_in: string | null;
            last_out: string | null;
            lid: string | null;
            name: string | null;
            platform: string | null;
            /** @description Messages from the time offline that WhatsApp still holds back; null when it has not said */
            waiting: number | null;
            /** @description First contacts are blocked until then */
            reachout: {
                /** Format: date-time */
                locked_until: string;
                reason: string | null;
            } | null;
            /** @description How many chats WhatsApp lets the number begin; null until WhatsApp says */
            new_chats: {
                /** @description Null: no limit */
                limit: number | null;
                used: number;
                resets_at: string | null;
            } | null;
            /** @enum {string} */
            calls: "ignore" | "reject";
            calls_text: string | null;
            /** @description Without its password; null: none */
            proxy: string | null;
            account: {
                id: string;
                name: string;
            };
        };
        /** @description http or https; the middle of the picture becomes a square JPEG. Empty: takes the picture away */
        PictureUrl: string;
        Profile: {
            device: string;
            name: string | null;
            /** @description The text under the name */
            about: string | null;
            /** @description At WhatsApp, for some days */
            picture_url: string | null;
        };
        /** @description Id of a message of that chat to quote; a destination that does not know it gets the message unquoted, and its result says `quoted: false` */
        Quote: string;
        Reply: (string | {
            message: string | number;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            type?: string;
            media_type?: string;
            url: string;
            caption?: string;
            filename?: string;
            ptt?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            name: string;
            option: string[];
            countable?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            latitude: number;
            longitude: number;
            name?: string;
            address?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            contacts: {
                name: string;
                numbers: string[];
                organization?: string;
                email?: string;
            }[];
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        }) | (string | {
            message: string | number;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            type?: string;
            media_type?: string;
            url: string;
            caption?: string;
            filename?: string;
            ptt?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            name: string;
            option: string[];
            countable?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            latitude: number;
            longitude: number;
            name?: string;
            address?: string;
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            contacts: {
                name: string;
                numbers: string[];
                organization?: string;
                email?: string;
            }[];
            /** @description Quote the message that the event is about */
            quoted?: boolean;
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        })[] | {
            replies: (string | {
                message: string | number;
                /** @description Quote the message that the event is about */
                quoted?: boolean;
                /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
                hold?: number;
            } | {
                type?: string;
                media_type?: string;
                url: string;
                caption?: string;
                filename?: string;
                ptt?: string;
                /** @description Quote the message that the event is about */
                quoted?: boolean;
                /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
                hold?: number;
            } | {
                name: string;
                option: string[];
                countable?: string;
                /** @description Quote the message that the event is about */
                quoted?: boolean;
                /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
                hold?: number;
            } | {
                latitude: number;
                longitude: number;
                name?: string;
                address?: string;
                /** @description Quote the message that the event is about */
                quoted?: boolean;
                /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
                hold?: number;
            } | {
                contacts: {
                    name: string;
                    numbers: string[];
                    organization?: string;
                    email?: string;
                }[];
                /** @description Quote the message that the event is about */
                quoted?: boolean;
                /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
                hold?: number;
            })[];
            /** @description Seconds for which the webhook holds the chat; 0 ends the hold */
            hold?: number;
        } | {
            hold: number;
        };
        SendAnswer: {
            status: boolean;
            msg: string;
            message: string;
            results: {
                number: string;
                status: boolean;
                /** @enum {string} */
                state: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
                id: string | null;
                /**
                 * @description The chat does not know the message that was to be quoted: it was sent without
                 * @constant
                 */
                quoted?: false;
                error?: {
                    /** @enum {string} */
                    code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
                    message?: string;
                    /** @enum {string} */
                    reason?: "not_member" | "only_admins" | "not_channel_admin" | "community" | "not_own";
                    whatsapp_code?: number;
                    /** Format: date-time */
                    until?: string;
                };
            }[];
            id?: string | null;
            /** @enum {string} */
            state?: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
            errors?: components["schemas"]["Error"];
        };
        /** @description When it is to be sent, up to 365 days ahead: ISO 8601 with a time zone, or Unix seconds. Until then it is `scheduled` */
        SendAt: string;
        SendFailure: {
            /** @constant */
            status: false;
            msg: string;
            message: string;
            errors: components["schemas"]["Error"];
            results?: {
                number: string;
                status: boolean;
                /** @enum {string} */
                state: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
                id: string | null;
                /**
                 * @description The chat does not know the message that was to be quoted: it was sent without
                 * @constant
                 */
                quoted?: false;
                error?: {
                    /** @enum {string} */
                    code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
                    message?: string;
                    /** @enum {string} */
                    reason?: "not_member" | "only_admins" | "not_channel_admin" | "community" | "not_own";
                    whatsapp_code?: number;
                    /** Format: date-time */
                    until?: string;
                };
            }[];
            id?: string | null;
            /** @enum {string} */
            state?: "sent" | "queued" | "scheduled" | "cancelled" | "failed";
        };
        SentMessage: {
            id: string;
            sender: string;
            number: string;
            kind: string;
            /** @description `api`, `bot:<id>`, `webhook`, `calls`; `contact` or `phone` for a message that the gateway did not send */
            origin: string;
            /** @description Null for a message that the gateway did not send */
            state: ("scheduled" | "queued" | "sent" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled") | null;
            history: {
                /** @enum {string} */
                state: "scheduled" | "queued" | "sent" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled";
                /** Format: date-time */
                at: string;
            }[];
            /** @constant */
            edited?: true;
            /**
             * @description It was taken back, or is about to be
             * @constant
             */
            revoked?: true;
            /**
             * @description It was written before the number was linked, and came with WhatsApp's history
             * @constant
             */
            imported?: true;
            /**
             * Format: date-time
             * @description When it is, or was, to be sent
             */
            send_at?: string;
            error?: {
                /** @enum {string} */
                code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
                message?: string;
                /** @enum {string} */
                reason?: "not_member" | "only_admins" | "not_channel_admin" | "community" | "not_own";
                whatsapp_code?: number;
                /** Format: date-time */
                until?: string;
            };
            poll?: {
                name: string;
                options: {
                    name: string;
                    voters: string[];
                }[];
                total: number;
            };
        };
        Session: {
            id: string;
            /** @enum {string} */
            kind: "key" | "operator" | "link";
            /** @description For the operator: the chosen account, or null */
            account: {
                id: string;
                name: string;
            } | null;
            permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
            devices: string[] | null;
            recipients: string[] | null;
            /** @description Send it as `X-CSRF-Token` with every request that changes something */
            csrf: string;
            /** @description Where the simulator's phones are; left out: WhatsApp is the real one, or there is no such page */
            playground?: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            idle_ends_at: string;
            /** Format: date-time */
            expires_at: string;
        };
        Stats: {
            status: boolean;
            msg: string;
            message: string;
            total: number;
            data: components["schemas"]["StatsHour"][];
            /** @description Of all these hours */
            sum: {
                /** @description Messages of others that came */
                in: number;
                /** @description Messages that WhatsApp took */
                out: number;
                /** @description Who answered the messages that came; `webhook` counts replies at once, not those to a later attempt */
                answered_by: {
                    bot: number;
                    webhook: number;
                    nobody: number;
                };
                /** @description Messages that failed, or expired */
                failed: number;
                /** @description Half of the answers took no longer, estimated; null: there were none */
                p50_ms: number | null;
                /** @description 95 % of the answers took no longer, estimated */
                p95_ms: number | null;
                /** @description Attempts at webhooks */
                posts: number;
                post_failures: number;
            };
            /** @description Before it nothing was counted; null: all is known */
            complete_since: string | null;
            /** @description A node that counts, too, did not answer */
            partial: boolean;
        };
        StatsHour: {
            /** Format: date-time */
            at: string;
            /** @description Messages of others that came */
            in: number;
            /** @description Messages that WhatsApp took */
            out: number;
            /** @description Who answered the messages that came; `webhook` counts replies at once, not those to a later attempt */
            answered_by: {
                bot: number;
                webhook: number;
                nobody: number;
            };
            /** @description Messages that failed, or expired */
            failed: number;
            /** @description Half of the answers took no longer, estimated; null: there were none */
            p50_ms: number | null;
            /** @description 95 % of the answers took no longer, estimated */
            p95_ms: number | null;
            /** @description Attempts at webhooks */
            posts: number;
            post_failures: number;
        };
        StreamEvent: {
            id: string;
            /** @constant */
            event: "device";
            data: components["schemas"]["Device"];
        } | {
            id: string;
            /** @constant */
            event: "message.in";
            data: components["schemas"]["IncomingMessage"];
        } | {
            id: string;
            /** @constant */
            event: "message.out";
            data: components["schemas"]["SentMessage"];
        } | {
            id: string;
            /** @constant */
            event: "read";
            data: {
                id: string;
                /** @description The linked number */
                device: string;
                chat: string;
                /** Format: date-time */
                at: string;
            };
        } | {
            id: string;
            /** @constant */
            event: "decision";
            data: {
                message_id: string;
                chat: string;
                by: string | null;
                route: string | null;
                guard: string | null;
                trail: {
                    by: string;
                    outcome: string;
                    route?: string;
                    detail?: string;
                }[];
                /** Format: date-time */
                at: string;
                device: string;
            };
        } | {
            id: string;
            /** @constant */
            event: "delivery";
            data: components["schemas"]["Delivery"];
        } | {
            id: string;
            /** @constant */
            event: "webhook";
            data: {
                url: string;
                /** @enum {string} */
                mode: "fallback" | "always" | "off";
                /** @enum {string} */
                reply_to: "chat" | "sender";
                events: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
                headers: {
                    [key: string]: string;
                };
                timeout_ms: number;
                reply_max_age: number;
                read: boolean;
                typing: boolean;
                enabled: boolean;
                health: {
                    /** @enum {string} */
                    state: "ok" | "failing" | "paused" | "disabled";
                    failures: number;
                    failing_since: string | null;
                    paused_until: string | null;
                    reason: ("gone" | "failing") | null;
                };
                device: string;
            };
        } | {
            id: string;
            /** @constant */
            event: "group";
            data: {
                device: string;
                chat: string;
                /** @description Who did it, or who it is about */
                from: string | null;
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                action: "created" | "subject" | "description" | "add" | "remove" | "promote" | "demote" | "leave" | "settings";
                /** @description Who did it: digits or `…@lid`; null: nobody is named */
                by: string | null;
                /** @description Whom it is about */
                participants: string[];
                text: string;
            };
        } | {
            id: string;
            /** @constant */
            event: "presence";
            data: {
                device: string;
                chat: string;
                /** @description Who did it, or who it is about */
                from: string | null;
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                state: "typing" | "recording" | "paused" | "online" | "offline";
                last_seen: string | null;
            };
        } | {
            id: string;
            /** @constant */
            event: "contact";
            data: {
                device: string;
                chat: string;
                /** @description Who did it, or who it is about */
                from: string | null;
                /** Format: date-time */
                at: string;
                changed: ("name" | "lid" | "number")[];
                /** @description What was before, of each that changed; null: it was not known */
                old: {
                    name?: string | null;
                    lid?: string | null;
                    number?: string | null;
                };
            };
        };
        StrongerKey: {
            id: string;
            name: string;
            prefix: string;
        };
        Trace: {
            id: string;
            sender: string;
            chat: string;
            /** @enum {string} */
            direction: "in" | "out";
            type: string;
            /** @enum {string} */
            outcome: "waiting" | "answered" | "forwarded" | "silent" | "scheduled" | "queued" | "sent" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled";
            /** @description Why nobody answered a message that came; null: somebody did */
            silence: {
                /** @enum {string} */
                reason: "own_message" | "owner_wrote" | "owner_handed_back" | "imported" | "status" | "too_old" | "muted" | "loop_guard" | "takeover" | "no_match" | "passed" | "bot_failed" | "bot_silent" | "answer_too_late" | "answer_refused" | "merged" | "webhook_waiting" | "webhook_silent" | "webhook_failed" | "given_up" | "undecided" | "unknown";
                /** @description The reason in one sentence */
                text: string;
            } | null;
            /** @description In order */
            steps: components["schemas"]["TraceStep"][];
        };
        TraceStep: {
            /** @enum {string} */
            step: "sent" | "stored" | "lane" | "guard" | "asked" | "decided" | "reply" | "acknowledged" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled" | "delivery" | "attempt";
            /** @description Null: no row says when */
            at: string | null;
            /** @description How long it took */
            ms: number | null;
            /** @description `guard:<name>`, `bot:<id>`, `webhook`, `api` */
            by?: string;
            outcome?: string;
            route?: string;
            detail?: string;
            /** @description Of the reply, the delivery, or the message answered */
            id?: string;
            /** @description Of a lane: messages before it; of an attempt: which it was */
            count?: number;
            /** @description What one commit made so together */
            commit?: {
                /** @enum {string} */
                name: "T1" | "T2";
                held: string[];
            };
        };
        /** @description Seconds for which the chat shows typing before the message leaves */
        Typing: number | string;
        Upload: {
            /** @description `after` of the next part */
            id: string;
            /** @description Bytes of the file so far */
            received: number;
            /** @description The file so far, as `url` for `/send-media` */
            url: string;
            /** Format: date-time */
            expires_at: string;
        };
        /** @description Can be opened once: images, videos and voice notes */
        ViewOnce: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
        Webhook: {
            url: string;
            /** @enum {string} */
            mode: "fallback" | "always" | "off";
            /** @enum {string} */
            reply_to: "chat" | "sender";
            events: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
            headers: {
                [key: string]: string;
            };
            timeout_ms: number;
            reply_max_age: number;
            read: boolean;
            typing: boolean;
            enabled: boolean;
            health: {
                /** @enum {string} */
                state: "ok" | "failing" | "paused" | "disabled";
                failures: number;
                failing_since: string | null;
                paused_until: string | null;
                reason: ("gone" | "failing") | null;
            };
        };
        Why: {
            /** @enum {string} */
            state: "unlinked" | "linking" | "connecting" | "connected" | "logged_out" | "blocked" | "replaced" | "action_required";
            reason: string | null;
            /** Format: date-time */
            since: string;
            until: string | null;
            last_close: {
                code: number;
                reason: string;
                /** Format: date-time */
                at: string;
            } | null;
            next_retry_at: string | null;
            waiting: number | null;
            reachout: {
                /** Format: date-time */
                locked_until: string;
                reason: string | null;
            } | null;
            /** @description Null: WARM_UP is off, or the number was linked ten days ago */
            warm_up: {
                /** @description 1 is the day of the linking */
                day: number;
                /** @description How many people it may write to for the first time that day */
                limit: number;
                used: number;
                /** Format: date-time */
                resets_at: string;
            } | null;
            /** @description Null: the number has no webhook, or it takes what is posted */
            webhook: {
                /** @enum {string} */
                state: "failing" | "paused" | "disabled";
                failing_since: string | null;
                next_attempt_at: string | null;
            } | null;
            advice: string;
        };
    };
}
/** Every request: its parameters, its body, and its answers of success. */
export interface operations {
    sendMessageByGet: {
        parameters: {
            query: {
                sender: string;
                number: string;
                quote?: components["schemas"]["Quote"];
                msgid?: string;
                mentions?: components["schemas"]["Mentions"];
                mention_all?: components["schemas"]["MentionAll"];
                send_at?: components["schemas"]["SendAt"];
                expires?: components["schemas"]["Expires"];
                typing?: components["schemas"]["Typing"];
                view_once?: components["schemas"]["ViewOnce"];
                message: string;
                idempotency_key?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendMessage: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    message: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendMediaByGet: {
        parameters: {
            query: {
                sender: string;
                number: string;
                quote?: components["schemas"]["Quote"];
                msgid?: string;
                mentions?: components["schemas"]["Mentions"];
                mention_all?: components["schemas"]["MentionAll"];
                send_at?: components["schemas"]["SendAt"];
                expires?: components["schemas"]["Expires"];
                typing?: components["schemas"]["Typing"];
                view_once?: components["schemas"]["ViewOnce"];
                media_type: "image" | "video" | "audio" | "pdf" | "xls" | "xlsx" | "doc" | "docx" | "zip" | "mp3" | "xml" | "document";
                caption?: string;
                filename?: string;
                ptt?: string;
                url: string;
                idempotency_key?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendMedia: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    /**
                     * @description `document` is any file, as what it is
                     * @enum {string}
                     */
                    media_type: "image" | "video" | "audio" | "pdf" | "xls" | "xlsx" | "doc" | "docx" | "zip" | "mp3" | "xml" | "document";
                    /** @description Text under an image or video; of a document its file name, or the text under it when `filename` names it */
                    caption?: string;
                    /** @description File name of a document */
                    filename?: string;
                    /** @description vn sends audio or mp3 as a voice note */
                    ptt?: string;
                    /** @description http or https; it must answer with the file itself */
                    url?: string;
                    /** @description The file itself in base64, instead of its `url`; the body holds about 780 KB of a file */
                    data?: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
                "multipart/form-data": {
                    /**
                     * Format: binary
                     * @description The file itself, as the last part of a request of multipart/form-data; up to MAX_MEDIA_BYTES
                     */
                    file?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendSticker: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    /** @description http or https. WebP of 512 × 512 is sent as it is; other pictures, and GIFs of up to 10 seconds, are made into it */
                    url: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    createUpload: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description The part in base64, at most about 700 KB of the file */
                    data: string;
                    /** @description `id` of the previous part; absent for the first part */
                    after?: string;
                    /** @description Bytes of the whole file; a file that is too large is refused with its first part */
                    size?: number | string;
                    /** @description File name, when no `caption` names the file */
                    name?: string;
                };
            };
        };
        responses: {
            /** @description Part kept. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Upload"];
                    };
                };
            };
        };
    };
    sendPollByGet: {
        parameters: {
            query: {
                sender: string;
                number: string;
                quote?: components["schemas"]["Quote"];
                msgid?: string;
                mentions?: components["schemas"]["Mentions"];
                mention_all?: components["schemas"]["MentionAll"];
                send_at?: components["schemas"]["SendAt"];
                expires?: components["schemas"]["Expires"];
                typing?: components["schemas"]["Typing"];
                view_once?: components["schemas"]["ViewOnce"];
                name: string;
                countable?: "0" | "1";
                option: string[];
                idempotency_key?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendPoll: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    name: string;
                    /**
                     * @description 1: one choice, 0: any number of choices
                     * @default 1
                     * @enum {string}
                     */
                    countable?: "0" | "1";
                    /** @description 2 to 5 different texts of 1 to 100 characters, trimmed */
                    option: string[];
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendLocation: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    /** @description Degrees from -90 to 90; north is positive */
                    latitude: number;
                    /** @description Degrees from -180 to 180; east is positive */
                    longitude: number;
                    /** @description Name of the place, above its address */
                    name?: string;
                    /** @description Address of the place */
                    address?: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    sendContact: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    quote?: components["schemas"]["Quote"];
                    /** @description The same as `quote` */
                    msgid?: string;
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    view_once?: components["schemas"]["ViewOnce"];
                    /** @description 1 to 10 people; in a form, the same list as JSON */
                    contacts: {
                        name: string;
                        /** @description 1 to 10 phone numbers, digits with the country code */
                        numbers: string[];
                        organization?: string;
                        email?: string;
                    }[];
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["SendAnswer"];
                };
            };
        };
    };
    getMessage: {
        parameters: {
            query?: {
                sender?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Message. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["SentMessage"];
                    };
                };
            };
        };
    };
    deleteMessage: {
        parameters: {
            query?: {
                sender?: string;
                idempotency_key?: string;
            };
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Message deleted! */
            200: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
        };
    };
    editMessage: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The number; needed only where several have a message of this id */
                    sender?: string;
                    message: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message edited! */
            200: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
        };
    };
    listMessages: {
        parameters: {
            query?: {
                sender?: string;
                chat?: string;
                direction?: "in" | "out";
                state?: "scheduled" | "queued" | "sent" | "delivered" | "read" | "played" | "failed" | "expired" | "cancelled";
                since?: string;
                until?: string;
                q?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Messages. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Message"][];
                    };
                };
            };
        };
    };
    traceMessage: {
        parameters: {
            query?: {
                sender?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description The way of the message. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Trace"];
                    };
                };
            };
        };
    };
    listChats: {
        parameters: {
            query?: {
                sender?: string;
                chat?: string;
                q?: string;
                unanswered?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Chats. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Chat"][];
                    };
                };
            };
        };
    };
    changeChat: {
        parameters: {
            path: {
                chat: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description What is archived is not pinned any more */
                    archived?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Phones show at most three chats on top */
                    pinned?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Null: it makes a sound; from the year 9000 on: for ever */
                    muted_until?: string | null;
                    /** @description `true` marks it by hand; `false`: what is there was read, without receipts */
                    unread?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Seconds: 0, 86400, 604800 or 7776000 */
                    disappearing?: number | string;
                };
            };
        };
        responses: {
            /** @description Chat changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["ChatSettings"];
                    };
                };
            };
        };
    };
    watchPresence: {
        parameters: {
            path: {
                chat: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /**
                     * @description 1 to 600
                     * @default 600
                     */
                    seconds?: number | string;
                };
            };
        };
        responses: {
            /** @description Watched. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            chat: string;
                            /** Format: date-time */
                            until: string;
                        };
                    };
                };
            };
        };
    };
    readChat: {
        parameters: {
            path: {
                chat: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /**
                     * @description `false`: only the gateway notes it, and WhatsApp is told nothing
                     * @default true
                     */
                    receipts?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Read. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            chat: string;
                        };
                    };
                };
            };
        };
    };
    listScheduled: {
        parameters: {
            query?: {
                sender?: string;
                chat?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Scheduled messages. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Message"][];
                    };
                };
            };
        };
    };
    forwardMessage: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description The number; needed only where several have a message of this id */
                    sender?: string;
                    /** @description 1 to 10 destinations separated by `|`: digits, `…@g.us`, `…@newsletter`, `…@lid` */
                    number: string;
                    send_at?: components["schemas"]["SendAt"];
                    expires?: components["schemas"]["Expires"];
                    typing?: components["schemas"]["Typing"];
                    mentions?: components["schemas"]["Mentions"];
                    mention_all?: components["schemas"]["MentionAll"];
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
        };
    };
    reactToMessage: {
        parameters: {
            header?: {
                "Idempotency-Key"?: string;
            };
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description The number; needed only where several have a message of this id */
                    sender?: string;
                    /** @description One emoji; empty takes the reaction back */
                    emoji: string;
                    /** @description Names this send. A request with the same key within 24 hours repeats the first answer and sends nothing. */
                    idempotency_key?: string;
                };
            };
        };
        responses: {
            /** @description Message sent successfully! */
            200: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": components["schemas"]["ActionAnswer"];
                };
            };
        };
    };
    showTyping: {
        parameters: {
            path: {
                chat: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @enum {string} */
                    state: "typing" | "recording" | "paused";
                    /**
                     * @description 1 to 25; then it shows nothing again
                     * @default 5
                     */
                    seconds?: number | string;
                };
            };
        };
        responses: {
            /** @description Shown. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            chat: string;
                            /** @enum {string} */
                            state: "typing" | "recording" | "paused";
                        };
                    };
                };
            };
        };
    };
    takeChatOver: {
        parameters: {
            path: {
                chat: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description Default: TAKEOVER_MINUTES */
                    minutes?: number | string;
                };
            };
        };
        responses: {
            /** @description Bots pause in this chat. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            chat: string;
                            taken_over_until: string | null;
                        };
                    };
                };
            };
        };
    };
    handChatBack: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                chat: string;
            };
        };
        responses: {
            /** @description Bots go on in this chat. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            chat: string;
                            taken_over_until: string | null;
                        };
                    };
                };
            };
        };
    };
    groups: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @default false */
                    refresh?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Groups. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["Group"][];
                        /** Format: date-time */
                        cached_at: string;
                        stale: boolean;
                        refreshed?: boolean;
                    };
                };
            };
        };
    };
    groupDetails: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Group. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["GroupDetails"];
                    };
                };
            };
        };
    };
    changeGroup: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    name?: string;
                    description?: string;
                    picture_url?: components["schemas"]["PictureUrl"];
                    /** @description Only admins write */
                    announce?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Only admins change name, description and timer */
                    locked?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Admins decide who may join */
                    join_approval?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @description Seconds: 0, 86400, 604800 or 7776000 */
                    disappearing?: number | string;
                };
            };
        };
        responses: {
            /** @description Group changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["GroupDetails"];
                    };
                };
            };
        };
    };
    createGroup: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    name: string;
                    /** @default  */
                    description?: string;
                    participants: string[];
                    /**
                     * @description Who may not be added gets the invite link as a message
                     * @default false
                     */
                    invite?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Group created. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["GroupDetails"];
                        results: {
                            number: string;
                            added: boolean;
                            reason?: string;
                            /** @description Id of the message with the invite link */
                            invite?: string;
                        }[];
                    };
                };
            };
        };
    };
    changeMembers: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @enum {string} */
                    action: "add" | "remove" | "promote" | "demote";
                    numbers: string[];
                };
            };
        };
        responses: {
            /** @description Members changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        results: {
                            number: string;
                            status: boolean;
                            error?: string;
                        }[];
                    };
                };
            };
        };
    };
    groupInvite: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Invite link. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            invite: string;
                            link: string;
                        };
                    };
                };
            };
        };
    };
    renewInvite: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                };
            };
        };
        responses: {
            /** @description New invite link. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            invite: string;
                            link: string;
                        };
                    };
                };
            };
        };
    };
    joinGroup: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description An invite link, or its code */
                    invite: string;
                };
            };
        };
        responses: {
            /** @description Joined. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        id: string;
                        /** @enum {string} */
                        state: "joined" | "requested";
                    };
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        id: string;
                        /** @enum {string} */
                        state: "joined" | "requested";
                    };
                };
            };
        };
    };
    leaveGroup: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                };
            };
        };
        responses: {
            /** @description Left. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        id: string;
                    };
                };
            };
        };
    };
    joinRequests: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Requests. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            number: string | null;
                            lid: string | null;
                            /** Format: date-time */
                            at: string;
                        }[];
                    };
                };
            };
        };
    };
    decideRequests: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @enum {string} */
                    action: "approve" | "reject";
                    numbers: string[];
                };
            };
        };
        responses: {
            /** @description Requests answered. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        results: {
                            number: string;
                            status: boolean;
                            error?: string;
                        }[];
                    };
                };
            };
        };
    };
    resolveLid: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    lid: string;
                };
            };
        };
        responses: {
            /** @description Number found. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        lid: string;
                        number: string | null;
                        errors?: {
                            /** @constant */
                            code: "NUMBER_NOT_AVAILABLE";
                        };
                    };
                };
            };
        };
    };
    checkNumbers: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    /** @description 1 to 50 phone numbers, digits with the country code */
                    numbers: string[];
                };
            };
        };
        responses: {
            /** @description Numbers checked. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["NumberCheck"][];
                    };
                };
            };
        };
    };
    listContacts: {
        parameters: {
            query: {
                sender: string;
                q?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Contacts. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Contact"][];
                    };
                };
            };
        };
    };
    getContact: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                contact: string;
            };
        };
        responses: {
            /** @description Contact. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["ContactDetails"];
                    };
                };
            };
        };
    };
    blockContact: {
        parameters: {
            path: {
                contact: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                };
            };
        };
        responses: {
            /** @description Blocked. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            contact: string;
                            blocked: boolean;
                        };
                    };
                };
            };
        };
    };
    unblockContact: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                contact: string;
            };
        };
        responses: {
            /** @description No longer blocked. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            sender: string;
                            contact: string;
                            blocked: boolean;
                        };
                    };
                };
            };
        };
    };
    listChannels: {
        parameters: {
            query: {
                sender: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Channels. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Channel"][];
                    };
                };
            };
        };
    };
    addChannel: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    channel: string;
                };
            };
        };
        responses: {
            /** @description Channel registered. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Channel"];
                    };
                };
            };
        };
    };
    removeChannel: {
        parameters: {
            query: {
                sender: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Channel removed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    getMedia: {
        parameters: {
            path: {
                token: string;
            };
        };
        responses: {
            /** @description File. */
            200: {
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    generateQr: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    device: string;
                    /** @default false */
                    force?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /**
                     * @default qr
                     * @enum {string}
                     */
                    method?: "qr" | "code";
                };
            };
        };
        responses: {
            /** @description Processing */
            200: {
                content: {
                    "application/json": {
                        /** @constant */
                        status: false;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "processing";
                    } | {
                        /** @constant */
                        status: false;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "qr";
                        qrcode: string;
                        qr: string;
                        expires_in: number;
                    } | {
                        /** @constant */
                        status: false;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "code";
                        code: string;
                        expires_in: number;
                    } | {
                        /** @constant */
                        status: false;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "passkey";
                        device: string;
                        passkey: {
                            challenge: string;
                            rpId: string;
                            timeout: number;
                            allowCredentials: {
                                id: string;
                                type: string;
                                transports: string[];
                            }[];
                            userVerification: string;
                            extensions: {
                                [key: string]: unknown;
                            };
                        };
                        expires_in: number;
                    } | {
                        /** @constant */
                        status: false;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "action_required";
                        /** @enum {string} */
                        reason: "passkey" | "version";
                        device: string;
                    } | {
                        /** @constant */
                        status: true;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "connected";
                        device: string;
                    } | {
                        /** @constant */
                        status: true;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "connecting";
                        device: string;
                    };
                };
            };
        };
    };
    getProfile: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Profile. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Profile"];
                    };
                };
            };
        };
    };
    changeProfile: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    name?: string;
                    about?: string;
                    picture_url?: components["schemas"]["PictureUrl"];
                };
            };
        };
        responses: {
            /** @description Profile changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Profile"];
                    };
                };
            };
        };
    };
    listDevices: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Devices. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Device"][];
                    };
                };
            };
        };
    };
    createDevice: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    device: string;
                };
            };
        };
        responses: {
            /** @description Device registered. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Device"];
                    };
                };
            };
        };
    };
    getDevice: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Device. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Device"];
                    };
                };
            };
        };
    };
    deleteDevice: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Device deleted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    changeDevice: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @enum {string} */
                    calls?: "ignore" | "reject";
                    calls_text?: string;
                    proxy?: string | null;
                };
            };
        };
        responses: {
            /** @description Device changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Device"];
                    };
                };
            };
        };
    };
    logoutDevice: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Device logged out. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Device"];
                    };
                };
            };
        };
    };
    auditDevice: {
        parameters: {
            query?: {
                since?: string;
            };
            path: {
                number: string;
            };
        };
        responses: {
            /** @description 0 messages lost. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Audit"];
                    };
                };
            };
        };
    };
    whyDevice: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Explanation. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Why"];
                    };
                };
            };
        };
    };
    answerPasskey: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    assertion: {
                        id: string;
                        rawId: string;
                        /** @constant */
                        type: "public-key";
                        response: {
                            clientDataJSON: string;
                            authenticatorData: string;
                            signature: string;
                            userHandle?: string | null;
                        };
                    };
                };
            };
        };
        responses: {
            /** @description WhatsApp has received the passkey's answer. */
            200: {
                content: {
                    "application/json": {
                        /** @constant */
                        status: true;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "linking";
                    } | {
                        /** @constant */
                        status: true;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "confirm";
                        code: string;
                    };
                };
            };
        };
    };
    confirmPasskey: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Linking continues. */
            200: {
                content: {
                    "application/json": {
                        /** @constant */
                        status: true;
                        msg: string;
                        message: string;
                        /** @constant */
                        state: "linking";
                    };
                };
            };
        };
    };
    getWebhook: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Webhook. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Webhook"];
                    };
                };
            };
        };
    };
    putWebhook: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    url: string;
                    /**
                     * @default fallback
                     * @enum {string}
                     */
                    mode?: "fallback" | "always" | "off";
                    /**
                     * @default chat
                     * @enum {string}
                     */
                    reply_to?: "chat" | "sender";
                    /**
                     * @default [
                     *       "message",
                     *       "poll_vote"
                     *     ]
                     */
                    events?: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
                    /** @default {} */
                    headers?: {
                        [key: string]: string;
                    };
                    timeout_ms?: number | string;
                    /** @default 3600 */
                    reply_max_age?: number | string;
                    /** @default false */
                    read?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @default false */
                    typing?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                    /** @default true */
                    enabled?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Webhook saved. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Webhook"];
                        secret?: string;
                    };
                };
            };
        };
    };
    deleteWebhook: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Webhook deleted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    rotateWebhook: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Secret rotated. The new one is shown this once. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Webhook"];
                        secret: string;
                    };
                };
            };
        };
    };
    testWebhook: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Sample event posted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: {
                            status_code: number | null;
                            duration_ms: number;
                            answer: string | null;
                            understood: boolean;
                            error: string | null;
                            request: {
                                /** @constant */
                                method: "POST";
                                url: string;
                                headers: {
                                    [key: string]: string;
                                };
                                body: string;
                            };
                            replies: {
                                /** @enum {string} */
                                kind: "text" | "poll" | "media" | "location" | "contact";
                                text: string | null;
                                quoted: boolean;
                                options?: string[];
                                url?: string;
                            }[];
                            ignored: string[];
                            hold: number | null;
                        };
                    };
                };
            };
        };
    };
    listListeners: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Listeners. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["Listener"][];
                    };
                };
            };
        };
    };
    createListener: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    url: string;
                    /**
                     * @default [
                     *       "message",
                     *       "poll_vote"
                     *     ]
                     */
                    events?: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
                    chats?: string[] | null;
                    bots?: string[] | null;
                    /** @default {} */
                    headers?: {
                        [key: string]: string;
                    };
                    timeout_ms?: number | string;
                    /** @default true */
                    enabled?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Listener added. Its secret is shown this once. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Listener"];
                        secret: string;
                    };
                };
            };
        };
    };
    deleteListener: {
        parameters: {
            path: {
                number: string;
                id: string;
            };
        };
        responses: {
            /** @description Listener removed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    changeListener: {
        parameters: {
            path: {
                number: string;
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    url?: string;
                    events?: ("message" | "poll_vote" | "reaction" | "edit" | "revoke" | "own" | "channel" | "call" | "status" | "device" | "read" | "group" | "presence" | "contact")[];
                    chats?: string[] | null;
                    bots?: string[] | null;
                    headers?: {
                        [key: string]: string;
                    };
                    timeout_ms?: number | string;
                    enabled?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Listener changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Listener"];
                    };
                };
            };
        };
    };
    rotateListener: {
        parameters: {
            path: {
                number: string;
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Secret rotated. The new one is shown this once. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Listener"];
                        secret: string;
                    };
                };
            };
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                device?: string;
                state?: "pending" | "delivered" | "retrying" | "dead" | "disabled";
                message_id?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Deliveries. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Delivery"][];
                    };
                };
            };
        };
    };
    getDelivery: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Delivery. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Delivery"];
                    };
                };
            };
        };
    };
    replayDelivery: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Delivery"];
                    };
                };
            };
        };
    };
    replayDeliveries: {
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    device?: string;
                    /** @enum {string} */
                    state?: "pending" | "delivered" | "retrying" | "dead" | "disabled";
                    /** Format: date-time */
                    since?: string;
                    /** Format: date-time */
                    until?: string;
                    ids?: string[];
                };
            };
        };
        responses: {
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        replayed: number;
                    };
                };
            };
        };
    };
    listBots: {
        responses: {
            /** @description Bots. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["Bot"][];
                    };
                };
            };
        };
    };
    getDeviceBots: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Bots of the device. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["BoundBot"][];
                    };
                };
            };
        };
    };
    putDeviceBots: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    bots: {
                        id: string;
                        enabled: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                        priority?: (number | string) | null;
                        config?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Bots of the device saved. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["BoundBot"][];
                    };
                };
            };
        };
    };
    patchDeviceBots: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    bots: {
                        id: string;
                        enabled?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                        priority?: (number | string) | null;
                        config?: {
                            [key: string]: unknown;
                        } | null;
                    }[];
                };
            };
        };
        responses: {
            /** @description Bots of the device saved. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["BoundBot"][];
                    };
                };
            };
        };
    };
    forkConversation: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @description A number of this account, digits with the country code */
                    sender: string;
                    chat: string;
                    message?: string;
                    /** @default 100 */
                    last?: number | string;
                    /** @default [] */
                    says?: (string | {
                        vote: string[];
                    } | {
                        after: string;
                    })[];
                    bots?: string[];
                };
            };
        };
        responses: {
            /** @description Told again. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Fork"];
                    };
                };
            };
        };
    };
    listBotRoutes: {
        responses: {
            /** @description Routes. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["BotRoutes"];
                    };
                };
            };
        };
    };
    listDeviceRoutes: {
        parameters: {
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Routes of the device. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["BotRoutes"];
                    };
                };
            };
        };
    };
    listDialogues: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Dialogues. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["OpenDialogue"][];
                    };
                };
            };
        };
    };
    listDecisions: {
        parameters: {
            query?: {
                message?: string;
                chat?: string;
                limit?: number | string;
                before?: string;
            };
            path: {
                number: string;
            };
        };
        responses: {
            /** @description Decisions. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Decision"][];
                    };
                };
            };
        };
    };
    events: {
        responses: {
            /** @description Events. */
            200: {
                content: {
                    "text/event-stream": components["schemas"]["StreamEvent"];
                };
            };
        };
    };
    mcp: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @constant */
                    jsonrpc: "2.0";
                    /** @description A message without one is a notification */
                    id?: (number | string) | string;
                    /** @description `initialize`, `tools/list`, `tools/call`, `resources/read`, … */
                    method: string;
                    params?: {
                        [key: string]: unknown;
                    };
                };
            };
        };
        responses: {
            /** @description The answer; a notification gets 202 and none. */
            200: {
                content: {
                    "application/json": {
                        /** @constant */
                        jsonrpc?: "2.0";
                        id?: number | string;
                        result?: {
                            [key: string]: unknown;
                        };
                        error?: {
                            code: number;
                            message: string;
                            data?: unknown;
                        };
                    };
                };
            };
            /** @description Accepted; the gateway continues on its own. */
            202: {
                content: {
                    "application/json": {
                        /** @constant */
                        jsonrpc?: "2.0";
                        id?: number | string;
                        result?: {
                            [key: string]: unknown;
                        };
                        error?: {
                            code: number;
                            message: string;
                            data?: unknown;
                        };
                    };
                };
            };
        };
    };
    getOwnAccount: {
        responses: {
            /** @description Account. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["OwnAccount"];
                    };
                };
            };
        };
    };
    listKeys: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description API keys. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: (components["schemas"]["Key"] | components["schemas"]["StrongerKey"])[];
                    };
                };
            };
        };
    };
    createKey: {
        requestBody: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    name: string;
                    permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
                    devices?: string[];
                    recipients?: string[];
                    /** Format: date-time */
                    expires_at?: string;
                };
            };
        };
        responses: {
            /** @description API key created. It is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Key"];
                        api_key: string;
                    };
                };
            };
        };
    };
    deleteKey: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description API key deleted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    rotateKey: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                };
            };
        };
        responses: {
            /** @description API key rotated. The new key is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Key"];
                        api_key: string;
                    };
                };
            };
        };
    };
    getCurrentSession: {
        responses: {
            /** @description Signed in. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Session"];
                        /** @description Send it as `X-CSRF-Token` with every request that changes something */
                        csrf: string;
                        /** Format: date-time */
                        expires_at: string;
                        permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
                        account: {
                            id: string;
                            name: string;
                        } | null;
                    };
                };
            };
        };
    };
    createSession: {
        requestBody?: {
            content: {
                "application/json": {
                    key?: string;
                    token?: string;
                    link?: string;
                };
            };
        };
        responses: {
            /** @description Signed in. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Session"];
                        /** @description Send it as `X-CSRF-Token` with every request that changes something */
                        csrf: string;
                        /** Format: date-time */
                        expires_at: string;
                        permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
                        account: {
                            id: string;
                            name: string;
                        } | null;
                    };
                };
            };
        };
    };
    deleteCurrentSession: {
        responses: {
            /** @description Signed out. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    listSessions: {
        responses: {
            /** @description Sessions. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["ListedSession"][];
                    };
                };
            };
        };
    };
    deleteSession: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Session ended. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    chooseAccount: {
        requestBody?: {
            content: {
                "application/json": {
                    account?: string | null;
                };
            };
        };
        responses: {
            /** @description Account chosen. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Session"];
                        /** @description Send it as `X-CSRF-Token` with every request that changes something */
                        csrf: string;
                        /** Format: date-time */
                        expires_at: string;
                        permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
                        account: {
                            id: string;
                            name: string;
                        } | null;
                    };
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Changes. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Change"][];
                    };
                };
            };
        };
    };
    listAllChanges: {
        parameters: {
            query?: {
                account?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Changes. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Change"][];
                    };
                };
            };
        };
    };
    createLink: {
        parameters: {
            path: {
                number: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description The API key, unless it is sent as Authorization: Bearer. */
                    api_key?: string;
                    /** @default 60 */
                    minutes?: number | string;
                };
            };
        };
        responses: {
            /** @description Link created. It is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["MadeLink"];
                        id: string;
                        /** @description The address that the customer opens; shown only now */
                        url: string;
                        /** Format: date-time */
                        expires_at: string;
                    };
                };
            };
        };
    };
    listLinks: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Links. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Link"][];
                    };
                };
            };
        };
    };
    deleteLink: {
        parameters: {
            path: {
                number: string;
                id: string;
            };
        };
        responses: {
            /** @description Link withdrawn. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    listAccountLinks: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Links. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Link"][];
                    };
                };
            };
        };
    };
    createAccountLink: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @default 60 */
                    minutes?: number | string;
                    /** @description A number of this account, digits with the country code */
                    device: string;
                };
            };
        };
        responses: {
            /** @description Link created. It is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["MadeLink"];
                        id: string;
                        /** @description The address that the customer opens; shown only now */
                        url: string;
                        /** Format: date-time */
                        expires_at: string;
                    };
                };
            };
        };
    };
    deleteAccountLink: {
        parameters: {
            path: {
                id: string;
                linkId: string;
            };
        };
        responses: {
            /** @description Link withdrawn. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Accounts. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Account"][];
                    };
                };
            };
        };
    };
    createAccount: {
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * @default basic
                     * @enum {string}
                     */
                    plan?: "basic" | "pro";
                };
            };
        };
        responses: {
            /** @description Account created. The key is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        account: components["schemas"]["Account"];
                        api_key: string;
                    };
                };
            };
        };
    };
    getAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Account. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    deleteAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Account deleted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    changeAccount: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody?: {
            content: {
                "application/json": {
                    name?: string;
                    /** @enum {string} */
                    plan?: "basic" | "pro";
                    enabled?: boolean | ("1" | "0" | "true" | "false" | "on" | "off" | "yes" | "no") | (0 | 1);
                };
            };
        };
        responses: {
            /** @description Account changed. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Account"];
                    };
                };
            };
        };
    };
    listAccountKeys: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description API keys. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Key"][];
                    };
                };
            };
        };
    };
    createAccountKey: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    name: string;
                    permissions: ("messages" | "media" | "polls" | "lid" | "groups" | "groups_admin" | "qr" | "devices" | "webhooks" | "channels" | "keys" | "bots" | "*")[];
                    devices?: string[];
                    recipients?: string[];
                    /** Format: date-time */
                    expires_at?: string;
                };
            };
        };
        responses: {
            /** @description API key created. It is shown only now. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Key"];
                        api_key: string;
                    };
                };
            };
        };
    };
    deleteAccountKey: {
        parameters: {
            path: {
                id: string;
                keyId: string;
            };
        };
        responses: {
            /** @description API key deleted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    listAccountDevices: {
        parameters: {
            query?: {
                limit?: number | string;
                before?: string;
            };
            path: {
                id: string;
            };
        };
        responses: {
            /** @description Devices. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["Device"][];
                    };
                };
            };
        };
    };
    createAccountDevice: {
        parameters: {
            path: {
                id: string;
            };
        };
        requestBody: {
            content: {
                "application/json": {
                    /** @description A number of this account, digits with the country code */
                    device: string;
                };
            };
        };
        responses: {
            /** @description Device registered. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Device"];
                    };
                };
            };
        };
    };
    exportContact: {
        parameters: {
            path: {
                id: string;
                number: string;
                contact: string;
            };
        };
        responses: {
            /** @description Contact. */
            200: {
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    eraseContact: {
        parameters: {
            path: {
                id: string;
                number: string;
                contact: string;
            };
        };
        responses: {
            /** @description Contact erased. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["ContactErased"];
                    };
                };
            };
        };
    };
    createBackup: {
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Backup. */
            200: {
                content: {
                    "application/x-tar": string;
                };
            };
        };
    };
    listAlerts: {
        responses: {
            /** @description Alerts. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["Alerts"];
                    };
                };
            };
        };
    };
    testAlerts: {
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description A sample was posted. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["AlertTest"];
                    };
                };
            };
        };
    };
    listNodes: {
        responses: {
            /** @description Nodes. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["Node"][];
                    };
                };
            };
        };
    };
    getGatewayHealth: {
        responses: {
            /** @description Health. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        data: components["schemas"]["GatewayHealth"];
                    };
                };
            };
        };
    };
    listAllDevices: {
        parameters: {
            query?: {
                q?: string;
                state?: "unlinked" | "linking" | "connecting" | "connected" | "logged_out" | "blocked" | "replaced" | "action_required";
                account?: string;
                limit?: number | string;
                before?: string;
            };
        };
        responses: {
            /** @description Devices. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number | null;
                        next: string | null;
                        data: components["schemas"]["OwnedDevice"][];
                    };
                };
            };
        };
    };
    reloadBots: {
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            /** @description Bots loaded again. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        total: number;
                        data: components["schemas"]["Bot"][];
                    };
                };
            };
        };
    };
    getStats: {
        parameters: {
            query?: {
                hours?: number | string;
                sender?: string;
            };
        };
        responses: {
            /** @description Statistics. */
            200: {
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
        };
    };
    getAllStats: {
        parameters: {
            query?: {
                hours?: number | string;
            };
        };
        responses: {
            /** @description Statistics. */
            200: {
                content: {
                    "application/json": components["schemas"]["Stats"];
                };
            };
        };
    };
    live: {
        responses: {
            /** @description Alive. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                    };
                };
            };
        };
    };
    ready: {
        responses: {
            /** @description Ready. */
            200: {
                content: {
                    "application/json": {
                        status: boolean;
                        msg: string;
                        message: string;
                        checks: {
                            database: boolean;
                            disk: boolean;
                            draining: boolean;
                        };
                        longest_stall_ms: number;
                        errors?: {
                            /** @enum {string} */
                            code: "INVALID_JSON" | "INVALID_PARAMETERS" | "INVALID_API_KEY" | "INVALID_ADMIN_TOKEN" | "SESSION_EXPIRED" | "LINK_EXPIRED" | "PERMISSION_DENIED" | "CSRF_TOKEN_INVALID" | "ACCOUNT_DISABLED" | "PLAN_LIMIT" | "RECIPIENT_NOT_ALLOWED" | "CANNOT_SEND" | "SENDER_NOT_FOUND" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "REQUEST_TIMEOUT" | "SENDER_NOT_CONNECTED" | "WRONG_NUMBER" | "IDEMPOTENCY_IN_PROGRESS" | "NO_PASSKEY_REQUEST" | "TOO_LATE" | "NOT_EDITABLE" | "BODY_TOO_LARGE" | "FILE_TOO_LARGE" | "UNSUPPORTED_CONTENT_TYPE" | "FILE_UNREACHABLE" | "FILE_NOT_USABLE" | "URL_NOT_ALLOWED" | "NOT_ON_WHATSAPP" | "TIME_NOT_USABLE" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "QUOTA_EXCEEDED" | "HEADERS_TOO_LARGE" | "INTERNAL_ERROR" | "WHATSAPP_REFUSED" | "REACHOUT_LOCKED" | "UNAVAILABLE" | "CONVERTER_MISSING" | "EXPIRED";
                        };
                    };
                };
            };
        };
    };
    metrics: {
        responses: {
            /** @description Metrics. */
            200: {
                content: {
                    "text/plain": string;
                };
            };
        };
    };
    openApi: {
        responses: {
            /** @description OpenAPI 3.1. */
            200: {
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    docs: {
        responses: {
            /** @description A page. */
            200: {
                content: {
                    "text/html": string;
                };
            };
        };
    };
    receiveEvent: {
        parameters: {
            header: {
                /** @description The same on every attempt */
                "webhook-id": string;
                /** @description Unix seconds of this attempt */
                "webhook-timestamp": string;
                /** @description `v1,…`, one for each secret that is in use */
                "webhook-signature": string;
            };
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Event"];
            };
        };
        responses: {
            /** @description Accepted; its content is the reply. */
            200: {
                content: {
                    /**
                     * @example {
                     *       "message": "We close at six.",
                     *       "quoted": true
                     *     }
                     */
                    "application/json": components["schemas"]["Reply"];
                };
            };
            /** @description The endpoint is gone: the webhook is disabled. */
            410: {
                content: {
                    "application/json": unknown;
                };
            };
        };
    };
}
