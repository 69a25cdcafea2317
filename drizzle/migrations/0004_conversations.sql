CREATE TABLE `bot_dialogues` (
	`device_id` integer NOT NULL,
	`scope` text NOT NULL,
	`bot_id` text NOT NULL,
	`dialogue` text NOT NULL,
	`state` blob NOT NULL,
	`expires_at` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `scope`)
);
--> statement-breakpoint
CREATE TABLE `bot_sessions` (
	`device_id` integer NOT NULL,
	`bot_id` text NOT NULL,
	`scope` text NOT NULL,
	`version` integer NOT NULL,
	`value` blob,
	`locale` text,
	`expires_at` integer,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`device_id`, `bot_id`, `scope`)
);
--> statement-breakpoint
CREATE INDEX `bot_sessions_expiry` ON `bot_sessions` (`expires_at`) WHERE expires_at is not null;--> statement-breakpoint
CREATE TABLE `bot_steps` (
	`inbox_id` integer NOT NULL,
	`device_id` integer NOT NULL,
	`bot_id` text NOT NULL,
	`key` text NOT NULL,
	`value` blob NOT NULL,
	PRIMARY KEY(`inbox_id`, `bot_id`, `key`)
);
--> statement-breakpoint
CREATE TABLE `bot_timers` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`device_id` integer NOT NULL,
	`bot_id` text NOT NULL,
	`scope` text NOT NULL,
	`key` text NOT NULL,
	`body` blob NOT NULL,
	`due_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `bot_timers_key` ON `bot_timers` (`device_id`,`bot_id`,`scope`,`key`);--> statement-breakpoint
CREATE INDEX `bot_timers_due` ON `bot_timers` (`due_at`);