CREATE TABLE `listeners` (
	`id` text PRIMARY KEY NOT NULL,
	`device_id` integer NOT NULL,
	`url` blob NOT NULL,
	`events` text NOT NULL,
	`chats` blob,
	`bots` text,
	`headers` blob NOT NULL,
	`timeout_ms` integer NOT NULL,
	`enabled` integer NOT NULL,
	`secret` blob NOT NULL,
	`old_secret` blob,
	`old_secret_until` integer,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`paused_until` integer,
	`disabled_reason` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `listeners_device` ON `listeners` (`device_id`,`created_at`);--> statement-breakpoint
DROP INDEX `deliveries_waiting`;--> statement-breakpoint
DROP INDEX `deliveries_waiting_chat`;--> statement-breakpoint
ALTER TABLE `deliveries` ADD `listener` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`device_id`,`listener`,`next_at`,`chat`,`attempts`) WHERE state in ('pending','retrying');--> statement-breakpoint
CREATE INDEX `deliveries_waiting_chat` ON `deliveries` (`device_id`,`listener`,`chat`,`created_at`) WHERE state in ('pending','retrying');