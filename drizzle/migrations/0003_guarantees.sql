CREATE TABLE `connections` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`opened_at` integer NOT NULL,
	`closed_at` integer,
	`code` integer,
	`announced` integer,
	`arrived` integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE INDEX `connections_device` ON `connections` (`device_id`,`opened_at`);--> statement-breakpoint
CREATE TABLE `missing_messages` (
	`device_id` integer NOT NULL,
	`chat` text NOT NULL,
	`sender` text NOT NULL,
	`wa_id` text NOT NULL,
	`from_me` integer DEFAULT false NOT NULL,
	`jid` text NOT NULL,
	`participant` text,
	`timestamp` integer NOT NULL,
	`reason` text NOT NULL,
	`noticed_at` integer NOT NULL,
	`resolved_at` integer,
	PRIMARY KEY(`device_id`, `chat`, `sender`, `wa_id`)
);
--> statement-breakpoint
CREATE TABLE `send_brakes` (
	`device_id` integer PRIMARY KEY NOT NULL,
	`until` integer NOT NULL,
	`times` integer NOT NULL
);
--> statement-breakpoint
DROP INDEX `deliveries_due`;--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`next_at`,`device_id`,`chat`) WHERE state in ('pending','retrying');--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failures` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `failing_since` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `paused_until` integer;--> statement-breakpoint
ALTER TABLE `webhooks` ADD `disabled_reason` text;