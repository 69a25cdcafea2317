CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`plan` text NOT NULL,
	`enabled` integer DEFAULT true NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`permissions` text NOT NULL,
	`devices` text,
	`recipients` text,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	`last_used_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash_unique` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`);--> statement-breakpoint
CREATE TABLE `bot_bindings` (
	`device_id` integer NOT NULL,
	`bot_id` text NOT NULL,
	`enabled` integer NOT NULL,
	`priority` integer,
	`config` text,
	PRIMARY KEY(`device_id`, `bot_id`)
);
--> statement-breakpoint
CREATE TABLE `chat_state` (
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`takeover_until` integer,
	`muted_until` integer,
	`last_incoming_at` integer,
	`held_until` integer,
	PRIMARY KEY(`device_id`, `chat`)
);
--> statement-breakpoint
CREATE TABLE `decisions` (
	`inbox_id` integer PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`wa_id` text NOT NULL,
	`by` text,
	`route` text,
	`guard` text,
	`trail` text NOT NULL,
	`at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `decisions_device` ON `decisions` (`device_id`,`at`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`inbox_id` integer,
	`message_id` text NOT NULL,
	`chat` text NOT NULL,
	`type` text NOT NULL,
	`url` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_at` integer,
	`body` blob NOT NULL,
	`reply` text,
	`may_reply` integer NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`next_at`) WHERE state in ('pending','retrying');--> statement-breakpoint
CREATE INDEX `deliveries_device` ON `deliveries` (`device_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`attempt` integer NOT NULL,
	`at` integer NOT NULL,
	`status_code` integer,
	`duration_ms` integer NOT NULL,
	`error` text,
	`answer` blob,
	PRIMARY KEY(`delivery_id`, `attempt`)
);
--> statement-breakpoint
CREATE TABLE `devices` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`account_id` text NOT NULL,
	`number` text NOT NULL,
	`state` text DEFAULT 'unlinked' NOT NULL,
	`since` integer NOT NULL,
	`lid` text,
	`name` text,
	`platform` text,
	`last_in` integer,
	`last_out` integer,
	`last_close` text,
	`wrong_number` text,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `devices_account_number` ON `devices` (`account_id`,`number`);--> statement-breakpoint
CREATE TABLE `group_lists` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`value` blob NOT NULL,
	`fetched_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `inbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`sender` text NOT NULL,
	`wa_id` text NOT NULL,
	`from_me` integer NOT NULL,
	`type` text NOT NULL,
	`state` text DEFAULT 'pending' NOT NULL,
	`timestamp` integer NOT NULL,
	`received_at` integer NOT NULL,
	`body` blob NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `inbox_message` ON `inbox` (`device_id`,`chat`,`sender`,`wa_id`);--> statement-breakpoint
CREATE INDEX `inbox_pending` ON `inbox` (`id`) WHERE state = 'pending';--> statement-breakpoint
CREATE TABLE `journal` (
	`device_id` integer NOT NULL,
	`hash` text NOT NULL,
	`stanza_id` text NOT NULL,
	`content` blob,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `hash`)
);
--> statement-breakpoint
CREATE INDEX `journal_stanza` ON `journal` (`device_id`,`stanza_id`);--> statement-breakpoint
CREATE TABLE `lid_map` (
	`device_id` integer NOT NULL,
	`lid_user` text NOT NULL,
	`pn_user` text NOT NULL,
	`seen_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `lid_user`)
);
--> statement-breakpoint
CREATE INDEX `lid_map_pn` ON `lid_map` (`device_id`,`pn_user`);--> statement-breakpoint
CREATE TABLE `meta` (
	`key` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `outbox` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`wa_id` text NOT NULL,
	`chat` text NOT NULL,
	`jid` text NOT NULL,
	`number` text NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`is_reply` integer NOT NULL,
	`inbox_id` integer,
	`ordinal` integer DEFAULT 0 NOT NULL,
	`state` text DEFAULT 'queued' NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`error` text,
	`body` blob NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `outbox_wa_id` ON `outbox` (`device_id`,`wa_id`);--> statement-breakpoint
CREATE INDEX `outbox_waiting` ON `outbox` (`device_id`,`id`) WHERE state = 'queued';--> statement-breakpoint
CREATE INDEX `outbox_sends` ON `outbox` (`device_id`,`created_at`) WHERE origin = 'api';--> statement-breakpoint
CREATE INDEX `outbox_unasked` ON `outbox` (`device_id`,`chat`) WHERE is_reply = 0;--> statement-breakpoint
CREATE TABLE `outbox_history` (
	`outbox_id` integer NOT NULL,
	`state` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`outbox_id`, `state`)
);
--> statement-breakpoint
CREATE TABLE `reachout_locks` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`until` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `wa_creds` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`value` blob NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `wa_keys` (
	`device_id` integer NOT NULL,
	`type` text NOT NULL,
	`id` text NOT NULL,
	`value` blob NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `type`, `id`)
);
--> statement-breakpoint
CREATE TABLE `webhooks` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`url` text NOT NULL,
	`mode` text NOT NULL,
	`reply_to` text NOT NULL,
	`events` text NOT NULL,
	`headers` blob NOT NULL,
	`timeout_ms` integer NOT NULL,
	`reply_max_age` integer NOT NULL,
	`read` integer NOT NULL,
	`typing` integer NOT NULL,
	`enabled` integer NOT NULL,
	`secret` blob NOT NULL,
	`old_secret` blob,
	`old_secret_until` integer,
	`updated_at` integer NOT NULL
);
